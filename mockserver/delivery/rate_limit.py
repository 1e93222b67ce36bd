"""The rate limit of one endpoint: never more than `limit` arrivals in any window of `window_s` (section 8).

The limit is felt at the receiver, and a request arrives somewhat later than it was decided on. So a start holds its
place until one window after the latest moment at which its request can have arrived: when the answer came, or, for an
endpoint that answers late, a share of the window after the request was written. An endpoint that answers at once is so
used to the full; one that is slow to answer gets less than its limit rather than ever more.
"""

import heapq
from collections.abc import Iterable
from math import inf
from typing import Final

SLACK: Final = 0.5  # of the window: what a request may take to arrive, on a loaded machine tens of milliseconds

EARLIER_PROCESS: Final = -1

Attempt = tuple[int, int]
"""The delivery's id and how many attempts it had before."""


class SlidingWindow:
    """The starts that still count. All times come from one clock that never steps back, in seconds."""

    def __init__(self, limit: int, window_s: float) -> None:
        self.limit = limit
        self.window_s = window_s
        self._arrivals: dict[Attempt, float] = {}
        self._order: list[tuple[float, Attempt]] = []

    def restore(self, starts: Iterable[float], now: float) -> None:
        """Count the starts of an earlier process; none of them arrived later than `now`."""
        for number, start in enumerate(starts):
            attempt = (EARLIER_PROCESS, number)
            self.start(attempt)
            self._bound(attempt, min(now, start + SLACK * self.window_s))

    def wait_s(self, now: float) -> float:
        """How long until another start is allowed; infinite while every place is taken by a request not yet written."""
        self._forget(now)
        if len(self._arrivals) < self.limit:
            return 0.0
        return self._order[0][0] + self.window_s - now if self._order else inf

    def start(self, attempt: Attempt) -> None:
        """Take a place for an attempt."""
        self._arrivals[attempt] = inf

    def written(self, attempt: Attempt, now: float) -> None:
        """The request of this attempt went out."""
        self._bound(attempt, now + SLACK * self.window_s)

    def over(self, attempt: Attempt, now: float) -> None:
        """The attempt is over: its request has arrived by now or never will."""
        self._bound(attempt, now)

    def empty(self, now: float) -> bool:
        """Whether nothing counts any more."""
        self._forget(now)
        return not self._arrivals

    def _bound(self, attempt: Attempt, arrival: float) -> None:
        if arrival < self._arrivals.get(attempt, 0.0):
            self._arrivals[attempt] = arrival
            heapq.heappush(self._order, (arrival, attempt))

    def _forget(self, now: float) -> None:
        """Drop what is older than the window, and the bounds that a tighter one has replaced."""
        while self._order:
            arrival, attempt = self._order[0]
            replaced = self._arrivals.get(attempt) != arrival
            if not replaced and arrival + self.window_s > now:
                return
            heapq.heappop(self._order)
            if not replaced:
                del self._arrivals[attempt]
