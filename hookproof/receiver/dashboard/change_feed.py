"""The changes that the live page has not seen yet: a bounded ring, and cursors that read it.

A page that reads slowly costs nothing but its cursor. When the ring has moved past a cursor, the
next batch reports how many deliveries were skipped. A page that reconnects with its last cursor
continues from there in the same way.
"""

import asyncio
import re
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Final, NamedTuple

CURSOR_TEXT: Final = re.compile(
    r"(?P<epoch>[0-9a-f]{1,32})-(?P<position>[0-9]{1,18})-(?P<arrivals>[0-9]{1,18})"
)

# How many forgotten tokens are reported one by one.
MOST_FORGOTTEN: Final = 100


class ChangeKind(Enum):
    """What happened, to one delivery or to all of a token's deliveries."""

    ARRIVED = "the delivery arrived"
    UPDATED = "the delivery was answered, or its sender left"
    VERDICTS_CHANGED = "the verdicts of the token's deliveries may differ now"
    FORGOTTEN = "the token's deliveries are no longer kept, and its count starts at 1 again"


class FeedChange(NamedTuple):
    """One change; `sequence` is 0 if it concerns all of a token's deliveries.

    `arrivals` counts all deliveries that had arrived by then, including this one. It is a tuple
    since two are made for each delivery while its sender waits.
    """

    kind: ChangeKind
    token: str
    sequence: int
    arrivals: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """How far a page has read: changes and arrivals since the feed started this `epoch`."""

    epoch: str
    position: int
    arrivals: int

    @classmethod
    def parse(cls, text: str) -> "Cursor | None":
        """Read what `str(cursor)` returns; None for any other text."""
        matched = CURSOR_TEXT.fullmatch(text)
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
    """What a page reads next: `changes` in order, after `skipped` deliveries that it missed."""

    changes: tuple[FeedChange, ...]
    skipped: int
    cursor: Cursor


class ChangeFeed:
    """The last `most_changes` changes, for any number of readers.

    Noting a change is cheap, since a sender waits meanwhile: nothing is rendered until a page asks.
    """

    def __init__(self, *, most_changes: int, new_epoch: Callable[[], str]) -> None:
        self._new_epoch = new_epoch
        self._epoch = new_epoch()
        self._ring: deque[FeedChange] = deque(maxlen=most_changes)
        self._change_count = 0
        self._arrivals = 0
        self._changed = asyncio.Event()
        self._has_waiter = False
        self.closed = False

    def arrived(self, token: str, sequence: int) -> None:
        self._arrivals += 1
        self._note(ChangeKind.ARRIVED, token, sequence)

    def updated(self, token: str, sequence: int) -> None:
        self._note(ChangeKind.UPDATED, token, sequence)

    def verdicts_changed(self, token: str) -> None:
        self._note(ChangeKind.VERDICTS_CHANGED, token)

    def forgotten(self, tokens: Collection[str]) -> None:
        """Note that nothing of these tokens is kept any more.

        Many tokens at once make every page start again.
        """
        if len(tokens) > MOST_FORGOTTEN:
            self._start_epoch()
            return
        for token in tokens:
            self._note(ChangeKind.FORGOTTEN, token)

    def close(self) -> None:
        """End all waiting, since the receiver stops."""
        self.closed = True
        self._wake()

    def beginning(self) -> Cursor:
        """The cursor of a page that has seen nothing."""
        return Cursor(epoch=self._epoch, position=0, arrivals=0)

    def knows(self, cursor: Cursor) -> bool:
        """Whether a cursor belongs to this epoch and is not ahead of it."""
        return (
            cursor.epoch == self._epoch
            and cursor.position <= self._change_count
            and cursor.arrivals <= self._arrivals
        )

    def read(self, cursor: Cursor, *, most: int) -> Batch:
        """Read at most `most` changes after a known cursor."""
        oldest = self._change_count - len(self._ring)
        begin = max(cursor.position, oldest)
        changes = tuple(islice(self._ring, begin - oldest, begin - oldest + most))
        if not changes:
            return Batch(changes=(), skipped=0, cursor=cursor)
        arrivals_before = changes[0].arrivals
        if changes[0].kind is ChangeKind.ARRIVED:
            arrivals_before -= 1
        return Batch(
            changes=changes,
            skipped=max(0, arrivals_before - cursor.arrivals),
            cursor=Cursor(
                epoch=self._epoch, position=begin + len(changes), arrivals=changes[-1].arrivals
            ),
        )

    async def wait(self, cursor: Cursor, *, timeout_s: float) -> bool:
        """Wait for changes after a cursor.

        Returns whether there are any, or the feed has ended, before the timeout.
        """
        try:
            async with asyncio.timeout(timeout_s):
                while (
                    not self.closed and self.knows(cursor) and cursor.position == self._change_count
                ):
                    self._has_waiter = True
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def _note(self, kind: ChangeKind, token: str, sequence: int = 0) -> None:
        self._ring.append(FeedChange(kind, token, sequence, self._arrivals))
        self._change_count += 1
        if self._has_waiter:
            self._wake()

    def _start_epoch(self) -> None:
        self._epoch = self._new_epoch()
        self._ring.clear()
        self._change_count = self._arrivals = 0
        self._wake()

    def _wake(self) -> None:
        self._has_waiter = False
        self._changed.set()
        self._changed = asyncio.Event()
