"""The deliveries that arrived, by token, within bounds.

The newest deliveries are in memory. What does not fit there goes to disk, and what does not fit
there is dropped, the oldest first, and counted: every query reports how many deliveries are missing
from its result.
"""

import asyncio
import logging
import sqlite3
from array import array
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Protocol

from hookproof.receiver.clock import Instant
from hookproof.receiver.inbox.arrival import EVERYTHING, Arrival, DeliveryFilter
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.inbox.disk_overflow import PAGE_SIZE, DiskOverflow
from hookproof.receiver.inbox.rate import Rate, rate_of


class Observer(Protocol):
    """Is notified of every change; must be quick, since a sender waits meanwhile."""

    def arrived(self, token: str, sequence: int) -> None: ...

    def updated(self, token: str, sequence: int) -> None:
        """A request was answered, or its sender left."""
        ...

    def verdicts_changed(self, token: str) -> None:
        """The token has other secrets, so the verdicts of its deliveries may differ."""
        ...

    def forgotten(self, tokens: Collection[str]) -> None:
        """Nothing of these tokens is kept any more; their counts start at 1 again."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Observers:
    """All observers; `on_done` gets each delivery that was answered or broken off.

    `on_done` must not block.
    """

    observers: tuple[Observer, ...] = ()
    on_done: Callable[[ReceivedDelivery], None] | None = None


# How many times of dropped requests are tolerated before they are removed.
SPARE_TIMES: Final = 4096


@dataclass(slots=True, kw_only=True)
class TokenLog:
    """One token's requests, counted from 1.

    Requests from `oldest` on are kept, except for `gaps`, which could not be kept when they came.
    `in_memory` holds the newest by sequence; the others are on disk. `times` are the monotonic
    arrival times from sequence `first_time` on, and `wall_ahead_s` is how far the wall clock was
    ahead of the monotonic clock at the first arrival.
    """

    issued: bool = False
    arrived: int = 0
    oldest: int = 1
    gaps: "array[int]" = field(default_factory=lambda: array("Q"))
    in_memory: dict[int, Arrival] = field(default_factory=dict)
    times: "array[float]" = field(default_factory=lambda: array("d"))
    first_time: int = 1
    wall_ahead_s: float = 0.0

    def count(self, *, wall: float, monotonic: float) -> int:
        """Count a request; return its sequence."""
        if not self.arrived:
            self.wall_ahead_s = wall - monotonic
        self.arrived += 1
        self.times.append(monotonic)
        return self.arrived

    def mark_unkept(self, sequence: int) -> None:
        """Note that a counted request is not kept."""
        self.gaps.append(sequence)
        if sequence == self.oldest:
            self.drop_until(sequence)

    def drop_until(self, sequence: int) -> None:
        """Note that requests up to this sequence are dropped; none may be in memory."""
        self.oldest = max(self.oldest, sequence + 1)
        # A gap directly after a dropped request is dropped with it.
        first = bisect_left(self.gaps, self.oldest)
        while first < len(self.gaps) and self.gaps[first] == self.oldest:
            self.oldest += 1
            first += 1
        del self.gaps[:first]
        # Times are removed in large pieces, since each removal moves all that remain.
        if self.oldest - self.first_time > max(SPARE_TIMES, len(self.times) // 2):
            del self.times[: self.oldest - self.first_time]
            self.first_time = self.oldest

    def dropped(self, after: int) -> int:
        """Return how many of the requests above a sequence are not kept."""
        dropped_so_far = self.oldest - 1
        return (
            max(0, dropped_so_far - after)
            + len(self.gaps)
            - bisect_right(self.gaps, max(after, dropped_so_far))
        )

    @property
    def is_empty(self) -> bool:
        return self.oldest > self.arrived


class Waiters:
    """Tasks that wait for a token's n-th request; it costs nothing for those at other tokens."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[tuple[int, asyncio.Future[None]]]] = {}

    def wake(self, token: str, number: int) -> None:
        """Wake those who wait for this request of the token, or for an earlier one."""
        if self._waiting:
            for wanted, future in self._waiting.get(token, ()):
                if wanted <= number:
                    _wake(future)

    def wake_all(self) -> None:
        for waiters in self._waiting.values():
            for _, future in waiters:
                _wake(future)

    async def wait(self, token: str, number: int) -> None:
        """Return when woken; the caller checks whether the request has arrived."""
        waiter = (number, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(token, []).append(waiter)
        try:
            await waiter[1]
        finally:
            waiters = self._waiting[token]
            waiters.remove(waiter)
            if not waiters:
                del self._waiting[token]


def _wake(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


LOG: Final = logging.getLogger(__name__)
# How many deliveries are moved at once; few, since the receiver does nothing else meanwhile.
BATCH: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxLimits:
    """How much an inbox may hold: deliveries and bytes in memory, then bytes on disk."""

    deliveries: int
    memory_bytes: int
    disk_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    """The result of a query.

    `complete` says whether as many requests arrived as were waited for. `dropped` is how many of
    those that arrived are missing from `deliveries` because they were dropped. `more` says whether
    the limit left any out.
    """

    deliveries: tuple[ReceivedDelivery, ...]
    complete: bool
    dropped: int
    more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLimits:
    """When a page is full; None for no limit."""

    deliveries: int | None
    memory_bytes: int | None

    def is_full(self, deliveries: int, memory_bytes: int) -> bool:
        return deliveries == self.deliveries or (
            self.memory_bytes is not None and memory_bytes >= self.memory_bytes
        )


class Inbox:
    """All deliveries of all tokens.

    An arrival is recorded synchronously, so a sender that disconnects at once, which cancels the
    task that serves it, cannot undo it. The `observers` are notified of each change.
    """

    def __init__(self, limits: InboxLimits, observers: Observers | None = None) -> None:
        self._limits = limits
        self._observers = observers or Observers()
        self._logs: dict[str, TokenLog] = {}
        self._in_memory: deque[Arrival] = deque()
        self._bytes = 0
        self._overflow: DiskOverflow | None = None
        self._waiters = Waiters()
        self._clearings = 0
        # When the last request of any token came, on the monotonic clock.
        self.latest_at: float | None = None

    def issue(self, token: str) -> None:
        """Keep a token's counts even when none of its requests is kept any more."""
        self._logs.setdefault(token, TokenLog()).issued = True

    def tokens(self) -> tuple[str, ...]:
        """Return the issued tokens, and those of which something is kept."""
        return tuple(self._logs)

    def record(self, arrival: Arrival) -> int:
        """Keep a request, wake those who wait for it, and return its sequence."""
        log = self._log_for(arrival.token)
        arrival.sequence = log.count(wall=arrival.arrived_at, monotonic=arrival.arrived_monotonic)
        log.in_memory[arrival.sequence] = arrival
        self.latest_at = arrival.arrived_monotonic
        self._in_memory.append(arrival)
        arrival.weight = arrival.memory_bytes()
        self._bytes += arrival.weight
        if (
            self._bytes > self._limits.memory_bytes
            or len(self._in_memory) > self._limits.deliveries
        ):
            self._shrink_memory()
        self._waiters.wake(arrival.token, arrival.sequence)
        for observer in self._observers.observers:
            observer.arrived(arrival.token, arrival.sequence)
        return arrival.sequence

    def drop(self, token: str, at: Instant) -> None:
        """Count a request that arrived and cannot be kept."""
        log = self._log_for(token)
        sequence = log.count(wall=at.wall, monotonic=at.monotonic)
        log.mark_unkept(sequence)
        self.latest_at = at.monotonic
        self._waiters.wake(token, sequence)
        for observer in self._observers.observers:
            observer.arrived(token, sequence)

    def complete(self, arrival: Arrival, *, status: int, at: float) -> None:
        """Note that a delivery was answered completely; `at` is a monotonic time in seconds."""
        arrival.status = status
        arrival.completed_monotonic = at
        self._notify_updated(arrival)

    def close(self, arrival: Arrival, *, at: float) -> None:
        """Note that an exchange ended before its answer was complete.

        `at` is a monotonic time in seconds.
        """
        arrival.closed_monotonic = at
        self._notify_updated(arrival)

    async def wait(
        self,
        token: str,
        *,
        after: int,
        count: int,
        timeout_s: float,
        limit: int | None = None,
        most_bytes: int | None = None,
        delivery_filter: DeliveryFilter = EVERYTHING,
    ) -> QueryResult:
        """Return a token's deliveries above `after` once `count` of them arrived or time is up.

        With a `delivery_filter`, only matching deliveries are counted and returned. At most `limit`
        deliveries are returned, the first ones, and no further one once they hold `most_bytes`.
        """
        page = PageLimits(deliveries=limit, memory_bytes=most_bytes)
        try:
            async with asyncio.timeout(timeout_s):
                await self._wait_for_count(token, after, count, delivery_filter)
        except TimeoutError:
            return await self._query(token, after, page, delivery_filter, complete=False)
        return await self._query(token, after, page, delivery_filter, complete=True)

    def find(self, token: str, sequence: int) -> ReceivedDelivery | None:
        """Return one delivery if it is still kept."""
        arrivals = self._page(token, sequence - 1, limit=1)
        if not arrivals or arrivals[0].sequence != sequence:
            return None
        return arrivals[0].delivery()

    async def rate(self, token: str, window_s: float) -> Rate:
        """Return the token's arrival rate over a sliding window."""
        log = self._logs.get(token, TokenLog())
        times, earlier = log.times[:], log.first_time - 1
        return await asyncio.to_thread(
            rate_of, times, window_s, wall_ahead_s=log.wall_ahead_s, earlier=earlier
        )

    def counts(self, token: str) -> tuple[int, int]:
        """Return how many requests of a token arrived, and how many of these were dropped."""
        log = self._logs.get(token, TokenLog())
        return log.arrived, log.dropped(0)

    def clear(self) -> None:
        self._notify_forgotten(tuple(self._logs))
        self._logs.clear()
        self._in_memory.clear()
        self._bytes = 0
        self.latest_at = None
        if self._overflow is not None:
            self._overflow.clear()
        self._clearings += 1
        self._waiters.wake_all()

    def end(self) -> None:
        """Forget everything and free the disk space."""
        self.clear()
        if self._overflow is not None:
            self._overflow.close()
            self._overflow = None

    def _log_for(self, token: str) -> TokenLog:
        log = self._logs.get(token)
        if log is None:
            log = self._logs[token] = TokenLog()
        return log

    def _notify_updated(self, arrival: Arrival) -> None:
        if arrival.place is not None and self._overflow is not None:
            self._overflow.update(arrival)
        for observer in self._observers.observers:
            observer.updated(arrival.token, arrival.sequence)
        if self._observers.on_done is not None:
            delivery = self.find(arrival.token, arrival.sequence) if arrival.place else None
            self._observers.on_done(delivery or arrival.delivery())

    def _notify_forgotten(self, tokens: tuple[str, ...]) -> None:
        for observer in self._observers.observers:
            observer.forgotten(tokens)

    async def _wait_for_count(
        self, token: str, after: int, count: int, delivery_filter: DeliveryFilter
    ) -> None:
        """Return when `count` matching requests above `after` have arrived."""
        if delivery_filter is EVERYTHING:
            while self._arrived(token) - after < count:
                await self._waiters.wait(token, after + count)
            return
        clearings, read_until, matched = self._clearings, after, 0
        while matched < count:
            if clearings != self._clearings:  # cleared: sequences start at 1 again
                clearings, read_until, matched = self._clearings, after, 0
            async for arrival in self._iterate_kept(token, read_until):
                read_until = arrival.sequence
                if delivery_filter.matches(arrival):
                    matched += 1
            if matched < count and clearings == self._clearings:
                await self._waiters.wait(token, self._arrived(token) + 1)

    def _arrived(self, token: str) -> int:
        log = self._logs.get(token)
        return log.arrived if log else 0

    async def _query(
        self,
        token: str,
        after: int,
        page: PageLimits,
        delivery_filter: DeliveryFilter,
        *,
        complete: bool,
    ) -> QueryResult:
        deliveries: list[ReceivedDelivery] = []
        more, held_bytes = False, 0
        async for arrival in self._iterate_kept(token, after):
            if not delivery_filter.matches(arrival):
                continue
            more = page.is_full(len(deliveries), held_bytes)
            if more:
                break
            deliveries.append(arrival.delivery())
            held_bytes += arrival.memory_bytes()
        dropped = self._logs.get(token, TokenLog()).dropped(after)
        return QueryResult(
            deliveries=tuple(deliveries), complete=complete, dropped=dropped, more=more
        )

    async def _iterate_kept(self, token: str, after: int) -> AsyncIterator[Arrival]:
        """The kept requests above a sequence, in order.

        Yields to the event loop between pages, so that requests are received meanwhile.
        """
        while page := self._page(token, after):
            for arrival in page:
                yield arrival
            after = page[-1].sequence
            await asyncio.sleep(0)

    def _page(self, token: str, after: int, limit: int = PAGE_SIZE) -> list[Arrival]:
        log = self._logs.get(token)
        if log is None:
            return []
        first = next(iter(log.in_memory), log.arrived + 1)
        if self._overflow is not None and after + 1 < first:
            on_disk = self._overflow.read_after(token, after, limit)
            if on_disk:
                return on_disk
        wanted = range(max(after + 1, first), log.arrived + 1)
        kept = (log.in_memory[sequence] for sequence in wanted if sequence in log.in_memory)
        return list(islice(kept, limit))

    def _shrink_memory(self) -> None:
        limits = self._limits
        while self._bytes > limits.memory_bytes or len(self._in_memory) > limits.deliveries:
            size = max(1, min(BATCH, len(self._in_memory) // 16)) if limits.disk_bytes else 1
            moved = [self._in_memory.popleft() for _ in range(size)]
            self._bytes -= sum(arrival.weight for arrival in moved)
            try:
                self._move_to_disk(moved)
            except sqlite3.Error as error:
                LOG.warning("deliveries that no longer fit in memory are dropped: %s", error)
                self._drop_overflow()

    def _move_to_disk(self, moved: list[Arrival]) -> None:
        """Move arrivals from memory to disk, or drop them without disk space."""
        for arrival in moved:
            del self._logs[arrival.token].in_memory[arrival.sequence]
        if not self._limits.disk_bytes:
            for arrival in moved:
                self._mark_lost(arrival.token, arrival.sequence)
            return
        if self._overflow is None:
            self._overflow = DiskOverflow()
        self._overflow.put(moved)
        while self._overflow.bytes > self._limits.disk_bytes:
            for token, sequence in self._overflow.drop_oldest(BATCH):
                self._mark_lost(token, sequence)

    def _mark_lost(self, token: str, sequence: int) -> None:
        log = self._logs[token]
        log.drop_until(sequence)
        # Anyone can send to a token that was not issued; its log is removed once it is empty.
        if log.is_empty and not log.issued:
            del self._logs[token]
            self._notify_forgotten((token,))

    def _drop_overflow(self) -> None:
        """Drop everything that is not in memory: the disk is full, or has failed."""
        if self._overflow is not None:
            self._overflow.close()
            self._overflow = None
        for token, log in tuple(self._logs.items()):
            self._mark_lost(token, next(iter(log.in_memory), log.arrived + 1) - 1)
