"""A complete response, written in one go.

aiohttp's own response takes a third of the time of a small request: it supports streams, cookies
and compression. This one has a status, a few headers and a body, and leaves the rest of the
connection to aiohttp.
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import Final, Protocol

from aiohttp import HttpVersion11, hdrs, web
from aiohttp.web_request import BaseRequest

JSON: Final = "application/json"
# Bytes that may wait in the transport before the response waits too.
_FULL_BUFFER: Final = 65536
_KNOWN_STATUSES: Final = frozenset(HTTPStatus)


class ApiResponse(web.StreamResponse):
    """A response that aiohttp's server sends by calling `prepare` and `write_eof`.

    `headers` must not contain line breaks. Without a `media_type` none is declared.
    """

    def __init__(
        self,
        status: int,
        body: bytes,
        *,
        media_type: str = JSON,
        headers: Mapping[str, str] | None = None,
        close_connection: bool = False,
    ) -> None:
        # Deliberately no super().__init__(): aiohttp uses only these two attributes of the base.
        self._status = status
        self._keep_alive = not close_connection
        self._content = body
        self._media_type = media_type
        self._extra_headers = headers

    async def prepare(self, request: BaseRequest) -> None:
        """Record the request that is answered, and whether the connection stays open."""
        self._keep_alive = self._keep_alive and request.keep_alive
        self._request = request

    async def write_eof(self, data: bytes = b"") -> None:
        """Write head and body; raises ConnectionResetError if the client has gone."""
        request = self._request
        transport = request.transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError
        body = b"" if request.method == hdrs.METH_HEAD else self._content
        transport.write(self.head(is_http_1_0=request.version < HttpVersion11) + body)
        if transport.get_write_buffer_size() > _FULL_BUFFER:
            await request.writer.drain()

    def head(self, *, is_http_1_0: bool = False) -> bytes:
        """Return status line and headers.

        For an HTTP/1.0 client the head has to say that the connection stays open (RFC 9112, section
        9.3).
        """
        start = _head_start(self._status, self._media_type, int(time.time()))
        if self._keep_alive and not is_http_1_0 and not self._extra_headers:
            return b"%bContent-Length: %d\r\n\r\n" % (start, len(self._content))
        headers = dict(self._extra_headers or {})
        if is_http_1_0 or not self._keep_alive:
            headers["Connection"] = "keep-alive" if self._keep_alive else "close"
        lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
        return b"%bContent-Length: %d\r\n%b\r\n" % (
            start,
            len(self._content),
            lines.encode("latin-1"),
        )

    def with_changed_body(self, change: Callable[[bytes], bytes]) -> "ApiResponse":
        """Return the same response with the body that `change` makes of this one's."""
        return ApiResponse(
            self._status,
            change(self._content),
            media_type=self._media_type,
            headers=self._extra_headers,
            close_connection=not self._keep_alive,
        )

    def to_bytes(self) -> bytes:
        """Return the whole response, for a connection on which no request was read."""
        return self.head() + self._content


@lru_cache(maxsize=64)
def _head_start(status: int, media_type: str, second: int) -> bytes:
    """Return the part of the head that all responses of this status within a second share."""
    phrase = HTTPStatus(status).phrase if status in _KNOWN_STATUSES else ""
    date = formatdate(second, usegmt=True)
    declared = f"Content-Type: {media_type}\r\n" if media_type else ""
    return (
        f"HTTP/1.1 {status} {phrase}\r\nServer: hookproof\r\n{declared}Date: {date}\r\n"
    ).encode()


class Responder(Protocol):
    """What the listener asks for responses: the request pipeline, or a fault in front of it."""

    def answer(self, request: BaseRequest) -> Awaitable[ApiResponse]:
        """Return the response to a request."""
