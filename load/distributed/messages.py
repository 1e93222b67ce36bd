"""What a master and its workers say to each other over Locust's own line, and the command to its
master.

Locust's line is plain text without a password: it belongs into a network that is trusted. No key of
a target is ever on it.
"""

import zlib
from typing import Final, TypeVar

import msgspec

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
    """A worker that is ready: its host, its receiver's URL, its dialect, and which other machine it
    may load.
    """

    name: str
    url: str
    dialect: str
    may_load: str | None


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the command wants of its master next: a run, by the plan of each worker."""

    # The path of a file with the plans, packed, in the order of the workers.
    plans: str
    # The path of the file that is to hold what was gathered, packed.
    result: str


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What the master tells its command: where it listens, who has come, that a run is over, or why
    it gives up.
    """

    port: int | None = None
    workers: list[Hello] = []
    done: bool = False
    problem: str | None = None


def packed(value: msgspec.Struct) -> bytes:
    """A structure as a message carries it."""
    return zlib.compress(msgspec.msgpack.encode(value), level=1)


def unpacked(content: bytes, shape: type[T]) -> T:
    """The structure that `packed` packed."""
    return msgspec.msgpack.decode(zlib.decompress(content), type=shape)
