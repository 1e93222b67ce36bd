"""Slots are fixed by the shape alone."""

from itertools import pairwise

import pytest

from hookproof.load.profile.schedule import MOST_SLOTS, Point, RateCurve, Schedule, problems_of


@pytest.mark.parametrize(
    ("rate", "duration_s", "slots"), [(50, 10, 500), (0.5, 10, 5), (3, 0.1, 1)]
)
def test_a_run_has_rate_times_duration_slots(rate: float, duration_s: float, slots: int) -> None:
    shape = RateCurve.steady(rate, duration_s)
    schedule = Schedule(shape)
    times = [schedule.take() for _ in range(slots)]
    assert shape.slots == slots
    assert None not in times
    assert schedule.take() is None


def test_slots_of_a_steady_rate_lie_evenly_apart() -> None:
    times = list(RateCurve.steady(4, 1).times())
    assert [later - earlier for earlier, later in pairwise(times)] == [0.25, 0.25, 0.25]


def test_a_spike_has_its_slots_between_its_two_moments() -> None:
    times = list(RateCurve.spike(10, 10, times=10, from_s=4, to_s=5).times())
    assert len(times) == 10 * 9 + 100
    assert len([at_s for at_s in times if 4 <= at_s < 5]) == 100


def test_a_rate_that_grows_evenly_has_its_slots_ever_closer() -> None:
    times = list(RateCurve(points=(Point(at_s=0, rate=0.001), Point(at_s=10, rate=20))).times())
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert len(times) == 100
    assert gaps == sorted(gaps, reverse=True)
    assert len([at_s for at_s in times if at_s < 5]) == 26  # a quarter of them, and the one at 0


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([(0, 1)], "at least two"),
        ([(0, 1), (5, 1), (4, 1)], "order"),
        ([(1, 1), (5, 1)], "starts at 0"),
        ([(0, MOST_SLOTS), (2, MOST_SLOTS)], "more than"),
    ],
)
def test_points_that_are_not_a_curve_are_refused(
    points: list[tuple[float, float]], expected: str
) -> None:
    problems = list(problems_of([Point(at_s=at_s, rate=rate) for at_s, rate in points]))
    assert any(expected in problem for problem in problems)


def test_workers_share_the_slots_between_them_in_turn() -> None:
    shape = RateCurve.steady(10, 1)
    shares = [Schedule(shape, worker=worker, workers=3) for worker in range(3)]
    times = [[share.take() for _ in range(share.slots)] for share in shares]
    assert [share.slots for share in shares] == [4, 3, 3]
    assert all(share.take() is None for share in shares)
    assert sorted(slot for slots in times for slot in slots if slot is not None) == list(
        shape.times()
    )
    assert times[1] == [slot for number, slot in enumerate(shape.times()) if number % 3 == 1]
