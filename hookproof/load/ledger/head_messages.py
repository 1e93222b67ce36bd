"""The messages between a command and the head of its runs, lines of JSON on pipes.

The head is the process that leads a run: the only generator, or the master of several.
"""

import zlib
from typing import TypeVar

import msgspec

from hookproof.load.ledger.run_progress import RunProgress
from hookproof.load.plan import LoadPlan

T = TypeVar("T")


class Hello(msgspec.Struct, frozen=True, kw_only=True):
    """A worker is ready; `may_load` is the other machine that it may load. Without a
    `dialect` of its own it takes that of the plan.
    """

    name: str
    url: str
    dialect: str | None
    may_load: str | None


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The command's request for a run, with the plans in the order of the workers."""

    plans: list[LoadPlan]


class HeadReply(msgspec.Struct, frozen=True, kw_only=True):
    """What a head replies: a master its port and then its workers; in a run, twice a second, the
    progress, and at last what was gathered, packed; or a problem.
    """

    port: int | None = None
    workers: list[Hello] = []
    progress: RunProgress | None = None
    result: bytes = b""
    problem: str | None = None


def packed(value: msgspec.Struct) -> bytes:
    """The bytes of a structure in a message."""
    return zlib.compress(msgspec.msgpack.encode(value), level=1)


def unpacked(content: bytes, shape: type[T]) -> T:
    """The structure that `packed` was called with."""
    return msgspec.msgpack.decode(zlib.decompress(content), type=shape)
