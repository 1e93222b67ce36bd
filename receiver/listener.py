"""What is done with each request: it is kept, raw, and then answered as its token's script says."""

import asyncio
import logging
from http import HTTPStatus
from typing import Final, NoReturn

from aiohttp import HttpVersion11, web
from multidict import CIMultiDict

from receiver.clock import Clock
from receiver.connection import MOST_BODY_BYTES, Connection, Request, Server, refusal
from receiver.delivery import ReceivedDelivery
from receiver.inbox import Inbox
from receiver.script import DEFAULT_REPLY, Reply, Scripts

LOG: Final = logging.getLogger(__name__)
VISITS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""By these a service may try a URL before it delivers there; a script is for deliveries."""


class Listener:
    """Handles the requests of one server, whether it speaks TLS or not."""

    def __init__(self, *, inbox: Inbox, scripts: Scripts, clock: Clock, body_within_s: float) -> None:
        self._inbox = inbox
        self._scripts = scripts
        self._clock = clock
        self._body_within_s = body_within_s
        self._in_flight: set[Connection] = set()

    def server(self) -> web.Server:
        """The protocol factory to listen with; call it within the event loop."""
        return Server(self._handle, self._clock)

    def abort(self) -> None:
        """Cut every connection that still waits for its answer."""
        for connection in tuple(self._in_flight):
            connection.abort()

    async def _handle(self, request: Request) -> web.StreamResponse:
        self._in_flight.add(request.connection)
        try:
            return await self._receive(request)
        finally:
            self._in_flight.discard(request.connection)

    async def _receive(self, request: Request) -> web.StreamResponse:
        try:
            async with asyncio.timeout(self._body_within_s):
                body = await request.whole_body()
        except web.HTTPRequestEntityTooLarge:
            self._inbox.drop(request.token)
            return refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body may have {MOST_BODY_BYTES} bytes")
        except (TimeoutError, web.RequestPayloadError):
            # aiohttp's parser may stop at a chunk that it can't read without telling, so time tells.
            self._inbox.drop(request.token)
            return refusal(HTTPStatus.BAD_REQUEST, f"the body did not come whole within {self._body_within_s:g} s")
        except (ConnectionError, asyncio.CancelledError):
            LOG.warning("a request to %r ended before its body did", request.token)
            raise
        delivery = self._inbox.record(request.token, lambda sequence: request.delivery(sequence=sequence, body=body))
        reply = DEFAULT_REPLY if request.method in VISITS else self._scripts.next_reply(request.token)
        return await self._answer(request, delivery, reply)

    async def _answer(self, request: Request, delivery: ReceivedDelivery, reply: Reply) -> web.StreamResponse:
        try:
            response = await _give(reply, request)
        except (ConnectionError, asyncio.CancelledError):
            self._inbox.close(delivery, at=self._clock.monotonic())
            raise
        self._inbox.complete(delivery, status=reply.status, at=self._clock.monotonic())
        return response


async def _give(reply: Reply, request: Request) -> web.StreamResponse:
    """Send the reply whole; a sender that leaves first cancels this."""
    if reply.delay_s:
        await asyncio.sleep(reply.delay_s)
    if reply.hang:
        await asyncio.Event().wait()
    if reply.drip_s:
        await _drip(reply, request)
    response = web.Response(status=reply.status, headers=CIMultiDict(reply.headers), body=reply.body.encode())
    await response.prepare(request)
    await response.write_eof()
    return response


async def _drip(reply: Reply, request: Request) -> NoReturn:
    response = web.StreamResponse(status=reply.status, headers=CIMultiDict(reply.headers))
    if request.version >= HttpVersion11:
        response.enable_chunked_encoding()
    await response.prepare(request)
    body = reply.body.encode() or b" "
    while True:
        for byte in body:
            await response.write(byte.to_bytes())
            await asyncio.sleep(reply.drip_s)
