import asyncio
from collections.abc import Callable

import pytest

from hookproof.process.lateness import STEP_S, LatenessMeter

BLOCKED_S = 4 * STEP_S


class ScriptedLoop(asyncio.AbstractEventLoop):
    """An event loop whose time a test sets; it runs the timer that was set last."""

    def __init__(self) -> None:
        self._now = 100.0
        self._timer: tuple[float, Callable[[], object]] = (0.0, lambda: None)

    def time(self) -> float:
        return self._now

    def get_debug(self) -> bool:
        return False

    def call_later(self, delay, callback, *args, context=None) -> asyncio.TimerHandle:
        when = self._now + delay
        self._timer = (when, callback)
        return asyncio.TimerHandle(when, callback, args, self, context)

    def run_timer(self, *, late_s: float) -> None:
        when, callback = self._timer
        self._now = when + late_s
        callback()

    def block(self, seconds: float) -> None:
        """Let time pass without running any timer."""
        self._now += seconds


def test_a_loop_that_is_blocked_counts_as_late_before_its_timer_runs() -> None:
    loop = ScriptedLoop()
    meter = LatenessMeter(loop, loop.time)
    assert meter.worst_s <= 0.0
    loop.block(BLOCKED_S)
    assert meter.worst_s == pytest.approx(BLOCKED_S - STEP_S)


def test_the_largest_delay_is_kept() -> None:
    loop = ScriptedLoop()
    meter = LatenessMeter(loop, loop.time)
    for late_s in (0.01, BLOCKED_S, 0.02):
        loop.run_timer(late_s=late_s)
    assert meter.worst_s == pytest.approx(BLOCKED_S)


def test_what_was_over_before_a_time_does_not_count_after_it() -> None:
    loop = ScriptedLoop()
    meter = LatenessMeter(loop, loop.time)
    loop.run_timer(late_s=BLOCKED_S)
    between = loop.time() + STEP_S / 2
    loop.run_timer(late_s=0.01)
    loop.run_timer(late_s=0.02)
    loop.run_timer(late_s=0.005)
    assert meter.worst_since(between) == pytest.approx(0.02)
    assert meter.worst_since(loop.time()) == pytest.approx(0.005)
    assert meter.worst_since(loop.time() + STEP_S) == pytest.approx(0.0)
    loop.block(BLOCKED_S)
    assert meter.worst_since(loop.time()) == pytest.approx(BLOCKED_S - STEP_S)


def test_timers_are_set_one_after_the_other() -> None:
    loop = ScriptedLoop()
    meter = LatenessMeter(loop, loop.time)
    loop.run_timer(late_s=0.5)
    loop.run_timer(late_s=0.0)
    assert loop.time() == pytest.approx(100.0 + 2 * STEP_S + 0.5)
    assert meter.worst_s == pytest.approx(0.5)
