"""The queues of the endpoints that have work: one by itself, the order of turns, and idle ones."""

import asyncio
from collections import deque
from collections.abc import Callable
from math import ceil
from typing import Final

from hookproof.mockserver.delivery.scheduling.rate_limit import SlidingWindow
from hookproof.mockserver.delivery.store_port import (
    Clock,
    DeliveryStore,
    EndpointSettings,
    PendingDelivery,
)


class EndpointQueue:
    """What the engine remembers of one endpoint while it has work; without work it is removed.

    `width` is the number of attempts that may run at once: it starts at one, grows with every
    response and is halved by every attempt without one, so that an endpoint that hangs soon
    occupies a single connection. `under_way` are the deliveries that are still pending in the store
    because their result is not written yet. `buffer` was read ahead; its last item is the next
    delivery. `may_have_more`: whether the store may hold further pending deliveries.
    """

    __slots__ = (
        "attempts",
        "buffer",
        "endpoint_uid",
        "in_idle_queues",
        "in_ready_queue",
        "is_paused",
        "limiter",
        "may_have_more",
        "timer",
        "under_way",
        "width",
    )

    def __init__(self, endpoint_uid: str) -> None:
        self.endpoint_uid = endpoint_uid
        self.width = 1
        self.attempts = 0
        self.under_way: set[int] = set()
        self.buffer: list[PendingDelivery] = []
        self.may_have_more = True
        self.in_ready_queue = False
        self.is_paused = False
        self.in_idle_queues = False
        self.limiter: SlidingWindow | None = None
        self.timer: asyncio.TimerHandle | None = None

    @property
    def has_more(self) -> bool:
        """Whether a delivery is buffered or may be in the store."""
        return self.may_have_more or bool(self.buffer)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is left except possibly attempts that a rate limit counts."""
        return not self.under_way and not self.has_more

    def next_delivery(self, store: DeliveryStore, batch: int) -> PendingDelivery | None:
        """Return the next delivery, reading up to `batch` from the store if none is buffered.

        Returns None if all pending deliveries are under way.
        """
        if not self.buffer and self.may_have_more:
            limit = len(self.under_way) + batch
            pending = store.pending(self.endpoint_uid, limit)
            self.may_have_more = len(pending) >= limit
            self.buffer = [
                delivery for delivery in reversed(pending) if delivery.id not in self.under_way
            ]
        return self.buffer[-1] if self.buffer else None

    def discard_buffer(self) -> None:
        """Forget the deliveries that were read and not started; they are still in the store."""
        self.buffer.clear()
        self.may_have_more = True

    def adapt_width(self, *, answered: bool, bound: int) -> None:
        self.width = min(bound, self.width + 1) if answered else max(1, self.width // 2)

    def call_later(self, delay_s: float, callback: Callable[["EndpointQueue"], None]) -> None:
        """Call `callback` after a delay, replacing a call that is already scheduled."""
        self.cancel_call()
        self.timer = asyncio.get_running_loop().call_later(max(delay_s, 0.001), callback, self)

    def cancel_call(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def new_window(self, limit: int, window_s: float) -> SlidingWindow:
        return SlidingWindow(limit, window_s)

    def update_limiter(
        self,
        endpoint: EndpointSettings,
        store: DeliveryStore,
        clock: Clock,
        now: float,
        began: float,
    ) -> SlidingWindow | None:
        """Return the rate limiter for the current settings, or None without a rate limit.

        `now` is monotonic. Attempts of an earlier process, which ended before `began` (unix
        seconds), still count and are read from the store. Those of this process are not, because a
        queue is kept while any of its attempts counts.
        """
        limit, window_s = endpoint.rate_limit, endpoint.rate_window_s
        if limit is None:
            self.limiter = None
        elif self.limiter is None or (self.limiter.limit, self.limiter.window_s) != (
            limit,
            window_s,
        ):
            self.limiter = self.new_window(limit, window_s)
            wall, longest = clock(), longest_attempt_s(endpoint)
            since = wall - counted_s(endpoint)
            if since < began:
                starts = store.recent_starts(self.endpoint_uid, since)
                self.limiter.restore(
                    now - max(0.0, wall - start - longest) for start in starts if start < began
                )
        return self.limiter


def longest_attempt_s(endpoint: EndpointSettings) -> float:
    """Return how long after its start a request may still arrive.

    Twice the timeout, because the attempt may fetch a token first, with the same timeout.
    """
    return 2 * endpoint.http_timeout_s


def counted_s(endpoint: EndpointSettings) -> float:
    """Return how long after its start an attempt may count against the rate limit."""
    return endpoint.rate_window_s + longest_attempt_s(endpoint)


class ReadyQueue:
    """The endpoint queues in the order of their turns, each at most once.

    Queues with a backlog take turns (round robin). A queue that had nothing to do until now waits
    in a second list, and the two lists alternate: a single delivery of a quiet endpoint does not
    wait for thousands of endpoints with a backlog, and however many quiet endpoints there are, the
    backlogs get half of the turns.
    """

    def __init__(self) -> None:
        self._backlogged: deque[EndpointQueue] = deque()
        self._fresh: deque[EndpointQueue] = deque()
        self._fresh_first = True

    def __bool__(self) -> bool:
        return bool(self._backlogged or self._fresh)

    def add(self, queue: EndpointQueue, *, fresh: bool) -> None:
        """Add a queue unless it waits already; `fresh` if it had nothing to do until now."""
        if not queue.in_ready_queue:
            queue.in_ready_queue = True
            (self._fresh if fresh else self._backlogged).append(queue)

    def pop(self) -> EndpointQueue:
        """Remove and return the queue whose turn it is; raises IndexError if there is none."""
        fresh = bool(self._fresh) and (self._fresh_first or not self._backlogged)
        self._fresh_first = not fresh
        queue = (self._fresh if fresh else self._backlogged).popleft()
        queue.in_ready_queue = False
        return queue

    def clear(self) -> None:
        self._backlogged.clear()
        self._fresh.clear()


TICK_S: Final = 0.05


class IdleQueues:
    """Queues without work, kept until their rate limit has nothing to count; each at most once.

    `on_timeout` is called with each after its delay. After an event to ten thousand endpoints as
    many queues are idle, so they share timers: one per tick, not one per queue. Keeping a queue up
    to one tick too long is harmless.
    """

    def __init__(self, on_timeout: Callable[[EndpointQueue], None]) -> None:
        self._on_timeout = on_timeout
        self._ticks: dict[int, list[EndpointQueue]] = {}
        self._timers: dict[int, asyncio.TimerHandle] = {}

    def add(self, queue: EndpointQueue, delay_s: float) -> None:
        """Keep a queue for a delay; without effect if it is here already."""
        if queue.in_idle_queues:
            return
        queue.in_idle_queues = True
        loop = asyncio.get_running_loop()
        tick = ceil((loop.time() + delay_s) / TICK_S)
        queues = self._ticks.get(tick)
        if queues is None:
            queues = self._ticks[tick] = []
            self._timers[tick] = loop.call_at(tick * TICK_S, self._end_tick, tick)
        queues.append(queue)

    def clear(self) -> None:
        """Forget all queues without calling `on_timeout`."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._ticks.clear()

    def _end_tick(self, tick: int) -> None:
        del self._timers[tick]
        for queue in self._ticks.pop(tick):
            queue.in_idle_queues = False
            self._on_timeout(queue)
