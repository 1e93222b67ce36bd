"""A consumer of webhooks in a thread of the test, beside a command that has a loop of its own."""

import asyncio
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from aiohttp import web

DEADLINE_S: Final = 60
MOST_BYTES: Final = 2**27

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedRequest:
    headers: tuple[tuple[str, str], ...]
    body: bytes
    target: str

    def header(self, name: str) -> str | None:
        return next((value for each, value in self.headers if each.lower() == name.lower()), None)


@dataclass(slots=True)
class Recorder:
    """Answers all with the same status, and keeps what has come whole."""

    status: int = 200
    requests: list[ReceivedRequest] = field(default_factory=list)

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        headers = tuple((name.decode(), value.decode()) for name, value in request.raw_headers)
        self.requests.append(ReceivedRequest(headers=headers, body=body, target=request.raw_path))
        return web.Response(status=self.status, headers={"Location": "/elsewhere"})


@contextmanager
def serving(handler: Handler, context: ssl.SSLContext | None = None) -> Iterator[str]:
    """Serve a consumer at a free port until the block ends; its base URL."""
    started: Future[tuple[int, asyncio.AbstractEventLoop]] = Future()
    ended = asyncio.Event()

    async def run() -> None:
        # Bodies come as they were sent, since that is what is signed.
        server = web.Server(handler, auto_decompress=False, access_log=None)
        runner = web.ServerRunner(server)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
        await site.start()
        started.set_result((runner.addresses[0][1], asyncio.get_running_loop()))
        await ended.wait()
        await runner.cleanup()

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    port, loop = started.result(DEADLINE_S)
    try:
        yield f"http{'s' if context else ''}://127.0.0.1:{port}"
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(DEADLINE_S)
