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
_PHRASED: Final = frozenset(HTTPStatus)


class Answer(web.StreamResponse):
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
        last: bool = False,
    ) -> None:
        # The base class is not initialised on purpose: nothing of its state is used but these two.
        self._status = status
        self._keep_alive = not last
        self._content = body
        self._media_type = media_type
        self._more = headers

    async def prepare(self, request: BaseRequest) -> None:
        """Remember whom to answer, and whether the connection goes on."""
        self._keep_alive = self._keep_alive and request.keep_alive
        self._answered = request

    async def write_eof(self, data: bytes = b"") -> None:
        """Write head and body; raises ConnectionResetError if nobody is there any more."""
        request = self._answered
        transport = request.transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError
        content = b"" if request.method == hdrs.METH_HEAD else self._content
        transport.write(self.head(old=request.version < HttpVersion11) + content)
        if transport.get_write_buffer_size() > _FULL_BUFFER:
            await request.writer.drain()

    def head(self, *, old: bool = False) -> bytes:
        """Status line and headers; an `old` client has to be told that the connection goes on."""
        start = _start(self._status, self._media_type, int(time.time()))
        if self._keep_alive and not old and not self._more:
            return b"%bContent-Length: %d\r\n\r\n" % (start, len(self._content))
        further = dict(self._more or {})
        if old or not self._keep_alive:
            further["Connection"] = "keep-alive" if self._keep_alive else "close"
        lines = "".join([f"{name}: {value}\r\n" for name, value in further.items()])
        return b"%bContent-Length: %d\r\n%b\r\n" % (
            start,
            len(self._content),
            lines.encode("latin-1"),
        )

    def halved(self) -> "Answer":
        """The same answer with the first half of its body."""
        half = self._content[: len(self._content) // 2]
        return Answer(
            self._status,
            half,
            media_type=self._media_type,
            headers=self._more,
            last=not self._keep_alive,
        )

    def alone(self) -> bytes:
        """All of it, for a connection on which no request was read."""
        return self.head() + self._content


@lru_cache(maxsize=64)
def _start(status: int, media_type: str, second: int) -> bytes:
    """What every answer of a second begins with."""
    phrase = HTTPStatus(status).phrase if status in _PHRASED else ""
    date = formatdate(second, usegmt=True)
    return f"HTTP/1.1 {status} {phrase}\r\nServer: hookproof\r\nContent-Type: {media_type}\r\nDate: {date}\r\n".encode()


class Answering(Protocol):
    """What the listener asks for answers."""

    def answer(self, request: BaseRequest) -> Awaitable[Answer]:
        """The response to a request."""
