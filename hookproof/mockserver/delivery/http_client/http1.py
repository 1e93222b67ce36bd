"""The client side of HTTP/1.1 without input or output: builds requests and parses responses.

The limits that make a hostile endpoint harmless are here: the size of a head is limited, interim
responses included; a body is kept up to a limit and the rest is not read; nothing is decompressed.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import httptools
import msgspec

HEAD_LIMIT: Final = 64 * 1024
BODY_LIMIT: Final = 64 * 1024


class ProtocolError(Exception):
    """The peer sent something that is not HTTP/1.1, or a head that is too long."""


class ConnectionFailed(Exception):
    """The connection could not be made, or it ended before the response did."""


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """A final response.

    `body` is cut off at BODY_LIMIT bytes. `reusable`: whether the connection may carry another
    request.
    """

    status: int
    headers: Sequence[tuple[bytes, bytes]]
    body: bytes
    reusable: bool

    def header(self, name: str) -> str | None:
        """Return the value of the first header with this name, in any case, or None."""
        wanted = name.lower().encode("ascii")
        return next(
            (value.decode("latin-1") for key, value in self.headers if key.lower() == wanted), None
        )


def build_request(
    method: str, target: str, headers: Iterable[tuple[str, str]], body: bytes
) -> bytes:
    """Build a request; `headers` has to include the framing headers."""
    lines = [f"{method} {target} HTTP/1.1"]
    lines.extend([f"{name}: {value}" for name, value in headers])
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


class ResponseReader:
    """Parses the responses of one connection, one request at a time.

    Call `expect` for each request that is sent. `feed` returns the response once it is complete,
    and None before. The `on_` methods are callbacks of the parser.
    """

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._expects_response = False

    def expect(self, *, bodiless: bool) -> None:
        """Begin a response; `bodiless` for a HEAD request, whose response has no body."""
        self._expects_response = True
        self._bodiless = bodiless
        self._status = 0
        self._headers: list[tuple[bytes, bytes]] = []
        self._body = bytearray()
        self._head_bytes = 0
        self._in_body = False
        self._complete = False
        self._reusable = False

    def feed(self, data: bytes) -> Response | None:
        """Parse received bytes; raises ProtocolError."""
        if not self._expects_response:
            raise ProtocolError("the endpoint sent bytes without a request")
        if not self._in_body:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._complete = True
        except httptools.HttpParserError as error:
            if not self._complete:
                raise ProtocolError(f"the endpoint's response is not HTTP/1.1: {error}") from None
            self._reusable = False
        if not self._in_body and not self._complete and self._head_bytes > HEAD_LIMIT:
            raise ProtocolError(
                f"the endpoint's response has a head of more than {HEAD_LIMIT} bytes"
            )
        return self._response() if self._complete else None

    def end(self) -> Response:
        """Return the response that ends with the connection.

        Raises ConnectionFailed if the response is incomplete.
        """
        if not self._in_body or self._has_framing_header():
            raise ConnectionFailed(
                "the endpoint closed the connection before its response was complete"
            )
        return self._response()

    def _response(self) -> Response:
        self._expects_response = False
        return Response(
            status=self._status,
            headers=self._headers,
            body=bytes(self._body),
            reusable=self._reusable,
        )

    def _has_framing_header(self) -> bool:
        return any(
            name.lower() in (b"content-length", b"transfer-encoding") for name, _ in self._headers
        )

    def on_message_begin(self) -> None:
        # A second message after the final response does not belong to any request.
        if self._complete:
            self._reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._complete:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        if self._complete:
            return
        self._status = self._parser.get_status_code()
        if self._status // 100 == 1:  # an interim response, RFC 9110, section 15.2
            self._headers.clear()
            return
        self._in_body = True
        self._complete = self._bodiless

    def on_body(self, data: bytes) -> None:
        # The response is complete at the limit: the rest of the body is not read.
        if self._complete:
            return
        room = BODY_LIMIT - len(self._body)
        self._body += data[:room]
        self._complete = len(data) >= room

    def on_message_complete(self) -> None:
        if self._in_body and not self._complete:
            self._complete, self._reusable = True, self._parser.should_keep_alive()
