"""The rate limit of one endpoint: at most `limit` arrivals in any window of `window_s` (section 8).

The limit counts arrivals, and a receiver reads a request some time after it was written here, at
the latest when it answers. So an attempt counts for one window from the latest time at which its
request can have arrived:

- until the request is written: without end, because it may arrive at any time;
- while there is no response: LATEST of a window after it was written;
- once there is a response: at the time of the response, or earlier, at MARGIN of a window after it
  was written plus the time by which this response took longer than usual. A receiver that takes
  long for each response reads its requests at once all the same, so only the time above that of the
  fastest recent response can have passed before its request was read.

An endpoint that answers at once, or always after about the same time, gets its limit less MARGIN.
An endpoint whose response time varies gets less than its limit, never more.
"""

import heapq
from collections.abc import Iterable
from math import inf
from typing import Final

MARGIN: Final = 0.02
LATEST: Final = 0.5
# The number of recent responses whose fastest is the usual response time.
USUAL_OF: Final = 32

EARLIER_PROCESS: Final = -1

# The delivery's id and its number of attempts before this one.
AttemptKey = tuple[int, int]


class SlidingWindow:
    """The attempts that count. All times are seconds of one monotonic clock."""

    __slots__ = (
        "_arrivals",
        "_margin_s",
        "_order",
        "_response_times",
        "_sent_at",
        "_usual_s",
        "limit",
        "window_s",
    )

    def __init__(self, limit: int, window_s: float) -> None:
        self.limit = limit
        self.window_s = window_s
        self._margin_s = MARGIN * window_s
        self._arrivals: dict[AttemptKey, float] = {}
        self._order: list[tuple[float, AttemptKey]] = []
        self._sent_at: dict[AttemptKey, float] = {}
        self._response_times: list[float] = []
        self._usual_s = 0.0

    def restore(self, arrivals: Iterable[float]) -> None:
        """Count attempts of an earlier process, each by its latest possible arrival."""
        for number, arrival in enumerate(arrivals):
            attempt = (EARLIER_PROCESS, number)
            self.start(attempt)
            self._tighten(attempt, arrival)

    def wait_s(self, now: float) -> float:
        """Return the time until another attempt may start.

        Infinite while all attempts that count are requests not yet written.
        """
        if len(self._arrivals) < self.limit:
            return 0.0
        self._forget_expired(now)
        if len(self._arrivals) < self.limit:
            return 0.0
        return self._order[0][0] + self.window_s - now if self._order else inf

    def start(self, attempt: AttemptKey) -> None:
        self._arrivals[attempt] = inf

    def mark_sent(self, attempt: AttemptKey, now: float) -> None:
        """Record that the request of this attempt was written."""
        self._sent_at[attempt] = now
        # An endpoint that usually takes longer than a window is not late at the end of a window.
        late_by_window = self._usual_s < self.window_s
        self._tighten(attempt, now + (LATEST * self.window_s if late_by_window else self._margin_s))

    def end(self, attempt: AttemptKey, now: float, *, answered: bool) -> None:
        """Record that the attempt is over: its request has arrived by now or never will."""
        sent_at = self._sent_at.pop(attempt, now)
        arrival, response_time = now, now - sent_at
        if answered and response_time > self._margin_s:
            slower_by = max(0.0, response_time - self._usual_s)
            arrival = min(now, sent_at + self._margin_s + slower_by)
        self._tighten(attempt, arrival)
        if answered:
            self._add_response_time(response_time)

    def cancel(self, attempt: AttemptKey, now: float) -> None:
        """Stop counting an attempt whose request was not written and never will be."""
        if attempt in self._sent_at:
            self.end(attempt, now, answered=False)
        else:
            self._tighten(attempt, -inf)

    def is_empty(self, now: float) -> bool:
        """Whether no attempt counts any more."""
        self._forget_expired(now)
        return not self._arrivals

    def _add_response_time(self, response_time: float) -> None:
        if len(self._response_times) >= USUAL_OF:
            del self._response_times[0]
        self._response_times.append(response_time)
        # Unknown until a whole burst was answered, because one stall may delay all of it.
        known = len(self._response_times) >= min(self.limit, USUAL_OF)
        self._usual_s = min(self._response_times) if known else 0.0

    def _tighten(self, attempt: AttemptKey, arrival: float) -> None:
        """Lower the latest possible arrival of an attempt, if this one is earlier."""
        if arrival < self._arrivals.get(attempt, 0.0):
            self._arrivals[attempt] = arrival
            heapq.heappush(self._order, (arrival, attempt))

    def _forget_expired(self, now: float) -> None:
        """Remove arrivals older than the window, and heap entries that were replaced."""
        while self._order:
            arrival, attempt = self._order[0]
            is_replaced = self._arrivals.get(attempt) != arrival
            if not is_replaced and arrival + self.window_s > now:
                return
            heapq.heappop(self._order)
            if not is_replaced:
                del self._arrivals[attempt]
