"""A complete response, written in one go.

aiohttp's own response costs a third of the time of a small request: it is made for streams, cookies
and compression. This one has a status, a few headers and a body, and leaves the rest of the
connection to aiohttp.
"""

import time
from collections.abc import Awaitable, Mapping
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import Final, Protocol

from aiohttp import HttpVersion11, hdrs, web
from aiohttp.web_request import BaseRequest

JSON: Final = "application/json"
_FULL_BUFFER: Final = 65536
_KNOWN_STATUSES: Final = frozenset(HTTPStatus)


class ApiResponse(web.StreamResponse):
    """A response that aiohttp's server sends by calling `prepare` and `write_eof`.

    `headers` must not hold line breaks. With `last`, the connection is closed after it.
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
        """Remember whom to answer, and whether the connection goes on."""
        self._keep_alive = self._keep_alive and request.keep_alive
        self._request = request

    async def write_eof(self, data: bytes = b"") -> None:
        """Write head and body; raises ConnectionResetError if nobody is there any more."""
        request = self._request
        transport = request.transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError
        body = b"" if request.method == hdrs.METH_HEAD else self._content
        transport.write(self.head(is_http_1_0=request.version < HttpVersion11) + body)
        if transport.get_write_buffer_size() > _FULL_BUFFER:
            await request.writer.drain()

    def head(self, *, is_http_1_0: bool = False) -> bytes:
        """Status line and headers; an `old` client has to be told that the connection goes on."""
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

    def with_half_body(self) -> "ApiResponse":
        """The same answer with the first half of its body."""
        half = self._content[: len(self._content) // 2]
        return ApiResponse(
            self._status,
            half,
            media_type=self._media_type,
            headers=self._extra_headers,
            close_connection=not self._keep_alive,
        )

    def to_bytes(self) -> bytes:
        """All of it, for a connection on which no request was read."""
        return self.head() + self._content


@lru_cache(maxsize=64)
def _head_start(status: int, media_type: str, second: int) -> bytes:
    """What every answer of a second begins with."""
    phrase = HTTPStatus(status).phrase if status in _KNOWN_STATUSES else ""
    date = formatdate(second, usegmt=True)
    return (
        f"HTTP/1.1 {status} {phrase}\r\nServer: hookproof\r\n"
        f"Content-Type: {media_type}\r\nDate: {date}\r\n"
    ).encode()


class Responder(Protocol):
    """What the listener asks for answers."""

    def answer(self, request: BaseRequest) -> Awaitable[ApiResponse]:
        """The response to a request."""
