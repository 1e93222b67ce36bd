"""What a server does wrong is counted exactly as often as its fault does it."""

from pathlib import Path
from typing import Any

import pytest

from hookproof.process.exit_codes import ExitCode
from tests.load.embedded import figures, hookproof_load, report, serving

SENT = 70
SEVENTH = 10
WRONG = ("lost", "duplicated", "altered", "unverifiable", "unexpected")


@pytest.mark.parametrize(
    ("fault", "figure"),
    [
        ("every_seventh_lost", "lost"),
        ("every_seventh_doubled", "duplicated"),
        ("every_seventh_altered", "altered"),
        ("every_seventh_unsigned", "unverifiable"),
    ],
)
def test_every_seventh_delivery_that_goes_wrong_is_counted(
    tmp_path: Path, fault: str, figure: str
) -> None:
    with serving(tmp_path, "--fault", fault) as target:
        # Lost deliveries are awaited for the whole drain; the others may take as long on a busy
        # machine.
        outcome = hookproof_load(
            tmp_path, "smoke", "--rate", "70", "--duration", "1", *target, "--drain", "12"
        )
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    counted = figures(tmp_path)
    wrong = {name: counted[name] for name in WRONG}
    assert wrong == {**dict.fromkeys(wrong, 0), figure: SEVENTH}
    assert (counted["expected"], counted["delivered"]) == (SENT, SENT - counted["lost"])
    assert report(tmp_path)["samples"][figure]
    assert f"{figure} is {SEVENTH}" in outcome.stdout.splitlines()[-2]


LATE = """
name: late
summary: The planted lateness is five seconds; a busy machine adds less than that.
rate: 70
duration_s: 1
users: 8
drain_s: 60
late_after_s: 4.9
fail_if: [late > 0]
"""


def test_every_seventh_delivery_that_comes_late_is_counted(tmp_path: Path) -> None:
    (tmp_path / "late.yaml").write_text(LATE)
    with serving(tmp_path, "--variant", "every_seventh_late") as target:
        outcome = hookproof_load(tmp_path, str(tmp_path / "late.yaml"), *target)
    # A machine without time left may be the reason: then there is no verdict.
    assert outcome.returncode in {1, 3}, outcome.stdout + outcome.stderr
    counted = figures(tmp_path)
    assert (counted["late"], counted["delivered"], counted["lost"]) == (SEVENTH, SENT, 0)
    assert f"late is {SEVENTH}" in outcome.stdout.splitlines()[-2]


# The windows are long and the shares small, since a busy machine delays what waits for a limit.
LIMITED = """
name: limited
summary: Three endpoints get five times what their limits allow, and one has no limit.
rate: 25
duration_s: 1
users: 8
drain_s: 120
late_after_s: 120
endpoints: {count: 4, limited: 3, rate_limit: 10, rate_limit_duration_s: 2}
fail_if: [lost > 0, overshoot > 0, "allowance_used < 60%", "fairness < 50%"]
"""


def limited_run(folder: Path, *options: str) -> tuple[int, dict[str, Any], str]:
    """The exit code, the figures and the output of a run against a server with these options."""
    (folder / "limited.yaml").write_text(LIMITED)
    with serving(folder, *options) as target:
        outcome = hookproof_load(folder, str(folder / "limited.yaml"), *target)
    # A machine without time left lets limits be used less; then there is no verdict on that.
    if outcome.returncode == ExitCode.INCOMPLETE:
        assert "of its processor time left" in outcome.stdout
    else:
        assert outcome.returncode in {0, 1}, outcome.stdout + outcome.stderr
    return outcome.returncode, figures(folder), outcome.stdout.splitlines()[-2]


def limits_in(folder: Path) -> list[dict[str, Any]]:
    """What the report says of each limited endpoint."""
    return [row["limit"] for row in report(folder)["endpoints"] if row["limit"]]


def test_a_server_that_keeps_the_limit_and_uses_it_passes(tmp_path: Path) -> None:
    code, counted, verdict = limited_run(tmp_path)
    assert (code, counted["overshoot"], counted["delivered"]) == (0, 0, 4 * 25), verdict
    assert counted["allowance_used"] >= 0.6
    assert [
        (limit["most"], limit["window_s"], limit["highest"]) for limit in limits_in(tmp_path)
    ] == [(10, 2, 10)] * 3


def test_one_delivery_above_the_limit_is_an_overshoot_of_one(tmp_path: Path) -> None:
    code, counted, verdict = limited_run(tmp_path, "--fault", "limit_off_by_one")
    assert counted["overshoot"] == 1, verdict
    assert code == (ExitCode.INCOMPLETE if "the machine had" in verdict else 1)
    assert "overshoot is 1" in verdict
    assert [(limit["most"], limit["highest"]) for limit in limits_in(tmp_path)] == [(10, 11)] * 3


def test_endpoints_that_share_one_limit_starve_and_get_a_third_of_their_allowance(
    tmp_path: Path,
) -> None:
    code, counted, verdict = limited_run(tmp_path, "--fault", "one_window_for_all")
    assert (counted["overshoot"], counted["delivered"]) == (0, 4 * 25)
    assert counted["allowance_used"] < 0.5
    assert code == ExitCode.INCOMPLETE or "allowance_used is" in verdict
