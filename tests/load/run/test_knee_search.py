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
    assert len(rates) <= 16
    assert knee.bad is not None
    assert [rates.count(knee.good), rates.count(knee.bad)] == [2, 2], "not confirmed"
    assert knee.spread == (knee.good, knee.bad)


def test_a_target_without_a_knee_is_tried_up_to_the_most() -> None:
    knee, _ = run_search(10**9)
    assert (knee.good, knee.bad, knee.spread) == (20_000, None, None)


def test_a_target_that_never_passes_ends_the_search() -> None:
    knee, rates = run_search(0.0)
    assert knee.good is None
    assert min(rates) >= 1


def test_nothing_above_a_rate_that_failed_is_tried() -> None:
    _, rates = run_search(640.0)
    assert all(
        later <= rate  # the rate that failed is itself tried again
        for place, rate in enumerate(rates)
        if rate > 640
        for later in rates[place + 1 :]
    )


def test_a_rate_that_passed_by_luck_is_not_the_knee() -> None:
    knee, rates = search_with(lambda number, _rate: 900 if number == 3 else 640)
    assert rates[:4] == [100, 200, 400, 800]
    assert rates.count(800) == 3, "two trials disagreed, and no third one decided"
    assert knee.spread is not None
    assert knee.spread[1] == 800
    assert knee.good is not None
    assert knee.good <= 640 <= knee.good * 1.1


@pytest.mark.parametrize("unlucky", range(8))
def test_a_rate_that_failed_by_bad_luck_is_not_beyond_the_knee(unlucky: int) -> None:
    knee, rates = search_with(lambda number, _rate: 0 if number == unlucky else 640)
    assert knee.good is not None
    assert knee.good <= 640
    assert knee.spread is not None
    assert knee.spread[0] <= rates[unlucky] or rates[unlucky] > 640
    # A single failure far below the knee is seen to be one when that rate is tried again.
    assert knee.good * 1.1 >= 640


def test_the_spread_has_all_trials() -> None:
    knee = Knee(search=Search(most=20_000, within=0.1), first=100)
    for rate, passed in ((400, 1), (400, 1), (440, 0), (440, 0), (75, 0), (75, 1), (75, 1)):
        knee.note(rate, passed=bool(passed))
    assert (knee.good, knee.bad, knee.spread) == (400, 440, (75, 440))
    assert knee.next_rate() is None
