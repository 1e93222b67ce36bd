"""What has arrived, by token, kept within bounds; whoever waits for a number of deliveries is woken
here.

The newest deliveries are in memory; what doesn't fit there goes to disk, and what doesn't fit there
either is dropped, the oldest first, and counted: a reader is always told how many deliveries are
missing from what it was given.
"""

import asyncio
import logging
import sqlite3
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from hookproof.receiver.clock import Instant
from hookproof.receiver.inbox.arrival import Arrival
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.inbox.delivery_filter import ALL, Sieve
from hookproof.receiver.inbox.disk_overflow import PAGE, Spill
from hookproof.receiver.inbox.observer import Audience
from hookproof.receiver.inbox.rate import Rate, rate_of
from hookproof.receiver.inbox.token_log import Tray
from hookproof.receiver.inbox.waiters import Turnstile

LOG: Final = logging.getLogger(__name__)
# How many deliveries are moved at once: few, since the receiver does nothing else meanwhile.
BATCH: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The bounds of an inbox: deliveries and bytes in memory, then bytes on disk."""

    deliveries: int
    memory_bytes: int
    disk_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The answer to a query.

    `complete` says whether as many requests arrived as were waited for; `dropped`, how many of
    those that arrived are missing from `deliveries` for want of room; `more`, whether the limit
    left any out.
    """

    deliveries: tuple[ReceivedDelivery, ...]
    complete: bool
    dropped: int
    more: bool = False


class Inbox:
    """All deliveries of all tokens.

    What arrived is kept at once: a sender that leaves at that moment, which cancels whatever waits
    on its behalf, can't undo it. The `audience` is told of it, and of what becomes of it.
    """

    def __init__(self, room: Room, audience: Audience | None = None) -> None:
        self._room = room
        self._audience = audience or Audience()
        self._trays: dict[str, Tray] = {}
        self._in_memory: deque[Arrival] = deque()
        self._bytes = 0
        self._spill: Spill | None = None
        self._waiting = Turnstile()
        self._clearings = 0

    def issue(self, token: str) -> None:
        """Keep count of a token's requests even when none of them is kept any more."""
        self._trays.setdefault(token, Tray()).issued = True

    def tokens(self) -> tuple[str, ...]:
        """The tokens that were issued, and those of which something is kept."""
        return tuple(self._trays)

    def record(self, arrival: Arrival) -> int:
        """Keep a request, and wake those who wait for it; its sequence number."""
        tray = self._tray(arrival.token)
        arrival.sequence = tray.count(wall=arrival.arrived_at, monotonic=arrival.arrived_monotonic)
        tray.in_memory[arrival.sequence] = arrival
        self._in_memory.append(arrival)
        arrival.weight = arrival.weighed()
        self._bytes += arrival.weight
        if self._bytes > self._room.memory_bytes or len(self._in_memory) > self._room.deliveries:
            self._make_room()
        self._waiting.passed(arrival.token, arrival.sequence)
        for watcher in self._audience.watchers:
            watcher.arrived(arrival.token, arrival.sequence)
        return arrival.sequence

    def drop(self, token: str, at: Instant) -> None:
        """Count a request that arrived and cannot be kept."""
        tray = self._tray(token)
        sequence = tray.count(wall=at.wall, monotonic=at.monotonic)
        tray.leave_out(sequence)
        self._waiting.passed(token, sequence)
        for watcher in self._audience.watchers:
            watcher.arrived(token, sequence)

    def complete(self, arrival: Arrival, *, status: int, at: float) -> None:
        """Note that a delivery was answered whole, at a monotonic time in seconds."""
        arrival.status = status
        arrival.completed_monotonic = at
        self._amended(arrival)

    def close(self, arrival: Arrival, *, at: float) -> None:
        """Note that a delivery's exchange broke off before the answer was whole, at a monotonic
        time in seconds.
        """
        arrival.closed_monotonic = at
        self._amended(arrival)

    async def wait(
        self,
        token: str,
        *,
        after: int,
        count: int,
        timeout_s: float,
        limit: int | None = None,
        sieve: Sieve = ALL,
    ) -> Found:
        """The deliveries of a token with a sequence above `after`, once `count` of them arrived or
        time is up.

        With a `sieve`, only what passes it is counted and found. At most `limit` deliveries are
        found, the first ones.
        """
        try:
            async with asyncio.timeout(timeout_s):
                await self._until(token, after, count, sieve)
        except TimeoutError:
            return await self._found(token, after, limit, sieve, complete=False)
        return await self._found(token, after, limit, sieve, complete=True)

    def find(self, token: str, sequence: int) -> ReceivedDelivery | None:
        """One delivery that is still kept; None for any other."""
        found = self._page(token, sequence - 1, most=1)
        return found[0].delivery() if found and found[0].sequence == sequence else None

    async def rate(self, token: str, window_s: float) -> Rate:
        """When the token's requests came, and how many at most within any window of so many
        seconds.
        """
        tray = self._trays.get(token, Tray())
        times, earlier = tray.times[:], tray.first_time - 1
        return await asyncio.to_thread(
            rate_of, times, window_s, wall_ahead_s=tray.wall_ahead_s, earlier=earlier
        )

    def counts(self, token: str) -> tuple[int, int]:
        """How many requests of a token arrived, and how many of these were dropped."""
        tray = self._trays.get(token, Tray())
        return tray.arrived, tray.dropped(0)

    def clear(self) -> None:
        """Forget all deliveries and tokens."""
        self._forget(tuple(self._trays))
        self._trays.clear()
        self._in_memory.clear()
        self._bytes = 0
        if self._spill is not None:
            self._spill.clear()
        self._clearings += 1
        self._waiting.open()

    def end(self) -> None:
        """Forget everything, and give the disk space back."""
        self.clear()
        if self._spill is not None:
            self._spill.close()
            self._spill = None

    def _tray(self, token: str) -> Tray:
        tray = self._trays.get(token)
        if tray is None:
            tray = self._trays[token] = Tray()
        return tray

    def _amended(self, arrival: Arrival) -> None:
        if arrival.place is not None and self._spill is not None:
            self._spill.amend(arrival)
        for watcher in self._audience.watchers:
            watcher.amended(arrival.token, arrival.sequence)
        if self._audience.on_done is not None:
            self._audience.on_done(arrival.delivery())

    def _forget(self, tokens: tuple[str, ...]) -> None:
        for watcher in self._audience.watchers:
            watcher.forgotten(tokens)

    async def _until(self, token: str, after: int, count: int, sieve: Sieve) -> None:
        """Return when `count` requests above `after` have arrived."""
        if sieve is ALL:
            while self._arrived(token) - after < count:
                await self._waiting.until(token, after + count)
            return
        clearings, seen, passed = self._clearings, after, 0
        while passed < count:
            if clearings != self._clearings:  # sequences begin anew
                clearings, seen, passed = self._clearings, after, 0
            async for arrival in self._kept(token, seen):
                seen = arrival.sequence
                passed += sieve.passes(arrival)
            if passed < count and clearings == self._clearings:
                await self._waiting.until(token, self._arrived(token) + 1)

    def _arrived(self, token: str) -> int:
        tray = self._trays.get(token)
        return tray.arrived if tray else 0

    async def _found(
        self, token: str, after: int, limit: int | None, sieve: Sieve, *, complete: bool
    ) -> Found:
        found: list[ReceivedDelivery] = []
        more = False
        async for arrival in self._kept(token, after):
            if not sieve.passes(arrival):
                continue
            more = len(found) == limit
            if more:
                break
            found.append(arrival.delivery())
        dropped = self._trays.get(token, Tray()).dropped(after)
        return Found(deliveries=tuple(found), complete=complete, dropped=dropped, more=more)

    async def _kept(self, token: str, after: int) -> AsyncIterator[Arrival]:
        """The kept requests above a sequence, in order; requests are taken in between."""
        while page := self._page(token, after):
            for arrival in page:
                yield arrival
            after = page[-1].sequence
            await asyncio.sleep(0)

    def _page(self, token: str, after: int, most: int = PAGE) -> list[Arrival]:
        tray = self._trays.get(token)
        if tray is None:
            return []
        first = next(iter(tray.in_memory), tray.arrived + 1)
        if (
            self._spill is not None
            and after + 1 < first
            and (spilled := self._spill.after(token, after, most))
        ):
            return spilled
        asked = range(max(after + 1, first), tray.arrived + 1)
        return list(islice((tray.in_memory[one] for one in asked if one in tray.in_memory), most))

    def _make_room(self) -> None:
        room = self._room
        while self._bytes > room.memory_bytes or len(self._in_memory) > room.deliveries:
            size = max(1, min(BATCH, len(self._in_memory) // 16)) if room.disk_bytes else 1
            moved = [self._in_memory.popleft() for _ in range(size)]
            self._bytes -= sum(arrival.weight for arrival in moved)
            try:
                self._move(moved)
            except sqlite3.Error as error:
                LOG.warning("deliveries that no longer fit in memory are dropped: %s", error)
                self._lose_the_spilled()

    def _move(self, moved: list[Arrival]) -> None:
        """Put what was taken from memory on disk, if there is room at all."""
        for arrival in moved:
            del self._trays[arrival.token].in_memory[arrival.sequence]
        if not self._room.disk_bytes:
            for arrival in moved:
                self._lose(arrival.token, arrival.sequence)
            return
        if self._spill is None:
            self._spill = Spill()
        self._spill.put(moved)
        while self._spill.bytes > self._room.disk_bytes:
            for token, sequence in self._spill.drop_oldest(BATCH):
                self._lose(token, sequence)

    def _lose(self, token: str, sequence: int) -> None:
        tray = self._trays[token]
        tray.lose_until(sequence)
        # Anyone can send to a token of their own making; only trays that hold something may take up
        # room.
        if tray.empty and not tray.issued:
            del self._trays[token]
            self._forget((token,))

    def _lose_the_spilled(self) -> None:
        """Forget all that is not in memory: the disk is full, or has failed."""
        if self._spill is not None:
            self._spill.close()
            self._spill = None
        for token, tray in tuple(self._trays.items()):
            self._lose(token, next(iter(tray.in_memory), tray.arrived + 1) - 1)
