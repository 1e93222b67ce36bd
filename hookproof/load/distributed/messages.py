"""The messages between a master, its workers and the command.

Master and workers use Locust's own connection. It is plain text without a password, so it belongs
in a trusted network. The key of a target is never sent over it.
"""

import zlib
from typing import Final, TypeVar

import msgspec

from hookproof.load.plan import LoadPlan

HELLO: Final = "hookproof-hello"
DISMISSED: Final = "hookproof-dismissed"
RUN: Final = "hookproof-run"
TALLY: Final = "hookproof-tally"
INTERRUPT: Final = "hookproof-interrupt"
CONCLUDE: Final = "hookproof-conclude"
SHARE: Final = "hookproof-share"
# Locust's own: its statistics since the last time.
STATS: Final = "stats"

T = TypeVar("T")


class Hello(msgspec.Struct, frozen=True, kw_only=True):
    """A worker is ready; `may_load` is the other machine that it may load."""

    name: str
    url: str
    dialect: str
    may_load: str | None


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The command's request for a run, with the plans in the order of the workers."""

    plans: list[LoadPlan]


class MasterReply(msgspec.Struct, frozen=True, kw_only=True):
    """The master's reply to its command: its port, its workers, what a run has gathered, packed, or
    a problem.
    """

    port: int | None = None
    workers: list[Hello] = []
    result: bytes = b""
    problem: str | None = None


def packed(value: msgspec.Struct) -> bytes:
    """The bytes of a structure in a message."""
    return zlib.compress(msgspec.msgpack.encode(value), level=1)


def unpacked(content: bytes, shape: type[T]) -> T:
    """The structure that `packed` was called with."""
    return msgspec.msgpack.decode(zlib.decompress(content), type=shape)
