"""The endpoint queues that wait for a turn.

Queues with a backlog take turns (round robin). A queue that had nothing to do until now waits in a
second list, and the two lists alternate: a single delivery of a quiet endpoint does not wait for
thousands of endpoints with a backlog, and however many quiet endpoints there are, the backlogs get
half of the turns.
"""

from collections import deque

from hookproof.mockserver.delivery.scheduling.endpoint_queue import EndpointQueue


class ReadyQueue:
    """The endpoint queues in the order of their turns, each at most once."""

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
