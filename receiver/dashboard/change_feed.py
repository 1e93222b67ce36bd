"""What is new for the live page: a bounded ring of changes, and cursors that read it.

A page that reads slowly costs nothing but its cursor. When the ring has moved on past a cursor, the
next batch says how many deliveries were skipped. A page that comes back with its last cursor reads
on from there, in the same way.
"""

import asyncio
import re
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Final, NamedTuple

WRITTEN: Final = re.compile(
    r"(?P<epoch>[0-9a-f]{1,32})-(?P<position>[0-9]{1,18})-(?P<arrivals>[0-9]{1,18})"
)

# Tokens that are told to be forgotten one by one.
MOST_FORGOTTEN: Final = 100


class Kind(Enum):
    """What happened: to one delivery, or to all of a token's at once."""

    ARRIVED = "it arrived just now"
    AMENDED = "it was answered, or its sender left"
    JUDGED_ANEW = "the token's deliveries may have another verdict now"
    FORGOTTEN = "the token's deliveries are kept no more, and it counts from 1 again"


class Change(NamedTuple):
    """One thing that happened; `sequence` is 0 if it happened to all of a token's deliveries.

    `arrivals` counts all deliveries that had arrived by then, this one among them. It is a tuple
    since two of them are made for each delivery while its sender waits.
    """

    kind: Kind
    token: str
    sequence: int
    arrivals: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """How far a page has read: changes and arrivals since the feed began in this `epoch`."""

    epoch: str
    position: int
    arrivals: int

    @classmethod
    def parse(cls, text: str) -> "Cursor | None":
        """The cursor behind `str(cursor)`; None for any other text."""
        matched = WRITTEN.fullmatch(text)
        if matched is None:
            return None
        return cls(
            epoch=matched["epoch"],
            position=int(matched["position"]),
            arrivals=int(matched["arrivals"]),
        )

    def __str__(self) -> str:
        return f"{self.epoch}-{self.position}-{self.arrivals}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What a page has to learn next: `changes` in order, after `skipped` deliveries that it missed."""

    changes: tuple[Change, ...]
    skipped: int
    cursor: Cursor


class Feed:
    """The last `most_changes` changes, for any number of readers.

    Noting a change is cheap, since it happens while a sender waits: nothing is rendered until a
    page asks.
    """

    def __init__(self, *, most_changes: int, new_epoch: Callable[[], str]) -> None:
        self._new_epoch = new_epoch
        self._epoch = new_epoch()
        self._ring: deque[Change] = deque(maxlen=most_changes)
        self._noted = 0
        self._arrivals = 0
        self._news = asyncio.Event()
        self._awaited = False
        self.closed = False

    def arrived(self, token: str, sequence: int) -> None:
        """Note a delivery that arrived just now."""
        self._arrivals += 1
        self._note(Kind.ARRIVED, token, sequence)

    def amended(self, token: str, sequence: int) -> None:
        """Note that more is known of a delivery."""
        self._note(Kind.AMENDED, token, sequence)

    def judged_anew(self, token: str) -> None:
        """Note that the token's deliveries may have another verdict now."""
        self._note(Kind.JUDGED_ANEW, token)

    def forgotten(self, tokens: Collection[str]) -> None:
        """Note that nothing of these tokens is kept any more; many tokens make every page start
        again.
        """
        if len(tokens) > MOST_FORGOTTEN:
            self._begin_anew()
            return
        for token in tokens:
            self._note(Kind.FORGOTTEN, token)

    def close(self) -> None:
        """End all waiting: the receiver stops."""
        self.closed = True
        self._wake()

    def beginning(self) -> Cursor:
        """The cursor of a page that has seen nothing."""
        return Cursor(epoch=self._epoch, position=0, arrivals=0)

    def knows(self, cursor: Cursor) -> bool:
        """Whether a cursor is of this epoch, and not ahead of it."""
        return (
            cursor.epoch == self._epoch
            and cursor.position <= self._noted
            and cursor.arrivals <= self._arrivals
        )

    def read(self, cursor: Cursor, *, most: int) -> Batch:
        """The next changes after a cursor that the feed knows, at most `most` of them."""
        oldest = self._noted - len(self._ring)
        begin = max(cursor.position, oldest)
        changes = tuple(islice(self._ring, begin - oldest, begin - oldest + most))
        if not changes:
            return Batch(changes=(), skipped=0, cursor=cursor)
        before = changes[0].arrivals - (changes[0].kind is Kind.ARRIVED)
        return Batch(
            changes=changes,
            skipped=max(0, before - cursor.arrivals),
            cursor=Cursor(
                epoch=self._epoch, position=begin + len(changes), arrivals=changes[-1].arrivals
            ),
        )

    async def wait(self, cursor: Cursor, *, timeout_s: float) -> bool:
        """Whether there is news for a cursor, the end of the feed among it, before time is up."""
        try:
            async with asyncio.timeout(timeout_s):
                while not self.closed and self.knows(cursor) and cursor.position == self._noted:
                    self._awaited = True
                    await self._news.wait()
        except TimeoutError:
            return False
        return True

    def _note(self, kind: Kind, token: str, sequence: int = 0) -> None:
        self._ring.append(Change(kind, token, sequence, self._arrivals))
        self._noted += 1
        if self._awaited:
            self._wake()

    def _begin_anew(self) -> None:
        self._epoch = self._new_epoch()
        self._ring.clear()
        self._noted = self._arrivals = 0
        self._wake()

    def _wake(self) -> None:
        self._awaited = False
        self._news.set()
        self._news = asyncio.Event()
