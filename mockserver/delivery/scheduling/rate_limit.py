"""The rate limit of one endpoint: never more than `limit` arrivals in any window of `window_s`
(section 8).

The limit is felt at the receiver, which reads a request some time after it was written here, and at
the latest when its answer comes. So an attempt keeps its place for one window from the latest
moment at which its request can have arrived:

- until the request is written, without end: it may arrive at any time;
- while no answer is there: LATEST of a window after it was written;
- once it is answered: the moment of the answer, or sooner after it was written: MARGIN of a window
  and what this answer
  took longer than usual. A receiver that takes its time over each answer reads its requests all the
  same, so only what
  an answer took longer than the fastest ones lately can have passed before its request was read.

An endpoint that answers at once or always after about the same time so gets its limit less MARGIN
at most; one whose answers take now longer, now shorter, gets less than its limit rather than ever
more.
"""

import heapq
from collections.abc import Iterable
from math import inf
from typing import Final

MARGIN: Final = 0.02
LATEST: Final = 0.5
# How many answers tell what is usual.
USUAL_OF: Final = 32

EARLIER_PROCESS: Final = -1

# The delivery's id and how many attempts it had before.
Attempt = tuple[int, int]


class SlidingWindow:
    """The attempts that still count. All times come from one clock that never steps back, in
    seconds.
    """

    __slots__ = (
        "_arrivals",
        "_margin_s",
        "_order",
        "_took",
        "_usual_s",
        "_written",
        "limit",
        "window_s",
    )

    def __init__(self, limit: int, window_s: float) -> None:
        self.limit = limit
        self.window_s = window_s
        self._margin_s = MARGIN * window_s
        self._arrivals: dict[Attempt, float] = {}
        self._order: list[tuple[float, Attempt]] = []
        self._written: dict[Attempt, float] = {}
        self._took: list[float] = []
        self._usual_s = 0.0

    def restore(self, arrivals: Iterable[float]) -> None:
        """Count attempts of an earlier process, given the latest moment at which each can have
        arrived.
        """
        for number, arrival in enumerate(arrivals):
            attempt = (EARLIER_PROCESS, number)
            self.start(attempt)
            self._bound(attempt, arrival)

    def wait_s(self, now: float) -> float:
        """How long until another start is allowed; infinite while every place is taken by a request
        not yet written.
        """
        if len(self._arrivals) < self.limit:
            return 0.0
        self._forget(now)
        if len(self._arrivals) < self.limit:
            return 0.0
        return self._order[0][0] + self.window_s - now if self._order else inf

    def start(self, attempt: Attempt) -> None:
        """Take a place for an attempt."""
        self._arrivals[attempt] = inf

    def written(self, attempt: Attempt, now: float) -> None:
        """The request of this attempt went out."""
        self._written[attempt] = now
        # Whoever takes longer than a window over every answer is not late when a window is over.
        waits = self._usual_s < self.window_s
        self._bound(attempt, now + (LATEST * self.window_s if waits else self._margin_s))

    def over(self, attempt: Attempt, now: float, *, answered: bool) -> None:
        """The attempt is over: its request has arrived by now or never will."""
        written = self._written.pop(attempt, now)
        arrival, took = now, now - written
        if answered and took > self._margin_s:
            arrival = min(now, written + self._margin_s + max(0.0, took - self._usual_s))
        self._bound(attempt, arrival)
        if answered:
            if len(self._took) >= USUAL_OF:
                del self._took[0]
            self._took.append(took)
            # Nothing is usual until a whole burst was answered, since one stall may delay all of
            # it.
            self._usual_s = min(self._took) if len(self._took) >= min(self.limit, USUAL_OF) else 0.0

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
