"""How late this machine is: by how much the timers of our own event loop miss their time.

A machine that is busy notices arrivals late and asks late, which is no fault of the target's.
"""

import asyncio
from typing import Final

# How often a timer is set, in seconds.
STEP_S: Final = 0.1


class LatenessMeter:
    """Sets one timer after the other and keeps the largest delay; `stop` ends it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._worst_s = 0.0
        self._due = loop.time() + STEP_S
        self._timer = loop.call_at(self._due, self._tick)

    @property
    def worst_s(self) -> float:
        """The largest delay so far, that of a timer which is overdue now included."""
        return max(self._worst_s, self._loop.time() - self._due)

    def stop(self) -> None:
        self._timer.cancel()

    def _tick(self) -> None:
        self._worst_s = self.worst_s
        self._due = self._loop.time() + STEP_S
        self._timer = self._loop.call_at(self._due, self._tick)
