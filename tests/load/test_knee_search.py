"""The search closes in on the highest rate that passes, wherever that is."""

import pytest

from load.profile import Search
from load.search import Knee


def found(capacity: float, *, first: float = 100, most: float = 20_000) -> Knee:
    knee = Knee(search=Search(most=most, within=0.1), first=first)
    for _ in range(40):
        rate = knee.next_rate()
        if rate is None:
            return knee
        knee.note(rate, passed=rate <= capacity)
    raise AssertionError(f"no end: {knee.tried}")


@pytest.mark.parametrize("capacity", [3.0, 99.0, 100.0, 101.0, 640.0, 5_555.5, 19_999.0])
def test_the_knee_is_found_within_a_tenth(capacity: float) -> None:
    knee = found(capacity)
    assert knee.good is not None
    assert knee.good <= capacity <= knee.good * 1.1
    assert len(knee.tried) <= 14


def test_a_target_without_a_knee_is_tried_up_to_the_most() -> None:
    knee = found(10**9)
    assert (knee.good, knee.bad) == (20_000, None)


def test_a_target_that_never_passes_ends_the_search() -> None:
    knee = found(0.0)
    assert knee.good is None
    assert min(knee.tried) >= 1


def test_nothing_above_a_rate_that_failed_is_tried() -> None:
    tried = found(640.0).tried
    assert all(later < rate for place, rate in enumerate(tried) if rate > 640 for later in tried[place + 1 :])
