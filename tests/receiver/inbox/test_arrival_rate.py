"""The sliding window finds every burst, also across the edge of a second."""

from array import array
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookproof.receiver.inbox.rate import rate_of


def highest_by_trying_all(times: list[float], window_s: float) -> int:
    return max((sum(0 <= time - begin < window_s for time in times) for begin in times), default=0)


@given(st.lists(st.integers(0, 60)), st.integers(1, 30))
def test_the_highest_count_is_that_of_trying_every_window(times: list[int], window_s: int) -> None:
    exact = [float(time) for time in times]
    assert rate_of(array("d", exact), window_s).highest == highest_by_trying_all(exact, window_s)


@given(st.lists(st.floats(0, 100), min_size=1))
def test_first_last_and_total_are_reported_whatever_the_order(times: list[float]) -> None:
    rate = rate_of(array("d", times), 1.0, wall_ahead_s=1000.0, earlier=3)
    assert (rate.first_at, rate.last_at) == (min(times) + 1000.0, max(times) + 1000.0)
    assert (rate.total, rate.examined) == (len(times) + 3, len(times))
    assert sum(count for _, count in rate.per_second) == len(times)
    assert all(earlier < later for (earlier, _), (later, _) in pairwise(rate.per_second))


def test_a_burst_across_the_edge_of_a_second_is_seen_and_dated() -> None:
    rate = rate_of(array("d", [0.0, 10.9, 10.95, 11.0, 11.05, 11.9]), 1.0, wall_ahead_s=5.0)
    assert (rate.highest, rate.highest_at) == (4, pytest.approx(15.9))
    assert rate.per_second == ((5, 1), (15, 2), (16, 3))


def test_a_request_at_the_end_of_the_window_belongs_to_the_next() -> None:
    assert rate_of(array("d", [0.0, 1.0]), 1.0).highest == 1
    assert rate_of(array("d", [0.0, 0.5]), 1.0).highest == 2


def test_without_requests_there_is_no_time_to_report() -> None:
    rate = rate_of(array("d"), 1.0)
    assert (rate.highest, rate.highest_at, rate.first_at, rate.last_at, rate.per_second) == (
        0,
        None,
        None,
        None,
        (),
    )
