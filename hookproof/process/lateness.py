"""How late this process is: by how much the timers of its own event loop miss their time.

On a machine that is busy a process notices late what arrives, and asks late, which is no fault of
whoever is measured.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from math import inf
from typing import Final

# How often a timer is set, in seconds.
STEP_S: Final = 0.1


class LatenessMeter:
    """Sets one timer after the other and keeps the largest delays; `stop` ends it.

    `clock` is monotonic, in seconds; that of the loop may stand still while the loop is blocked.
    `on_delay` is called with the delay of each timer.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        clock: Callable[[], float] = time.monotonic,
        on_delay: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._loop = loop
        self._clock = clock
        self._on_delay = on_delay
        # When each delay was over, and how long it was; only those that no later one exceeds.
        self._delays: deque[tuple[float, float]] = deque()
        self._due = 0.0
        self._timer = self._next_timer()

    @property
    def worst_s(self) -> float:
        """The largest delay so far, in seconds."""
        return self.worst_since(-inf)

    def worst_since(self, at: float) -> float:
        """The largest delay that was not over before this time, that of a timer which is overdue
        now included.
        """
        worst_s = next((delay_s for over_at, delay_s in self._delays if over_at >= at), 0.0)
        return max(worst_s, self._clock() - self._due)

    def stop(self) -> None:
        self._timer.cancel()

    def _next_timer(self) -> asyncio.TimerHandle:
        self._due = self._clock() + STEP_S
        return self._loop.call_later(STEP_S, self._tick)

    def _tick(self) -> None:
        now = self._clock()
        # In whole milliseconds, which bounds how many delays are kept.
        delay_s = round(now - self._due, 3)
        while self._delays and self._delays[-1][1] <= delay_s:
            self._delays.pop()
        if delay_s > 0:
            self._delays.append((now, delay_s))
        self._on_delay(max(0.0, delay_s))
        self._timer = self._next_timer()
