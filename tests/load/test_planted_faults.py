"""What a server does wrong is counted exactly as it was planted."""

from pathlib import Path

import pytest

from tests.load.embedded import figures, hookproof_load, report, serving

SENT = 70
SEVENTH = 10


@pytest.mark.parametrize(
    ("fault", "figure"),
    [
        ("every_seventh_lost", "lost"),
        ("every_seventh_doubled", "duplicated"),
        ("every_seventh_altered", "altered"),
        ("every_seventh_unsigned", "unverifiable"),
    ],
)
def test_every_seventh_delivery_that_goes_wrong_is_counted(tmp_path: Path, fault: str, figure: str) -> None:
    with serving(tmp_path, "--fault", fault) as target:
        outcome = hookproof_load(tmp_path, "smoke", "--rate", "35", "--duration", "2", *target, "--drain", "4")
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    counted = figures(tmp_path)
    wrong = {name: counted[name] for name in ("lost", "duplicated", "altered", "unverifiable", "unexpected")}
    assert wrong == {**dict.fromkeys(wrong, 0), figure: SEVENTH}
    assert (counted["expected"], counted["delivered"]) == (SENT, SENT - counted["lost"])
    assert report(tmp_path)["samples"][figure]
    assert f"{figure} is {SEVENTH}" in outcome.stdout.splitlines()[-2]


def test_every_seventh_delivery_that_comes_late_is_counted(tmp_path: Path) -> None:
    with serving(tmp_path, "--variant", "every_seventh_late") as target:
        # Slow enough that what comes late stands in nobody's way: an endpoint's deliveries wait for one another.
        slowly = ("--rate", "14", "--duration", "5", "--fail-if", "late > 0")
        outcome = hookproof_load(tmp_path, "smoke", *slowly, *target)
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    counted = figures(tmp_path)
    assert (counted["late"], counted["delivered"], counted["lost"]) == (SEVENTH, SENT, 0)


LIMITED = ("rate-limit", "--rate", "30", "--duration", "2")


def test_one_delivery_above_the_limit_is_an_overshoot_of_one(tmp_path: Path) -> None:
    with serving(tmp_path, "--fault", "limit_off_by_one") as target:
        outcome = hookproof_load(tmp_path, *LIMITED, *target)
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    assert figures(tmp_path)["overshoot"] == 1
    limits = [one["limit"] for one in report(tmp_path)["endpoints"] if one["limit"]]
    assert [(limit["most"], limit["highest"]) for limit in limits] == [(10, 11)] * 3


def test_endpoints_that_share_one_limit_get_a_third_of_their_allowance(tmp_path: Path) -> None:
    with serving(tmp_path, "--fault", "one_window_for_all") as target:
        outcome = hookproof_load(tmp_path, *LIMITED, *target)
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    counted = figures(tmp_path)
    assert counted["overshoot"] == 0
    assert counted["allowance_used"] < 0.5
    assert "allowance_used is" in outcome.stdout.splitlines()[-2]


def test_a_server_that_keeps_the_limit_and_uses_it_passes(tmp_path: Path) -> None:
    with serving(tmp_path) as target:
        outcome = hookproof_load(tmp_path, *LIMITED, *target)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    counted = figures(tmp_path)
    assert (counted["overshoot"], counted["delivered"]) == (0, 4 * 60)
    assert counted["allowance_used"] > 0.8
