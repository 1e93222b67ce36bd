"""HTTP/1.1 from the client's side, without input or output: a request as bytes, a response out of
bytes.

The rules that keep a hostile endpoint harmless stand here: the bytes of a head are bounded, interim
responses included; a body is kept up to a cap and the rest is never read; nothing is decompressed.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import httptools
import msgspec

HEAD_LIMIT: Final = 64 * 1024
BODY_LIMIT: Final = 64 * 1024

Headers = tuple[tuple[str, str], ...]


class ProtocolFault(Exception):
    """The peer does not speak HTTP/1.1, or says too much."""


class ConnectionFault(Exception):
    """The connection could not be made, or it ended before the response did."""


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """A final response. `body` holds at most BODY_LIMIT bytes; `reusable` says whether the
    connection may go on.
    """

    status: int
    headers: Sequence[tuple[bytes, bytes]]
    body: bytes
    reusable: bool

    def header(self, name: str) -> str | None:
        """The value of the first header with this name, in any case; None without one."""
        wanted = name.lower().encode("ascii")
        return next(
            (value.decode("latin-1") for key, value in self.headers if key.lower() == wanted), None
        )


def request_bytes(
    method: str, target: str, headers: Iterable[tuple[str, str]], body: bytes
) -> bytes:
    """A request whose framing headers are among `headers`; the body is put behind the head
    untouched.
    """
    lines = [f"{method} {target} HTTP/1.1"]
    lines.extend([f"{name}: {value}" for name, value in headers])
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


class ResponseReader:
    """Reads the responses of one connection, one request at a time.

    `expect` begins a response, `feed` and `end` give it once it is complete and None before.
    """

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._awaited = False

    def expect(self, *, bodiless: bool) -> None:
        """Await the response to a request; `bodiless` for one to HEAD, whose Content-Length
        announces nothing.
        """
        self._awaited = True
        self._bodiless = bodiless
        self._status = 0
        self._headers: list[tuple[bytes, bytes]] = []
        self._body = bytearray()
        self._head_bytes = 0
        self._in_body = False
        self._complete = False
        self._reusable = False

    def feed(self, data: bytes) -> Response | None:
        """Take bytes of the peer; raises ProtocolFault."""
        if not self._awaited:
            raise ProtocolFault("the endpoint sent bytes that nobody asked for")
        if not self._in_body:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._complete = True
        except httptools.HttpParserError as error:
            if not self._complete:
                raise ProtocolFault(f"the endpoint's answer is not HTTP/1.1: {error}") from None
            self._reusable = False
        if not self._in_body and not self._complete and self._head_bytes > HEAD_LIMIT:
            raise ProtocolFault(f"the endpoint's answer has a head of more than {HEAD_LIMIT} bytes")
        return self._response() if self._complete else None

    def end(self) -> Response:
        """The peer closed the connection; raises ConnectionFault unless that is how the response
        ends.
        """
        if not self._in_body or self._announces_its_end():
            raise ConnectionFault(
                "the endpoint closed the connection before its answer was complete"
            )
        return self._response()

    def _response(self) -> Response:
        self._awaited = False
        return Response(
            status=self._status,
            headers=self._headers,
            body=bytes(self._body),
            reusable=self._reusable,
        )

    def _announces_its_end(self) -> bool:
        return any(
            name.lower() in (b"content-length", b"transfer-encoding") for name, _ in self._headers
        )

    def on_message_begin(self) -> None:
        """A second message behind the final one is nothing that was asked for."""
        if self._complete:
            self._reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header of the final response."""
        if not self._complete:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Pass over an interim response; leave out the body that HEAD never has."""
        if self._complete:
            return
        self._status = self._parser.get_status_code()
        if self._status // 100 == 1:
            self._headers.clear()
            return
        self._in_body = True
        self._complete = self._bodiless

    def on_body(self, data: bytes) -> None:
        """Keep the body up to the cap, and be done with the response there."""
        if self._complete:
            return
        room = BODY_LIMIT - len(self._body)
        self._body += data[:room]
        self._complete = len(data) >= room

    def on_message_complete(self) -> None:
        """The response is whole, unless it was an interim one."""
        if self._in_body and not self._complete:
            self._complete, self._reusable = True, self._parser.should_keep_alive()
