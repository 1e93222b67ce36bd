"""One HTTP/1.1 connection to an endpoint, as an asyncio protocol."""

import asyncio
import ssl
from math import inf
from typing import ClassVar, cast

from hookproof.mockserver.delivery.http_client.http1 import (
    ConnectionFailed,
    ProtocolError,
    Response,
    ResponseReader,
)
from hookproof.mockserver.delivery.own_trouble import OwnTrouble, is_own_trouble


class TlsError(Exception):
    """The TLS handshake failed, or the certificate of the peer is not trusted."""


class EndpointConnection(asyncio.Protocol):
    """A connection that carries at most one request at a time.

    The response timeout uses one timer per connection, not one per request: when it fires it
    compares the clock with the current deadline and is set again if that lies ahead. A busy
    connection therefore sets a timer rarely.
    """

    reader_class: ClassVar = ResponseReader

    def __init__(self) -> None:
        self._reader = self.reader_class()
        self._response: asyncio.Future[Response] | None = None
        self._transport: asyncio.Transport | None = None
        self._loop = asyncio.get_running_loop()
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = inf
        self.lost: asyncio.Future[None] = self._loop.create_future()
        self.idle_since = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # The TLS transport of uvloop is an asyncio.Transport in everything but its class.
        self._transport = cast("asyncio.Transport", transport)

    @property
    def is_usable(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def send(self, request: bytes, *, bodiless: bool, deadline: float) -> asyncio.Future[Response]:
        """Send a request and return a future of its response.

        The response has to be complete by `deadline`, a time of the event loop. The future raises
        ProtocolError, ConnectionFailed, TlsError, TimeoutError or OwnTrouble.
        """
        assert self._transport is not None
        assert self._response is None
        response = self._response = self._loop.create_future()
        self._reader.expect(bodiless=bodiless)
        self._deadline = deadline
        if deadline < self._timer_at:
            self._set_timer(deadline)
        self._transport.write(request)
        return response

    def data_received(self, data: bytes) -> None:
        try:
            response = self._reader.feed(data)
        except ProtocolError as error:
            self._finish(error)
            self.abort()
            return
        if response is not None:
            if not response.reusable:
                self.abort()
            self._finish(response)

    def eof_received(self) -> None:
        self._handle_eof()

    def connection_lost(self, exc: Exception | None) -> None:
        if isinstance(exc, ssl.SSLError):
            self._finish(TlsError(f"the endpoint's TLS ended the connection: {exc.reason}"))
        elif exc is not None and is_own_trouble(exc):
            self._finish(OwnTrouble(str(exc)))
        elif exc is not None:
            self._finish(ConnectionFailed(f"the connection broke: {exc}"))
        else:
            self._handle_eof()
        if self._timer is not None:
            self._timer.cancel()
        if not self.lost.done():
            self.lost.set_result(None)

    def abort(self) -> None:
        """Close the connection at once; unsent and unread bytes are lost."""
        if self._transport is not None:
            self._transport.abort()

    def _set_timer(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(at, self._check_deadline)
        self._timer_at = at

    def _check_deadline(self) -> None:
        self._timer, self._timer_at = None, inf
        if self._response is None:
            return
        if self._loop.time() < self._deadline:
            self._set_timer(self._deadline)
            return
        self._finish(TimeoutError())
        self.abort()

    def _handle_eof(self) -> None:
        """End the response: the end of the connection may be the end of its body."""
        if self._response is None:
            return
        try:
            self._finish(self._reader.end())
        except ConnectionFailed as error:
            self._finish(error)

    def _finish(self, result: Response | Exception) -> None:
        response, self._response = self._response, None
        if response is None or response.done():
            return
        if isinstance(result, Exception):
            response.set_exception(result)
        else:
            response.set_result(result)
