"""The bytes of a scripted answer.

They are assembled here because an HTTP library would normalize them. Nothing here does input or
output: `ReplySender` sends what `head_bytes` and `body_pieces` return.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from itertools import cycle, repeat
from typing import Final, Literal

from hookproof.receiver.replies.script import FRAMING_HEADERS, STATUSES_WITHOUT_BODY, Reply

# The largest piece that is sent or compressed at once.
PIECE_BYTES: Final = 2**16
WINDOW_BITS: Final = {"gzip": 31, "deflate": 15}
FASTEST_LEVEL: Final = 1
LAST_CHUNK: Final = b"0\r\n\r\n"
# What one server says to the other about their connection (RFC 9110, 7.6.1).
OF_A_CONNECTION: Final = FRAMING_HEADERS | {"keep-alive", "trailer", "upgrade", "proxy-connection"}

Framing = Literal["length", "chunked", "close"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transmission:
    """How an answer is sent: how its end is marked, whether the connection closes, and when.

    `now` is in Unix seconds.
    """

    framing: Framing
    close: bool
    now: float


def transmission_of(reply: Reply, *, keep_alive: bool, http_1_0: bool, now: float) -> Transmission:
    """Choose how a reply is sent on a connection; `now` is in Unix seconds."""
    is_length_known = not reply.drip_s and not (reply.compressed and reply.body_bytes is not None)
    framing: Framing = reply.framing or ("length" if is_length_known else "chunked")
    if http_1_0 and framing == "chunked":
        framing = "close"
    close = not keep_alive or http_1_0 or framing == "close" or reply.cut is not None
    return Transmission(framing=framing, close=close, now=now)


def head_bytes(reply: Reply, transmission: Transmission) -> bytes:
    """The status line and the headers, including the empty line."""
    lines = [b"HTTP/1.1 %d %s" % (reply.status, _phrase(reply.status))]
    if not any(name.lower() == "date" for name, _ in reply.headers):
        lines.append(b"Date: " + _date(int(transmission.now)))
    lines += _scripted_headers(reply, transmission.now)
    if reply.status not in STATUSES_WITHOUT_BODY:
        lines += _framing_headers(reply, transmission)
    if transmission.close:
        lines.append(b"Connection: close")
    return b"\r\n".join(lines) + b"\r\n\r\n"


def body_pieces(reply: Reply, transmission: Transmission) -> Iterator[bytes]:
    """The body as sent, in pieces of bounded size; endless for a reply with `drip_s`."""
    if reply.status in STATUSES_WITHOUT_BODY:
        return
    content = _single_bytes(reply) if reply.drip_s else _encoded_body(reply)
    if transmission.framing != "chunked":
        yield from content
        return
    for piece in content:
        yield b"%x\r\n%s\r\n" % (len(piece), piece)
    yield LAST_CHUNK


def first_half_of_body(reply: Reply, transmission: Transmission) -> Iterator[bytes]:
    """About the first half of the bytes of the body, and never all of them."""
    missing = max(1, reply.uncompressed_length // 2)
    held_back = b""
    for piece in body_pieces(reply, transmission):
        if held_back:
            yield held_back[:missing]
            missing -= len(held_back)
        if missing <= 0:
            return
        held_back = piece
    yield held_back[: min(missing, len(held_back) // 2)]


def interim_answer(status: int) -> bytes:
    return b"HTTP/1.1 %d %s\r\n\r\n" % (status, _phrase(status))


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayedAnswer:
    """The answer of another server, which is passed on; its framing is made anew."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def relayed_answer(
    answer: RelayedAnswer, *, keep_alive: bool, http_1_0: bool, head_only: bool
) -> bytes:
    """All bytes of an answer that is passed on."""
    lines = [b"HTTP/1.1 %d %s" % (answer.status, _phrase(answer.status))]
    lines += [
        f"{name}: {value}".encode("latin-1")
        for name, value in answer.headers
        if name.lower() not in OF_A_CONNECTION
    ]
    has_body = answer.status not in STATUSES_WITHOUT_BODY
    if has_body:
        lines.append(b"Content-Length: %d" % len(answer.body))
    if not keep_alive or http_1_0:
        lines.append(b"Connection: close")
    head = b"\r\n".join(lines) + b"\r\n\r\n"
    return head + (answer.body if has_body and not head_only else b"")


RETRY_SOON: Final = (("Retry-After", "1"),)


def refusal_answer(status: HTTPStatus, why: str, now: float) -> bytes:
    """A complete answer that says why a request is refused and closes the connection."""
    headers = (("Content-Type", "text/plain; charset=utf-8"),)
    reply = Reply(
        status=status.value,
        headers=headers + RETRY_SOON if status is HTTPStatus.SERVICE_UNAVAILABLE else headers,
        body=why + "\n",
    )
    transmission = Transmission(framing="length", close=True, now=now)
    return head_bytes(reply, transmission) + b"".join(body_pieces(reply, transmission))


@lru_cache(maxsize=4)
def default_answer(second: int) -> bytes:
    """The complete default answer on a connection that stays, at a time in Unix seconds."""
    return b"HTTP/1.1 200 OK\r\nDate: %s\r\nContent-Length: 0\r\n\r\n" % _date(second)


@lru_cache(maxsize=4)
def _date(second: int) -> bytes:
    return formatdate(second, usegmt=True).encode("ascii")


@lru_cache(maxsize=64)
def _phrase(status: int) -> bytes:
    try:
        return HTTPStatus(status).phrase.encode("ascii")
    except ValueError:
        return b""


def _scripted_headers(reply: Reply, now: float) -> Iterator[bytes]:
    for name, value in reply.headers:
        lines = (value,) if isinstance(value, str) else value
        yield f"{name}: ".encode() + b"\r\n ".join(line.encode(reply.headers_in) for line in lines)
    for number in range(reply.filler_headers):
        yield b"X-Filler-%d: filler" % number
    if reply.retry_after_s is not None:
        by_date = reply.retry_after_as == "date"
        wait = _date(int(now) + reply.retry_after_s) if by_date else b"%d" % reply.retry_after_s
        yield b"Retry-After: " + wait


def _framing_headers(reply: Reply, transmission: Transmission) -> Iterator[bytes]:
    if reply.compressed:
        yield b"Content-Encoding: " + reply.compressed.encode("ascii")
    if transmission.framing == "chunked":
        yield b"Transfer-Encoding: chunked"
    elif transmission.framing == "length":
        yield b"Content-Length: %d" % _body_length(reply)


def _body_length(reply: Reply) -> int:
    if reply.body_bytes is not None and not reply.compressed:
        return reply.body_bytes
    return sum(map(len, _encoded_body(reply)))


def _single_bytes(reply: Reply) -> Iterator[bytes]:
    return (byte.to_bytes() for byte in cycle(reply.body.encode() or b" "))


def _encoded_body(reply: Reply) -> Iterator[bytes]:
    """The body in pieces, none of them empty, compressed if the reply asks for it."""
    if reply.compressed is None:
        yield from _repeated_body(reply)
        return
    compressor = zlib.compressobj(level=FASTEST_LEVEL, wbits=WINDOW_BITS[reply.compressed])
    for piece in _repeated_body(reply):
        if compressed := compressor.compress(piece):
            yield compressed
    yield compressor.flush()


def _repeated_body(reply: Reply) -> Iterator[bytes]:
    body = reply.body.encode()
    if reply.body_bytes is None:
        if body:
            yield body
        return
    unit = body or b" "
    block = unit * max(1, PIECE_BYTES // len(unit))
    whole, rest = divmod(reply.body_bytes, len(block))
    yield from repeat(block, whole)
    if rest:
        yield block[:rest]
