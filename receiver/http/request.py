"""Requests out of the bytes of a connection, without input or output: what the wire carried, and
nothing tidied up.

There is no routing and no decompression; headers are bytes in the order and case in which they
came.
"""

import re
from collections import deque
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

import httptools
import msgspec

from hookproof.receiver.clock import Instant
from hookproof.receiver.inbox.arrival import Arrival, RawHeaders, Sender

MOST_HEAD_BYTES: Final = 2**16
MOST_BODY_BYTES: Final = 16 * 2**20
FIRST_SEGMENT: Final = re.compile(r"/([^/?#]*)")
FRAMING: Final = frozenset({b"content-length", b"transfer-encoding"})


class Refusal(Exception):
    """A request that is not taken: the status to answer it with, and why, in words for the sender."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class Malformed(Refusal):
    """What came is no valid HTTP."""

    def __init__(self, why: str) -> None:
        super().__init__(HTTPStatus.BAD_REQUEST, f"this is no valid HTTP: {why}")


class Request(msgspec.Struct, kw_only=True, gc=False):
    """One request; `body` is empty until all of it came.

    `token` is the first segment of its path, as sent, and `path` its whole target. `arrived` is
    when its head was there. `keep_alive` says whether the connection may stay after the answer.
    """

    method: str
    path: str
    token: str
    headers: RawHeaders
    arrived: Instant
    keep_alive: bool
    http_1_0: bool
    body: bytes = b""

    def arrival(self, sender: Sender) -> Arrival:
        """The request as it is kept, not answered yet."""
        return Arrival(
            token=self.token,
            method=self.method,
            path=self.path,
            headers=self.headers,
            body=self.body,
            arrived_at=self.arrived.wall,
            arrived_monotonic=self.arrived.monotonic,
            sender=sender,
        )

    @property
    def plain(self) -> bool:
        """Whether the answer can be the usual one: it is of HTTP/1.1, and its connection may stay."""
        return self.keep_alive and not self.http_1_0

    @property
    def expects_continue(self) -> bool:
        """Whether the sender waits to be told to send the body."""
        return any(
            name.lower() == b"expect" and value.lower() == b"100-continue"
            for name, value in self.headers
        )


class RequestReader:
    """Reads the requests of one connection: `whole` has those that came to their end, `partial` one
    whose body didn't.

    After a request that ends its connection, and after an error, nothing is read any more.
    """

    def __init__(self) -> None:
        self.whole: deque[Request] = deque()
        self.partial: Request | None = None
        self._parser = httptools.HttpRequestParser(self)
        self._now = Instant(0.0, 0.0)
        self._ended = False
        self._in_head = self._head_is_split = False
        self._head_bytes = self._fed_bytes = 0
        self._target = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._body: list[bytes] = []
        self._body_bytes = 0
        self._asking: Request | None = None
        """A request for another protocol whose body is still to be read."""

    def feed(self, data: bytes, now: Instant) -> None:
        """Take what was read at this moment; raises Refusal, and what came whole before that is in
        `whole` still.
        """
        if self._ended:
            return
        self._now = now
        self._fed_bytes = len(data)
        rest = data
        while rest:
            try:
                self._parser.feed_data(rest)
                break
            except httptools.HttpParserUpgrade as asked:
                rest = self._without_upgrade(rest[asked.args[0] :])
            except httptools.HttpParserError as error:
                self._ended = True
                if (
                    self.whole and not self.whole[-1].keep_alive
                ):  # what is behind it counts for nothing
                    return
                raise _refusal(error) from None
        if self._in_head:
            self._bound_head()

    def _without_upgrade(self, rest: bytes) -> bytes:
        """What to parse after a request that asks for another protocol, which it doesn't get: its
        body comes first.

        The parser takes such a request for complete; it is told the framing once more, so that it
        reads the body too.
        """
        assert self._asking is not None
        self._parser = httptools.HttpRequestParser(self)
        framing = [
            b"%s: %s\r\n" % header
            for header in self._asking.headers
            if header[0].lower() in FRAMING
        ]
        return b"POST / HTTP/1.1\r\n" + b"".join(framing) + b"\r\n" + rest

    def _bound_head(self) -> None:
        """Refuse a head that doesn't end; twice the bound, since what stands between names and
        values counts here.
        """
        self._head_bytes = self._head_bytes + self._fed_bytes if self._head_is_split else 0
        self._head_is_split = True
        if self._head_bytes > 2 * MOST_HEAD_BYTES:
            self._ended = True
            raise _too_long_a_head()

    def on_message_begin(self) -> None:
        """A head begins."""
        self._in_head, self._head_is_split = True, False
        self._target = b""
        self._headers = []
        self._body = []
        self._body_bytes = 0

    def on_url(self, part: bytes) -> None:
        """Some of the target came."""
        self._target += part

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header came whole; one behind the body is part of the framing and not kept."""
        if self._in_head:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._in_head = False
        if self._asking is not None:
            self.partial, self._asking = self._asking, None
            return
        headers = tuple(self._headers)
        if self._head_is_split or self._fed_bytes > MOST_HEAD_BYTES:
            self._weigh_head(headers)
        parser = self._parser
        path = self._target.decode("ascii")
        self.partial = Request(
            method=parser.get_method().decode("ascii"),
            path=path,
            token=_token(path),
            headers=headers,
            arrived=self._now,
            keep_alive=parser.should_keep_alive(),
            http_1_0=parser.get_http_version() == "1.0",
        )

    def _weigh_head(self, headers: RawHeaders) -> None:
        if (
            len(self._target) + sum(len(name) + len(value) for name, value in headers)
            > MOST_HEAD_BYTES
        ):
            raise _too_long_a_head()

    def on_body(self, part: bytes) -> None:
        """Some of the body came."""
        self._body.append(part)
        self._body_bytes += len(part)
        if self._body_bytes > MOST_BODY_BYTES:
            raise Refusal(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body may have {MOST_BODY_BYTES} bytes"
            )

    def on_message_complete(self) -> None:
        """The request is there."""
        request = self.partial
        assert request is not None
        if self._parser.should_upgrade():
            self._asking = request
            return
        request.body = self._body[0] if len(self._body) == 1 else b"".join(self._body)
        self._ended = not request.keep_alive
        self.partial = None
        self.whole.append(request)


def _token(path: str) -> str:
    """The first segment of a path, as sent; a target in absolute form, or none at all, is taken
    apart as a URL.
    """
    found = FIRST_SEGMENT.match(path)
    if found:
        return found[1]
    try:
        return urlsplit(path).path.removeprefix("/").partition("/")[0]
    except ValueError:
        raise Malformed("its target is no URL") from None


def _too_long_a_head() -> Malformed:
    return Malformed(f"its head has more than {MOST_HEAD_BYTES} bytes")


def _refusal(error: httptools.HttpParserError) -> Exception:
    """What is wrong by an error of the parser, which may be one that was raised here."""
    if isinstance(error, httptools.HttpParserCallbackError):
        return error.__context__ if isinstance(error.__context__, Exception) else error
    return Malformed(str(error))
