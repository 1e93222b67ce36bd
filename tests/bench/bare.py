"""The yardstick of the API benchmark: an aiohttp application on uvloop that answers a constant 200.

`python tests/bench/bare.py` prints its address as one JSON line and serves until its standard input closes.
"""

import asyncio
import json
import sys

import uvloop
from aiohttp import web

BODY = json.dumps({"message": "hello", "status": True, "data": {}}).encode()


async def answer(_: web.Request) -> web.Response:
    return web.Response(body=BODY, content_type="application/json")


async def main() -> None:
    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    sys.stdout.write(json.dumps({"api": f"http://{host}:{port}"}) + "\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    uvloop.run(main())
