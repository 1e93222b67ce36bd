"""The line of lanes that wait for a turn.

Lanes with a backlog go round. A lane that had nothing to do until now stands in a line of its own,
and the two lines take turns: so a single delivery of a quiet endpoint passes by thousands of
endpoints with a backlog, and however many quiet endpoints there are, the backlogs get half of the
turns.
"""

from collections import deque

from hookproof.mockserver.delivery.scheduling.endpoint_queue import Lane


class Line:
    """The lanes in the order of their turns, each at most once."""

    def __init__(self) -> None:
        self._round: deque[Lane] = deque()
        self._fresh: deque[Lane] = deque()
        self._fresh_first = True

    def __bool__(self) -> bool:
        return bool(self._round or self._fresh)

    def join(self, lane: Lane, *, fresh: bool) -> None:
        """Let a lane wait for a turn, unless it does already; `fresh` says that it had nothing to
        do until now.
        """
        if not lane.queued:
            lane.queued = True
            (self._fresh if fresh else self._round).append(lane)

    def next(self) -> Lane:
        """Take out the lane whose turn it is; raises IndexError when none waits."""
        fresh = bool(self._fresh) and (self._fresh_first or not self._round)
        self._fresh_first = not fresh
        lane = (self._fresh if fresh else self._round).popleft()
        lane.queued = False
        return lane

    def clear(self) -> None:
        """Send everybody away."""
        self._round.clear()
        self._fresh.clear()
