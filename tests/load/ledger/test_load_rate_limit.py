"""Limits are judged in every sliding window, and their use from the first arrival on."""

import pytest

from hookproof.load.ledger.balance import Limit, allowance_used, curve, most_in_window, pace

LIMIT = Limit(most=2, window_s=1.0)


def test_the_highest_window_is_found_between_the_edges_of_any_clock() -> None:
    assert most_in_window([0.0, 0.9, 1.0, 1.1], LIMIT) == 3
    assert most_in_window([0.0, 0.5, 1.0, 1.5], LIMIT) == 2


def test_an_endpoint_that_gets_all_that_it_may_has_used_its_allowance() -> None:
    assert allowance_used([0.0, 0.0, 1.0, 1.0, 2.0, 2.0], LIMIT, 0.0) == pytest.approx(1.0)
    assert allowance_used([0.0, 1.0, 2.0], LIMIT, 0.0) == pytest.approx(0.5)
    assert allowance_used([], LIMIT, 0.0) is None


def test_an_endpoint_that_is_served_late_has_a_slower_pace() -> None:
    assert pace([1.0, 2.0], 0.0) == 1.0
    assert pace([3.0, 4.0], 0.0) == 0.5
    assert pace([], 0.0) == 0.0


def test_the_curve_shows_at_each_arrival_how_full_its_window_is() -> None:
    assert curve([10.0, 10.5, 10.6, 11.6], LIMIT, 10.0) == [(0.0, 1), (0.5, 2), (0.6, 3), (1.6, 1)]


def test_a_long_curve_is_thinned_and_keeps_its_peaks() -> None:
    times = [n * 0.6 for n in range(5000)]
    times.append(times[1234])
    points = curve(times, LIMIT, 0.0)
    assert len(points) <= 400
    assert max(count for _, count in points) == 3
