"""One connection to an endpoint: bytes out, a response in."""

import asyncio
import ssl
from math import inf
from typing import cast

from hookproof.mockserver.delivery.http_client.http1 import (
    ConnectionFault,
    ProtocolFault,
    Response,
    ResponseReader,
)


class TlsFault(Exception):
    """The peer's certificate or its TLS is not acceptable."""


class Connection(asyncio.Protocol):
    """One connection; at most one request is under way on it.

    The time-out of an answer has one timer, which outlives the answer: it looks at the clock when
    it goes off, so that a busy connection sets one now and then rather than with each request.
    """

    def __init__(self) -> None:
        self._reader = ResponseReader()
        self._answer: asyncio.Future[Response] | None = None
        self._transport: asyncio.Transport | None = None
        self._loop = asyncio.get_running_loop()
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = inf
        self.lost: asyncio.Future[None] = self._loop.create_future()
        self.idle_since = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection stands."""
        self._transport = cast(
            "asyncio.Transport", transport
        )  # uvloop's TLS transport is one in all but its class

    @property
    def usable(self) -> bool:
        """Whether another request may go out on it."""
        return self._transport is not None and not self._transport.is_closing()

    def send(self, request: bytes, *, bodiless: bool, deadline: float) -> asyncio.Future[Response]:
        """Send a request; the future brings the response, or raises ProtocolFault, ConnectionFault
        or TimeoutError.

        `deadline` is the time of the event loop by which the response has to be whole.
        """
        assert self._transport is not None
        assert self._answer is None
        answer = self._answer = self._loop.create_future()
        self._reader.expect(bodiless=bodiless)
        self._deadline = deadline
        if deadline < self._timer_at:
            self._set_timer(deadline)
        self._transport.write(request)
        return answer

    def data_received(self, data: bytes) -> None:
        """Bytes of the peer."""
        try:
            response = self._reader.feed(data)
        except ProtocolFault as fault:
            self._settle(fault)
            self.abort()
            return
        if response is not None:
            if not response.reusable:
                self.abort()
            self._settle(response)

    def eof_received(self) -> None:
        """The peer sends no more; it may be how the response ends."""
        self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone, with an error or without."""
        if isinstance(exc, ssl.SSLError):
            self._settle(TlsFault(f"the endpoint's TLS ended the connection: {exc.reason}"))
        elif exc is not None:
            self._settle(ConnectionFault(f"the connection broke off: {exc}"))
        else:
            self._end()
        if self._timer is not None:
            self._timer.cancel()
        if not self.lost.done():
            self.lost.set_result(None)

    def _set_timer(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(at, self._look_at_the_clock)
        self._timer_at = at

    def _look_at_the_clock(self) -> None:
        self._timer, self._timer_at = None, inf
        if self._answer is None:
            return
        if self._loop.time() < self._deadline:
            self._set_timer(self._deadline)
            return
        self._settle(TimeoutError())
        self.abort()

    def abort(self) -> None:
        """Give the connection up at once, whatever is still on its way."""
        if self._transport is not None:
            self._transport.abort()

    def _end(self) -> None:
        if self._answer is None:
            return
        try:
            self._settle(self._reader.end())
        except ConnectionFault as fault:
            self._settle(fault)

    def _settle(self, result: Response | Exception) -> None:
        answer, self._answer = self._answer, None
        if answer is None or answer.done():
            return
        if isinstance(result, Exception):
            answer.set_exception(result)
        else:
            answer.set_result(result)
