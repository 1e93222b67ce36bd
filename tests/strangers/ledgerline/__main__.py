"""Run the service: a webhook delivery service in the style of FastAPI, of one process in memory.

    python -m tests.strangers.ledgerline --project main=KEY --project side=KEY [--ca ca.pem]

It prints {"api": URL} when it is ready, and ends with its standard input. It was written from the
API document alone, and has nothing of Hookproof in it. The variable BUGS names bugs to switch on;
COST_MS is how many milliseconds of processor time each request and each attempt takes beside the
work itself (2 by default).
"""

import argparse
import asyncio
import json
import os
import socket
import sys
import threading

from aiohttp import web

from tests.strangers.ledgerline.service import Service


async def serve(keys: dict[str, str], ca: str | None) -> None:
    runner = web.AppRunner(Service(keys, ca).application(), access_log=None)
    await runner.setup()
    listener = socket.create_server(("127.0.0.1", 0))
    await web.SockSite(runner, listener).start()
    ready = {"api": f"http://127.0.0.1:{listener.getsockname()[1]}"}
    sys.stdout.write(f"{json.dumps(ready)}\n")
    sys.stdout.flush()
    threading.Thread(target=end_with_input, daemon=True).start()
    await asyncio.Event().wait()


def end_with_input() -> None:
    """End at once, however many deliveries are under way: nothing outlives the process."""
    sys.stdin.read()
    os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--project", action="append", required=True, help="NAME=KEY")
    parser.add_argument("--ca", help="PEM file of the authority that deliveries trust")
    options = parser.parse_args()
    keys = dict(project.split("=", 1) for project in options.project)
    asyncio.run(serve(keys, options.ca))


if __name__ == "__main__":
    main()
