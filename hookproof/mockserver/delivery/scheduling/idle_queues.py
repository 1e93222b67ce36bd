"""Queues without work that are kept only until their rate limit has nothing to count.

After an event to ten thousand endpoints as many queues are idle, so they share timers: one per
tick, not one per queue. Keeping a queue up to one tick too long is harmless.
"""

import asyncio
from collections.abc import Callable
from math import ceil
from typing import Final

from hookproof.mockserver.delivery.scheduling.endpoint_queue import EndpointQueue

TICK_S: Final = 0.05


class IdleQueues:
    """The idle queues, each at most once; `on_timeout` is called with each after its delay."""

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
