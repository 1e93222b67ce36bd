"""What is done with each request: it is kept, raw, judged, and then answered as its token's script says."""

import asyncio
import logging
from http import HTTPStatus
from typing import Final

from aiohttp import web

from receiver.arrival import Arrival
from receiver.clock import Clock
from receiver.connection import MOST_BODY_BYTES, Request, Server, refusal
from receiver.player import ENDS, Player
from receiver.script import Reply
from receiver.session import Session, Sessions

LOG: Final = logging.getLogger(__name__)
VISITS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""By these a service may try a URL before it delivers there; a script is for deliveries."""


class Listener:
    """Handles the requests of one or more servers, whether they speak TLS or not."""

    def __init__(self, *, sessions: Sessions, clock: Clock, body_within_s: float) -> None:
        self._sessions = sessions
        self._clock = clock
        self._player = Player(clock)
        self._body_within_s = body_within_s

    def server(self) -> web.Server:
        """The protocol factory to listen with; call it within the event loop."""
        return Server(self._handle, self._clock)

    async def _handle(self, request: Request) -> web.StreamResponse:
        session = self._sessions.of_token(request.token)
        session.in_flight.add(request.connection)
        try:
            return await self._receive(request, session)
        finally:
            session.in_flight.discard(request.connection)

    async def _receive(self, request: Request, session: Session) -> web.StreamResponse:
        visit = request.method in VISITS
        if not visit and session.due_reply(request.token).cuts_before_reading:
            body = b""
        elif (at_hand := request.body_at_hand()) is not None:
            body = at_hand
        else:
            try:
                body = await self._read(request)
            except _NoBody as refused:
                session.inbox.drop(request.token, request.arrived)
                return refused.answer
        arrival = request.arrival(body)
        session.inbox.record(arrival)
        session.keyrings.judge(arrival)
        return await self._answer(request, session, arrival, session.next_reply(arrival, visit=visit))

    async def _read(self, request: Request) -> bytes:
        """The whole body; raises _NoBody, and ConnectionError or CancelledError when the sender leaves."""
        try:
            async with asyncio.timeout(self._body_within_s):
                return await request.whole_body()
        except web.HTTPRequestEntityTooLarge:
            told = f"a body may have {MOST_BODY_BYTES} bytes"
            raise _NoBody(refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, told)) from None
        except (TimeoutError, web.RequestPayloadError):
            # aiohttp's parser may stop at a chunk that it can't read without telling, so time tells.
            told = f"the body did not come whole within {self._body_within_s:g} s"
            raise _NoBody(refusal(HTTPStatus.BAD_REQUEST, told)) from None
        except (ConnectionError, asyncio.CancelledError):
            LOG.warning("a request to %r ended before its body did", request.token)
            raise

    async def _answer(self, request: Request, session: Session, arrival: Arrival, reply: Reply) -> web.StreamResponse:
        try:
            written = await self._player.play(reply, request)
        except (ConnectionError, asyncio.CancelledError):
            session.inbox.close(arrival, at=self._clock.monotonic())
            raise
        if written is None:
            session.inbox.close(arrival, at=self._clock.monotonic())
            return ENDS
        session.inbox.complete(arrival, status=reply.status, at=self._clock.monotonic())
        return written


class _NoBody(Exception):
    """The body did not come; `answer` says so to the sender."""

    def __init__(self, answer: web.Response) -> None:
        super().__init__()
        self.answer = answer
