"""The bytes of a scripted answer, put together without any HTTP library, which would tidy them up.

Nothing here does input or output: `head` and `pieces` say what to send, the player sends it.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from itertools import cycle, repeat
from typing import Final, Literal

from hookproof.receiver.replies.script import BODILESS, Reply

# What is sent, or compressed, in one go.
PIECE_BYTES: Final = 2**16
WINDOW_BITS: Final = {"gzip": 31, "deflate": 15}
FAST: Final = 1
LAST_CHUNK: Final = b"0\r\n\r\n"

Framing = Literal["length", "chunked", "close"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How one answer goes on the wire: how its end is told, whether the connection ends with it,
    and when it is.
    """

    framing: Framing
    close: bool
    now: float


def manner_of(reply: Reply, *, keep_alive: bool, http_1_0: bool, now: float) -> Manner:
    """The manner of a reply on a connection; `now` is in Unix seconds."""
    known = not reply.drip_s and not (reply.compressed and reply.body_bytes is not None)
    framing: Framing = reply.framing or ("length" if known else "chunked")
    if http_1_0 and framing == "chunked":
        framing = "close"
    close = not keep_alive or http_1_0 or framing == "close" or reply.cut is not None
    return Manner(framing=framing, close=close, now=now)


def head(reply: Reply, manner: Manner) -> bytes:
    """The status line and the headers, the empty line included."""
    lines = [b"HTTP/1.1 %d %s" % (reply.status, _phrase(reply.status))]
    if not any(name.lower() == "date" for name, _ in reply.headers):
        lines.append(b"Date: " + _date(int(manner.now)))
    lines += _scripted(reply, manner.now)
    if reply.status not in BODILESS:
        lines += _framed(reply, manner)
    if manner.close:
        lines.append(b"Connection: close")
    return b"\r\n".join(lines) + b"\r\n\r\n"


def pieces(reply: Reply, manner: Manner) -> Iterator[bytes]:
    """The body as it goes on the wire, in pieces that are bounded however long it is; endless for
    one that drips.
    """
    if reply.status in BODILESS:
        return
    plain = _bytewise(reply) if reply.drip_s else _encoded(reply)
    if manner.framing != "chunked":
        yield from plain
        return
    for piece in plain:
        yield b"%x\r\n%s\r\n" % (len(piece), piece)
    yield LAST_CHUNK


def first_half(reply: Reply, manner: Manner) -> Iterator[bytes]:
    """About the first half of the body's bytes; of what is sent, never all."""
    wanted = max(
        1, (len(reply.body.encode()) if reply.body_bytes is None else reply.body_bytes) // 2
    )
    held = b""
    for piece in pieces(reply, manner):
        if held:
            yield held[:wanted]
            wanted -= len(held)
        if wanted <= 0:
            return
        held = piece
    yield held[: min(wanted, len(held) // 2)]


def interim(status: int) -> bytes:
    """An interim answer."""
    return b"HTTP/1.1 %d %s\r\n\r\n" % (status, _phrase(status))


def refusing(status: HTTPStatus, why: str, now: float) -> bytes:
    """A whole answer that says in words why a request is not taken, and ends the connection."""
    reply = Reply(
        status=status.value,
        headers=(("Content-Type", "text/plain; charset=utf-8"),),
        body=why + "\n",
    )
    manner = Manner(framing="length", close=True, now=now)
    return head(reply, manner) + b"".join(pieces(reply, manner))


@lru_cache(maxsize=4)
def default_head(second: int) -> bytes:
    """The whole default answer on a connection that stays, at a time in Unix seconds."""
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


def _scripted(reply: Reply, now: float) -> Iterator[bytes]:
    for name, value in reply.headers:
        lines = (value,) if isinstance(value, str) else value
        yield f"{name}: ".encode() + b"\r\n ".join(line.encode(reply.headers_in) for line in lines)
    for number in range(reply.filler_headers):
        yield b"X-Filler-%d: filler" % number
    if reply.retry_after_s is not None:
        by_date = reply.retry_after_as == "date"
        told = _date(int(now) + reply.retry_after_s) if by_date else b"%d" % reply.retry_after_s
        yield b"Retry-After: " + told


def _framed(reply: Reply, manner: Manner) -> Iterator[bytes]:
    if reply.compressed:
        yield b"Content-Encoding: " + reply.compressed.encode("ascii")
    if manner.framing == "chunked":
        yield b"Transfer-Encoding: chunked"
    elif manner.framing == "length":
        yield b"Content-Length: %d" % _length(reply)


def _length(reply: Reply) -> int:
    if reply.body_bytes is not None and not reply.compressed:
        return reply.body_bytes
    return sum(map(len, _encoded(reply)))


def _bytewise(reply: Reply) -> Iterator[bytes]:
    return (byte.to_bytes() for byte in cycle(reply.body.encode() or b" "))


def _encoded(reply: Reply) -> Iterator[bytes]:
    """The body in pieces, none of them empty, compressed if it is to be."""
    if reply.compressed is None:
        yield from _repeated(reply)
        return
    compressor = zlib.compressobj(level=FAST, wbits=WINDOW_BITS[reply.compressed])
    for piece in _repeated(reply):
        if made := compressor.compress(piece):
            yield made
    yield compressor.flush()


def _repeated(reply: Reply) -> Iterator[bytes]:
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
