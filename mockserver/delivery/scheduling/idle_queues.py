"""Lanes that rest: they have nothing to do, and only a rate limit to remember until it is empty.

After an event to ten thousand endpoints as many lanes rest, so they share timers: one for each
tick, not one for each lane. It does no harm to remember a lane for a moment too long.
"""

import asyncio
from collections.abc import Callable
from math import ceil
from typing import Final

from hookproof.mockserver.delivery.scheduling.endpoint_queue import Lane

TICK_S: Final = 0.05


class Resting:
    """The lanes that rest, each at most once. `look` is called with each lane once its rest is
    over.
    """

    def __init__(self, look: Callable[[Lane], None]) -> None:
        self._look = look
        self._ticks: dict[int, list[Lane]] = {}
        self._timers: dict[int, asyncio.TimerHandle] = {}

    def add(self, lane: Lane, delay_s: float) -> None:
        """Let a lane rest for a delay, unless it does already."""
        if lane.resting:
            return
        lane.resting = True
        loop = asyncio.get_running_loop()
        tick = ceil((loop.time() + delay_s) / TICK_S)
        lanes = self._ticks.get(tick)
        if lanes is None:
            lanes = self._ticks[tick] = []
            self._timers[tick] = loop.call_at(tick * TICK_S, self._over, tick)
        lanes.append(lane)

    def clear(self) -> None:
        """Send everybody away."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._ticks.clear()

    def _over(self, tick: int) -> None:
        del self._timers[tick]
        for lane in self._ticks.pop(tick):
            lane.resting = False
            self._look(lane)
