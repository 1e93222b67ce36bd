"""Profiles are read strictly."""

from pathlib import Path

import pytest

from hookproof.load.profile.load_profile import (
    LoadEndpointSettings,
    LoadProfile,
    load_profile,
    shipped_profiles,
)
from hookproof.load.profile.schedule import RateCurve
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
