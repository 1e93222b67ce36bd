"""HTTP below aiohttp's application layer, where a request still is what the wire carried.

There is no routing and no decompression, and headers are bytes. A connection knows its sender, and a request the moment
when its connection had something to read, before it was even parsed.
"""

import asyncio
import hashlib
import logging
import re
from collections import deque
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, Final

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.http_parser import RawRequestMessage
from aiohttp.streams import StreamReader

from receiver.arrival import Arrival, Sender
from receiver.authority import asked_server_name
from receiver.clock import Clock, Instant
from receiver.delivery import TlsFacts

LOG: Final = logging.getLogger(__name__)
MOST_BODY_BYTES: Final = 16 * 2**20
MOST_HEADER_BYTES: Final = 2**16
FIRST_SEGMENT: Final = re.compile(r"/([^/?#]*)")
SETTINGS: Final[dict[str, Any]] = {
    "auto_decompress": False,  # signatures are made over the bytes as sent
    "max_line_size": MOST_HEADER_BYTES,
    "max_field_size": MOST_HEADER_BYTES,
    "max_headers": 1024,
    "lingering_time": 1.0,
    "access_log": None,
}


class Connection(web.RequestHandler):
    """One connection: who sends, and when each of its requests that is not yet handled had come."""

    __slots__ = ("_clock", "arrivals", "sender")

    def __init__(self, server: web.Server, clock: Clock, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(server, loop=loop, **SETTINGS)
        self._clock = clock
        self.arrivals: deque[Instant] = deque()
        self.sender = Sender(0)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note who sends; with TLS the handshake is over by now."""
        self.sender = _sender(transport)
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """Note the time before anything else; every request whose head ends in this data came now."""
        now = self._clock.now()
        known = len(self._messages)
        super().data_received(data)
        for _ in range(len(self._messages) - known):
            self.arrivals.append(now)

    def abort(self) -> None:
        """Cut the connection at once."""
        if self.transport is not None:
            self.transport.abort()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = HTTPStatus.INTERNAL_SERVER_ERROR,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer what is no HTTP; one line tells of it, without the bytes, which may hold a secret."""
        if isinstance(exc, ConnectionError):  # the sender has gone: there is no one to answer
            raise exc
        if not isinstance(exc, HttpProcessingError):
            return super().handle_error(request, status, exc, message)
        LOG.warning("a request from %s is no valid HTTP: %s", request.remote, type(exc).__name__)
        return refusal(HTTPStatus(status), f"this is no valid HTTP: {message}")


class Request(web.BaseRequest):
    """One request, its connection, when it arrived, and its token: the first segment of its path, as sent."""

    def __init__(
        self,
        message: RawRequestMessage,
        payload: StreamReader,
        connection: Connection,
        writer: AbstractStreamWriter,
        task: "asyncio.Task[None]",
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        super().__init__(message, payload, connection, writer, task, loop, client_max_size=MOST_BODY_BYTES)
        self.connection = connection
        self.arrived = connection.arrivals.popleft()
        found = FIRST_SEGMENT.match(message.path)
        # Only a target in absolute form, or none at all, has to be taken apart as a URL.
        self.token = found[1] if found else self.rel_url.raw_path.removeprefix("/").partition("/")[0]

    @property
    def expects_continue(self) -> bool:
        """Whether the sender waits to be told to send the body."""
        return self.headers.get("Expect", "").lower() == "100-continue"

    def body_at_hand(self) -> bytes | None:
        """The raw body if it came whole with the head, as small ones do; None: it must be waited for."""
        content = self.content
        if not content.is_eof() or content.exception() is not None:
            return None
        return content.read_nowait()

    async def whole_body(self) -> bytes:
        """The raw body, which a sender that asks first is told to send; raises what `read` raises."""
        if self.expects_continue:
            await self.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.writer.output_size = 0  # aiohttp would take these bytes for the answer's
        return await self.read()

    def arrival(self, body: bytes) -> Arrival:
        """The request as it is kept, not answered yet."""
        return Arrival(
            token=self.token,
            method=self.method,
            path=self.raw_path,
            headers=self.raw_headers,
            body=body,
            arrived_at=self.arrived.wall,
            arrived_monotonic=self.arrived.monotonic,
            sender=self.connection.sender,
        )


class Server(web.Server):
    """The protocol factory: every connection is a `Connection`, every request a `Request`."""

    def __init__(self, handler: Callable[[Request], Awaitable[web.StreamResponse]], clock: Clock) -> None:
        async def handle(request: web.BaseRequest) -> web.StreamResponse:
            assert isinstance(request, Request)
            return await handler(request)

        # A sender that goes away ends its handler, so that an answer that hangs ends with it.
        super().__init__(handle, request_factory=self._request, handler_cancellation=True)
        self._clock = clock

    def __call__(self) -> web.RequestHandler:
        """A new connection."""
        return Connection(self, self._clock, self._loop)

    def _request(
        self,
        message: RawRequestMessage,
        payload: StreamReader,
        protocol: web.RequestHandler,
        writer: AbstractStreamWriter,
        task: "asyncio.Task[None]",
    ) -> web.BaseRequest:
        assert isinstance(protocol, Connection)
        return Request(message, payload, protocol, writer, task, self._loop)


def refusal(status: HTTPStatus, text: str) -> web.Response:
    """An answer that says why a request is not taken, and ends the connection."""
    response = web.Response(status=status, text=text + "\n")
    response.force_close()
    return response


def _sender(transport: asyncio.BaseTransport) -> Sender:
    tls = transport.get_extra_info("ssl_object")
    port = transport.get_extra_info("peername")[1]
    if tls is None:
        return Sender(port)
    certificate = tls.getpeercert(binary_form=True)
    return Sender(
        port,
        hashlib.sha256(certificate).hexdigest() if certificate else None,
        TlsFacts(version=tls.version(), cipher=tls.cipher()[0], server_name=asked_server_name(tls)),
    )
