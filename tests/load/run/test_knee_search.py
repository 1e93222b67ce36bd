"""The search closes in on the highest rate that passes, wherever that is."""

from collections.abc import Callable

import pytest

from hookproof.load.profile.load_profile import Search
from hookproof.load.run.knee_search import Knee


def search_with(
    capacity: Callable[[int, float], float], *, first: float = 100
) -> tuple[Knee, list[float]]:
    """Search to the end; the search and the rates of its trials.

    `capacity` is that of the target, by the number of trials so far and the rate.
    """
    knee, rates = Knee(search=Search(most=20_000, within=0.1), first=first), list[float]()
    while (rate := knee.next_rate()) is not None:
        assert len(rates) < 40, f"no end: {rates}"
        knee.note(rate, passed=rate <= capacity(len(rates), rate))
        rates.append(rate)
    return knee, rates


def run_search(capacity: float) -> tuple[Knee, list[float]]:
    return search_with(lambda _number, _rate: capacity)


@pytest.mark.parametrize("capacity", [3.0, 99.0, 100.0, 101.0, 640.0, 5_555.5, 19_999.0])
def test_the_knee_is_found_within_a_tenth(capacity: float) -> None:
    knee, rates = run_search(capacity)
    assert knee.good is not None
    assert knee.good <= capacity <= knee.good * 1.1
    assert len(rates) <= 15
    assert rates[-1] == knee.good, "the rate that it ends with was not tried again"


def test_a_target_without_a_knee_is_tried_up_to_the_most() -> None:
    knee, _ = run_search(10**9)
    assert (knee.good, knee.bad) == (20_000, None)


def test_a_target_that_never_passes_ends_the_search() -> None:
    knee, rates = run_search(0.0)
    assert knee.good is None
    assert min(rates) >= 1


def test_nothing_above_a_rate_that_failed_is_tried() -> None:
    _, rates = run_search(640.0)
    assert all(
        later < rate
        for place, rate in enumerate(rates)
        if rate > 640
        for later in rates[place + 1 :]
    )


def test_a_rate_that_passed_by_luck_is_not_the_knee() -> None:
    knee, rates = search_with(lambda number, _rate: 900 if number == 3 else 640)
    assert rates[:4] == [100, 200, 400, 800]
    assert rates.count(800) == 2
    assert knee.good is not None
    assert knee.good <= 640 <= knee.good * 1.1
