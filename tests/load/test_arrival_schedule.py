"""Slots are fixed by the rate alone."""

from itertools import pairwise

import pytest

from load.schedule import Schedule


@pytest.mark.parametrize(("rate", "duration_s", "slots"), [(50, 10, 500), (0.5, 10, 5), (3, 0.1, 1)])
def test_a_run_has_rate_times_duration_slots(rate: float, duration_s: float, slots: int) -> None:
    schedule = Schedule(rate=rate, duration_s=duration_s)
    taken = [schedule.take() for _ in range(slots)]
    assert None not in taken
    assert schedule.take() is None


def test_slots_lie_evenly_apart() -> None:
    schedule = Schedule(rate=4, duration_s=1)
    taken = [slot for slot in (schedule.take() for _ in range(4)) if slot is not None]
    assert [later - earlier for earlier, later in pairwise(taken)] == [0.25, 0.25, 0.25]
