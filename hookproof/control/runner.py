"""Runs a control listener that clients cannot hold open with half a request.

A connection without a complete request head is closed after a while, however slowly it sends one;
a request whose body does not come is refused. Handlers read bodies that have arrived.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, Final

from aiohttp import HttpVersion10, HttpVersion11, web

# Longer than the clients of control listeners keep an idle connection.
IDLE_S: Final = 60.0
# How long the body of a request may take to arrive.
BODY_WITHIN_S: Final = 60.0
# What is spoken; aiohttp would answer any other version as if it were HTTP/1.1.
VERSIONS: Final = frozenset({HttpVersion10, HttpVersion11})
# How often connections are looked at, as a part of the time that they have.
_LOOKS: Final = 10


class ControlRunner(web.AppRunner):
    """As its base class; closes connections that had no request for `idle_s` seconds, and answers
    408 to a body that does not arrive within `body_within_s`.
    """

    def __init__(
        self,
        app: web.Application,
        *,
        idle_s: float = IDLE_S,
        body_within_s: float = BODY_WITHIN_S,
        **options: Any,
    ) -> None:
        app.middlewares.insert(0, self._note_request)
        app.middlewares.append(self._read_body)  # the innermost, so that others render its refusal
        self._body_within_s = body_within_s
        super().__init__(app, access_log=None, **options)
        self._idle_s = idle_s
        # Since when there is no request; of open connections, and of some that have just closed.
        self._idle_since: dict[object, float] = {}
        self._answering: Counter[object] = Counter()
        self._sweeper: asyncio.Task[None] | None = None

    async def setup(self) -> None:
        await super().setup()
        self._sweeper = asyncio.get_running_loop().create_task(self._sweep())

    async def cleanup(self) -> None:
        if self._sweeper is not None:
            self._sweeper.cancel()
        await super().cleanup()

    @web.middleware
    async def _note_request(
        self,
        request: web.Request,
        handler: Callable[[web.Request], Awaitable[web.StreamResponse]],
    ) -> web.StreamResponse:
        if request.version not in VERSIONS:  # RFC 9110, section 15.6.6
            refusal = web.HTTPVersionNotSupported(text="only HTTP/1.1 and HTTP/1.0 are spoken here")
            refusal.force_close()
            raise refusal
        connection = request.protocol
        self._answering[connection] += 1
        try:
            return await handler(request)
        finally:
            self._answering[connection] -= 1
            self._idle_since[connection] = asyncio.get_running_loop().time()

    @web.middleware
    async def _read_body(
        self,
        request: web.Request,
        handler: Callable[[web.Request], Awaitable[web.StreamResponse]],
    ) -> web.StreamResponse:
        try:
            async with asyncio.timeout(self._body_within_s):
                await request.read()
        except TimeoutError:
            words = f"the body did not arrive within {self._body_within_s:g} s"
            raise web.HTTPRequestTimeout(text=words) from None
        return await handler(request)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(self._idle_s / _LOOKS)  # the pace of the looks
            self._answering = +self._answering  # without those that have been answered
            now = asyncio.get_running_loop().time()
            server = self.server
            assert isinstance(server, web.Server)
            self._idle_since = {
                connection: self._idle_since.get(connection, now)
                for connection in server.connections
            }
            for connection in server.connections:
                late = self._idle_since[connection] < now - self._idle_s
                if late and connection not in self._answering:
                    connection.force_close()
