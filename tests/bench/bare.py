"""The baseline of the benchmarks: an aiohttp application on uvloop that answers a constant 200.

A GET of `/` is answered with a small JSON body; a POST is read to its end and answered without a
body. `python tests/bench/bare.py` prints its address as one JSON line and serves until its standard
input closes. With `--ca-dir DIR` it serves TLS with a certificate of the authority in that folder.
"""

import argparse
import asyncio
import json
import sys
from pathlib import Path
from ssl import SSLContext

import uvloop
from aiohttp import web

BODY = json.dumps({"message": "hello", "status": True, "data": {}}).encode()


async def answer_get(_: web.Request) -> web.Response:
    return web.Response(body=BODY, content_type="application/json")


async def answer_post(request: web.Request) -> web.Response:
    await request.read()
    return web.Response()


async def main(context: SSLContext | None) -> None:
    app = web.Application()
    app.router.add_get("/", answer_get)
    app.router.add_post("/", answer_post)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    host, port = runner.addresses[0][:2]
    sys.stdout.write(json.dumps({"api": f"http{'s' if context else ''}://{host}:{port}"}) + "\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()


def tls_context(folder: Path | None) -> SSLContext | None:
    if folder is None:
        return None
    from hookproof.receiver.http.authority import Authority

    return Authority(folder).server_context("localhost", "127.0.0.1")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    parser = argparse.ArgumentParser()
    parser.add_argument("--ca-dir", type=Path)
    uvloop.run(main(tls_context(parser.parse_args().ca_dir)))
