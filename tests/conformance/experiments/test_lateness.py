import asyncio
import time

from hookproof.conformance.experiments.lateness import STEP_S, LatenessMeter

BLOCKED_S = 4 * STEP_S


def test_a_loop_that_was_blocked_counts_as_late() -> None:
    async def blocked() -> float:
        meter = LatenessMeter(asyncio.get_running_loop())
        time.sleep(BLOCKED_S)  # noqa: ASYNC251 that is what makes the loop late
        await asyncio.sleep(0)
        worst_s = meter.worst_s
        meter.stop()
        return worst_s

    assert asyncio.run(blocked()) >= BLOCKED_S - STEP_S - 0.01


def test_the_largest_delay_is_kept() -> None:
    async def blocked_once() -> tuple[float, float]:
        meter = LatenessMeter(asyncio.get_running_loop())
        time.sleep(BLOCKED_S)  # noqa: ASYNC251
        await asyncio.sleep(0)
        first = meter.worst_s
        await asyncio.sleep(2 * STEP_S)
        later = meter.worst_s
        meter.stop()
        return first, later

    first, later = asyncio.run(blocked_once())
    assert later >= first
