"""Profiles and thresholds are read strictly, and slots are fixed by the shape alone."""

import math
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from hookproof.load.profile.load_profile import (
    LoadEndpointSettings,
    LoadProfile,
    load_profile,
    shipped_profiles,
)
from hookproof.load.profile.schedule import (
    MOST_SLOTS,
    OperationMix,
    Point,
    RateCurve,
    Schedule,
    problems_of,
)
from hookproof.load.profile.thresholds import BadThreshold, Threshold
from hookproof.load.target.preparation import endpoint_features
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.strict_yaml.reader import FileProblems


@pytest.mark.parametrize("name", shipped_profiles())
def test_every_shipped_profile_can_be_read_and_has_the_name_of_its_file(name: str) -> None:
    assert load_profile(name).name == name


def test_an_unknown_profile_is_refused_with_the_known_ones() -> None:
    with pytest.raises(FileProblems, match="smoke"):
        load_profile("no-such-profile")


def test_every_problem_of_a_file_is_reported_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(
        "name: wrong\nsummary: s\nrate: fast\nduration_s: 1\nusers: 0\ndrain_s: 1\nspeed: 9\n"
        "fail_if: []\n"
    )
    with pytest.raises(FileProblems) as refused:
        load_profile(str(path))
    assert {problem.line for problem in refused.value.problems} == {3, 5, 7}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "endpoints: {count: 1, limited: 2, rate_limit: 1, rate_limit_duration_s: 1}",
            "limited is more",
        ),
        ("endpoints: {limited: 1}", "rate_limit_duration_s"),
        ("spike: {times: 2, from_s: 5, to_s: 4}", "from_s comes before"),
        ("trouble: [{endpoints: 2, from_s: 0, to_s: 1, reply: {hang: true}}]", "more endpoints"),
        ("points: [[0, 1], [1e9, 1]]", "points"),
    ],
)
def test_a_profile_that_contradicts_itself_is_refused(
    tmp_path: Path, line: str, expected: str
) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(
        f"name: w\nsummary: s\nrate: 1\nduration_s: 9\nusers: 1\ndrain_s: 1\nfail_if: []\n{line}\n"
    )
    with pytest.raises(FileProblems, match=expected):
        load_profile(str(path))


def test_the_command_line_stretches_a_shape_to_its_rate_and_duration() -> None:
    spike = load_profile("spike").overridden(rate=100, duration_s=60)
    assert spike.shape == RateCurve.spike(100, 60, times=10, from_s=20, to_s=30)
    chaos = load_profile("chaos").overridden(duration_s=15)
    assert (chaos.trouble[0].from_s, chaos.trouble[0].to_s) == (2.5, 6)


def test_workers_share_rate_and_users_and_have_an_endpoint_each() -> None:
    smoke = load_profile("smoke").for_workers(3)
    assert (smoke.rate, smoke.users, smoke.endpoints.count) == (50, 8, 3)
    assert load_profile("fanout").for_workers(3).endpoints.count == 100


def test_more_workers_than_users_are_refused() -> None:
    with pytest.raises(ValueError, match="--users"):
        load_profile("smoke").for_workers(9)


def test_endpoints_of_many_workers_count_against_the_bound_of_a_run() -> None:
    long = load_profile("smoke").overridden(rate=1000, duration_s=2000, users=200)
    with pytest.raises(ValueError, match="deliveries"):
        long.for_workers(200)


def test_an_endpoint_gets_its_limits_in_the_dialects_units_and_within_its_bounds() -> None:
    wanted = LoadEndpointSettings(rate_limit=5, rate_limit_duration_s=60, http_timeout_s=100_000)
    reference, contrary = load_dialect("reference"), load_dialect("contrary")
    assert endpoint_features(wanted, reference, limited=True) == {
        "rate_limit": {
            "rate_limit": 5,
            "rate_limit_duration": 60 / reference.delivery.rate_limit_unit.in_seconds,
        },
        "http_timeout": {"http_timeout": reference.requests.http_timeout_maximum},
    }
    assert endpoint_features(wanted, contrary, limited=False) == {
        "http_timeout": {"http_timeout": contrary.requests.http_timeout_maximum}
    }
    assert endpoint_features(LoadEndpointSettings(), reference, limited=False) == {}


PLAIN = "name: plain\nsummary: s\nrate: 1\nduration_s: 9\nusers: 1\ndrain_s: 4\n"


def plain_profile(folder: Path, further: str) -> LoadProfile:
    (folder / "plain.yaml").write_text(PLAIN + further)
    return load_profile(str(folder / "plain.yaml"))


@pytest.mark.parametrize("name", shipped_profiles())
def test_every_shipped_profile_judges_duplicates_alterations_and_signatures(name: str) -> None:
    judged = {threshold.figure for threshold in load_profile(name).fail_if}
    assert judged >= {"lost", "duplicated", "altered", "unverifiable"}


def test_a_profile_judges_duplicates_too_unless_it_says_how_many_it_accepts(tmp_path: Path) -> None:
    silent = plain_profile(tmp_path, "fail_if: [lost > 0]\n")
    assert [threshold.text for threshold in silent.fail_if] == [
        "lost > 0",
        "duplicated > 0",
        "altered > 0",
        "unverifiable > 0",
    ]
    tolerant = plain_profile(tmp_path, "fail_if: [duplicated > 7]\n")
    assert [
        threshold.value for threshold in tolerant.fail_if if threshold.figure == "duplicated"
    ] == [7]


def test_deliveries_that_still_arrive_are_awaited_five_times_as_long_unless_it_is_said(
    tmp_path: Path,
) -> None:
    profile = plain_profile(tmp_path, "fail_if: []\n")
    assert profile.longest_drain_s == 20
    assert profile.overridden(drain_s=10).longest_drain_s == 50
    assert profile.overridden(drain_at_most_s=6).longest_drain_s == 6
    assert plain_profile(tmp_path, "fail_if: []\ndrain_at_most_s: 90\n").longest_drain_s == 90
    assert profile.overridden(drain_at_most_s=1).longest_drain_s == 4, "never less than drain_s"


@pytest.mark.parametrize(
    ("text", "figures", "crossed"),
    [
        ("delivery_p99 > 2s", {"delivery_p99": 2.1}, True),
        ("delivery_p99 > 2s", {"delivery_p99": 2.0}, False),
        ("delivery_p99>250ms", {"delivery_p99": 0.3}, True),
        ("lost > 0", {"lost": 0}, False),
        ("ingest_rps < 500/s", {"ingest_rps": 499.9}, True),
        ("allowance_used < 80%", {"allowance_used": 0.79}, True),
        ("allowance_used < 0.8", {"allowance_used": 0.81}, False),
    ],
)
def test_a_threshold_is_crossed_where_its_comparison_holds(
    text: str, figures: dict[str, float], crossed: bool
) -> None:
    assert (Threshold.parse(text).crossed(figures) is not None) is crossed


def test_a_figure_that_could_not_be_measured_crosses_its_threshold() -> None:
    assert "could not be measured" in str(
        Threshold.parse("overshoot > 0").crossed({"overshoot": None})
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("delivery_p9 > 2s", "did you mean delivery_p9"),
        ("lost > 2s", "not in s"),
        ("delivery_p99 > 2", "not in no unit"),
        ("lost", "write one like"),
        ("lost => 1", "write one like"),
    ],
)
def test_what_is_not_a_threshold_is_refused_with_what_was_expected(
    text: str, expected: str
) -> None:
    with pytest.raises(BadThreshold, match=expected):
        Threshold.parse(text)


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


def test_what_is_due_after_a_slot_is_the_next_one_of_the_curve() -> None:
    curves = [
        RateCurve.spike(10, 10, times=10, from_s=4, to_s=5),
        RateCurve(points=(Point(at_s=0, rate=0), Point(at_s=3, rate=5), Point(at_s=9, rate=20))),
        RateCurve(points=(Point(at_s=0, rate=4), Point(at_s=2, rate=0), Point(at_s=4, rate=4))),
    ]
    for curve in curves:
        times = list(curve.times())
        assert [curve.time_after(at_s, 1) for at_s in times[:-1]] == pytest.approx(times[1:])
        assert curve.time_after(times[0], 5) == pytest.approx(times[5])
    assert curves[0].time_after(12, 20) == 14, "the last rate goes on"
    falling = RateCurve(points=(Point(at_s=0, rate=2), Point(at_s=2, rate=0)))
    assert falling.time_after(0, 1) == pytest.approx(2 - 2**0.5)
    assert falling.time_after(0, 3) == math.inf


def test_each_operation_gets_its_share_of_every_round() -> None:
    mix = OperationMix({"a": 6, "b": 3, "c": 1})
    for _ in range(3):
        assert Counter(mix.take() for _ in range(10)) == {"a": 6, "b": 3, "c": 1}


def test_no_operation_comes_all_at_once() -> None:
    mix = OperationMix({"a": 1, "b": 1})
    assert "".join(mix.take() for _ in range(6)) in {"ababab", "bababa"}


def test_a_single_operation_is_always_next() -> None:
    mix = OperationMix({"a": 0.5})
    assert [mix.take() for _ in range(3)] == ["a", "a", "a"]
