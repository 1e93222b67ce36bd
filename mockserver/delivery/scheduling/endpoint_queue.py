"""A lane: one endpoint's deliveries on their way, and how many of them may be under way at once."""

import asyncio
from collections.abc import Callable

from hookproof.mockserver.delivery.scheduling.rate_limit import SlidingWindow
from hookproof.mockserver.delivery.store_port import (
    Clock,
    DeliveryStore,
    EndpointSettings,
    PendingDelivery,
)


class Lane:
    """The engine's memory of one endpoint while it has work; a lane without work is forgotten.

    `width` is how many attempts may go on at once: it starts at one, grows with every answer and is
    halved by every attempt that gets none, so that an endpoint that hangs soon holds a single
    connection. `under_way` holds the deliveries that the store still takes for waiting although
    they are not: what becomes of them is not written yet. `buffer` was read ahead; the next
    delivery is at its end.
    """

    __slots__ = (
        "attempts",
        "buffer",
        "endpoint_uid",
        "limiter",
        "more",
        "queued",
        "resting",
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
        self.more = True
        self.queued = False
        self.resting = False
        self.limiter: SlidingWindow | None = None
        self.timer: asyncio.TimerHandle | None = None

    @property
    def has_more(self) -> bool:
        """Whether a delivery is at hand or may be in the store."""
        return self.more or bool(self.buffer)

    @property
    def idle(self) -> bool:
        """Whether it has nothing to do, and at most a rate limit to remember."""
        return not self.under_way and not self.has_more

    def head(self, store: DeliveryStore, batch: int) -> PendingDelivery | None:
        """The delivery that is next, read from the store when none is at hand; None when all are
        under way.
        """
        if not self.buffer and self.more:
            limit = len(self.under_way) + batch
            found = store.pending(self.endpoint_uid, limit)
            self.more = len(found) >= limit
            self.buffer = [
                delivery for delivery in reversed(found) if delivery.id not in self.under_way
            ]
        return self.buffer[-1] if self.buffer else None

    def put_back(self) -> None:
        """Leave to the store what was read and not started."""
        self.buffer.clear()
        self.more = True

    def adapt(self, *, answered: bool, bound: int) -> None:
        """An attempt is over: widen the lane up to a bound, or narrow it."""
        self.width = min(bound, self.width + 1) if answered else max(1, self.width // 2)

    def sleep(self, delay_s: float, then: Callable[["Lane"], None]) -> None:
        """Call `then` after a delay, instead of any call that was planned before."""
        self.rest()
        self.timer = asyncio.get_running_loop().call_later(max(delay_s, 0.001), then, self)

    def rest(self) -> None:
        """Forget the planned call."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def window(self, limit: int, window_s: float) -> SlidingWindow:
        """A limiter for this lane."""
        return SlidingWindow(limit, window_s)

    def limit(
        self,
        endpoint: EndpointSettings,
        store: DeliveryStore,
        clock: Clock,
        now: float,
        began: float,
    ) -> SlidingWindow | None:
        """The rate limit of the endpoint; attempts of an earlier process, which ended before
        `began`, still count.

        `now` is monotonic, `began` in unix seconds. Attempts of this process need no look at the
        store: a lane is not forgotten while any of them counts.
        """
        wanted = endpoint.rate_limit
        if wanted is None:
            self.limiter = None
        elif self.limiter is None or (self.limiter.limit, self.limiter.window_s) != (
            wanted,
            endpoint.rate_window_s,
        ):
            self.limiter = self.window(wanted, endpoint.rate_window_s)
            wall, longest = clock(), longest_attempt_s(endpoint)
            since = wall - counted_s(endpoint)
            if since < began:
                starts = store.recent_starts(self.endpoint_uid, since)
                self.limiter.restore(
                    now - max(0.0, wall - start - longest) for start in starts if start < began
                )
        return self.limiter


def longest_attempt_s(endpoint: EndpointSettings) -> float:
    """How long after its start an attempt may still arrive: it may first fetch a token, within the
    same time-out.
    """
    return 2 * endpoint.http_timeout_s


def counted_s(endpoint: EndpointSettings) -> float:
    """How long after its start an attempt may count against the rate limit."""
    return endpoint.rate_window_s + longest_attempt_s(endpoint)
