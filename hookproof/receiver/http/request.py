"""Parses requests from the bytes of a connection, without input or output and as they were sent.

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
VERSIONS: Final = frozenset({"1.0", "1.1"})
FRAMING: Final = frozenset({b"content-length", b"transfer-encoding"})


class RequestRefused(Exception):
    """A request is refused; carries the status to answer with, the message is for the sender."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class MalformedRequest(RequestRefused):
    """The bytes are not valid HTTP."""

    def __init__(self, why: str) -> None:
        super().__init__(HTTPStatus.BAD_REQUEST, f"this is not valid HTTP: {why}")


class ReceivedRequest(msgspec.Struct, kw_only=True, gc=False):
    """One request; `body` is empty until the whole body arrived.

    `token` is the first segment of the path, as sent; `path` is the whole request target. `arrived`
    is when the head was complete. `keep_alive` says whether the connection may stay open.
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
        """The request in the form that the inbox stores."""
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
    def is_plain(self) -> bool:
        """Whether the default answer fits: HTTP/1.1, and the connection may stay open."""
        return self.keep_alive and not self.http_1_0

    @property
    def expects_continue(self) -> bool:
        """Whether the sender waits for a 100 (Continue) before it sends the body."""
        return any(
            name.lower() == b"expect" and value.lower() == b"100-continue"
            for name, value in self.headers
        )


class RequestReader:
    """Reads the requests of one connection.

    `whole` holds the complete requests, `partial` one whose body is incomplete; `in_head` says
    whether the head of a request is. Nothing is read after a request that closes its connection,
    nor after an error. A body may have `most_body_bytes`.
    """

    def __init__(self, most_body_bytes: int = MOST_BODY_BYTES) -> None:
        self._most_body_bytes = most_body_bytes
        self.whole: deque[ReceivedRequest] = deque()
        self.partial: ReceivedRequest | None = None
        self._parser = httptools.HttpRequestParser(self)
        self._now = Instant(0.0, 0.0)
        self._ended = False
        self.in_head = self._head_is_split = False
        self._head_bytes = self._fed_bytes = 0
        self._target = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._body: bytes | bytearray = b""
        # A request for another protocol whose body is still to be read.
        self._upgrade_request: ReceivedRequest | None = None

    def feed(self, data: bytes, now: Instant) -> None:
        """Parse what was read at this time.

        Raises RequestRefused; requests that were complete before the error are in `whole`.
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
            except httptools.HttpParserUpgrade as upgrade:
                rest = self._restart_parser(rest[upgrade.args[0] :])
            except httptools.HttpParserError as error:
                self._ended = True
                if self.whole and not self.whole[-1].keep_alive:
                    return  # what follows a request that closes the connection is ignored
                raise _refusal(error) from None
        if self.in_head:
            self._check_endless_head()

    @property
    def held_bytes(self) -> int:
        """How much of requests that are not handled yet is here."""
        waiting = sum(len(request.body) for request in self.whole) if self.whole else 0
        return waiting + len(self._body) + (self._head_bytes if self.in_head else 0)

    def end(self) -> None:
        """Read nothing more, and forget what is here but the head of the partial request."""
        self._ended = True
        self.in_head = False
        self.whole.clear()
        self._body = b""
        self._headers = []

    def _restart_parser(self, rest: bytes) -> bytes:
        """What to parse after a request that asks for another protocol, which it does not get.

        The parser treats such a request as complete; the framing is given to it again so that it
        reads the body, too.
        """
        assert self._upgrade_request is not None
        self._parser = httptools.HttpRequestParser(self)
        framing = [
            b"%s: %s\r\n" % header
            for header in self._upgrade_request.headers
            if header[0].lower() in FRAMING
        ]
        return b"POST / HTTP/1.1\r\n" + b"".join(framing) + b"\r\n" + rest

    def _check_endless_head(self) -> None:
        """Refuse an endless head.

        The limit is doubled, since the bytes between names and values count here.
        """
        if self._head_is_split:
            self._head_bytes += self._fed_bytes
        else:
            self._head_bytes = 0
        self._head_is_split = True
        if self._head_bytes > 2 * MOST_HEAD_BYTES:
            self._ended = True
            raise _head_too_long()

    def on_message_begin(self) -> None:
        self.in_head, self._head_is_split = True, False
        self._target = b""
        self._headers = []

    def on_url(self, part: bytes) -> None:
        self._target += part

    def on_header(self, name: bytes, value: bytes) -> None:
        """A complete header; one after the body is part of the framing and not kept."""
        if self.in_head:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        self.in_head = False
        if self._upgrade_request is not None:
            self.partial, self._upgrade_request = self._upgrade_request, None
            return
        headers = tuple(self._headers)
        if self._head_is_split or self._fed_bytes > MOST_HEAD_BYTES:
            self._check_head_size(headers)
        parser = self._parser
        version = parser.get_http_version()
        if version not in VERSIONS:  # RFC 9110, section 15.6.6
            raise RequestRefused(
                HTTPStatus.HTTP_VERSION_NOT_SUPPORTED, "only HTTP/1.1 and HTTP/1.0 are spoken here"
            )
        path = self._target.decode("ascii")
        self.partial = ReceivedRequest(
            method=parser.get_method().decode("ascii"),
            path=path,
            token=_token(path),
            headers=headers,
            arrived=self._now,
            keep_alive=parser.should_keep_alive(),
            http_1_0=version == "1.0",
        )

    def _check_head_size(self, headers: RawHeaders) -> None:
        if (
            len(self._target) + sum(len(name) + len(value) for name, value in headers)
            > MOST_HEAD_BYTES
        ):
            raise _head_too_long()

    def on_body(self, part: bytes) -> None:
        if not self._body:
            self._body = part
        else:
            # One growing block, since the memory of many small ones is not given back.
            if isinstance(self._body, bytes):
                self._body = bytearray(self._body)
            self._body += part
        if len(self._body) > self._most_body_bytes:
            raise RequestRefused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"the body of the request has more than {self._most_body_bytes} bytes, the most"
                " that the receiver takes: `hookproof receive --max-body BYTES` sets another limit",
            )

    def on_message_complete(self) -> None:
        request = self.partial
        assert request is not None
        if self._parser.should_upgrade():
            self._upgrade_request = request
            return
        request.body, self._body = bytes(self._body), b""
        self._ended = not request.keep_alive
        self.partial = None
        self.whole.append(request)


def _token(path: str) -> str:
    """The first segment of a path, as sent; a target in absolute form is parsed as a URL."""
    matched = FIRST_SEGMENT.match(path)
    if matched:
        return matched[1]
    try:
        return urlsplit(path).path.removeprefix("/").partition("/")[0]
    except ValueError:
        raise MalformedRequest("its target is not a URL") from None


def _head_too_long() -> MalformedRequest:
    return MalformedRequest(f"its head has more than {MOST_HEAD_BYTES} bytes")


def _refusal(error: httptools.HttpParserError) -> Exception:
    """The exception behind a parser error, which may be one that was raised here."""
    if isinstance(error, httptools.HttpParserCallbackError):
        return error.__context__ if isinstance(error.__context__, Exception) else error
    return MalformedRequest(str(error))
