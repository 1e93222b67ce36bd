"""A run passes only if it proved something and nothing went wrong."""

from typing import Any

import pytest

from load.profile import load_profile
from load.report import console_report, verdict_of

GOOD: dict[str, Any] = {
    "sent": 10,
    "accepted": 10,
    "refused": 0,
    "delivered": 10,
    "lost": 0,
    "lost_samples": [],
    "duplicated": 0,
    "unexpected": 0,
    "answers_missing": 0,
    "delivery_latency_s": {"p50": 0.002, "p95": 0.003, "p99": 0.004, "max": 0.005},
    "generator_lateness_s": {"p50": 0.0, "p95": 0.0, "p99": 0.001, "max": 0.001},
    "interrupted": False,
    "generator_cpu_share": 0.2,
    "witness_problem": None,
}


def test_a_clean_run_passes() -> None:
    assert verdict_of(GOOD) == "pass"
    assert console_report(load_profile("smoke"), GOOD).splitlines()[-1].startswith("PASS")


@pytest.mark.parametrize(
    "flaw",
    [
        {"lost": 1},
        {"duplicated": 1},
        {"unexpected": 1},
        {"refused": 1},
        {"accepted": 0},
        {"answers_missing": 1},
        {"interrupted": True},
        {"generator_cpu_share": 0.95},
        {"witness_problem": "the receiver stopped answering"},
    ],
    ids=lambda flaw: next(iter(flaw)),
)
def test_a_flawed_run_fails_and_says_why(flaw: dict[str, Any]) -> None:
    result = {**GOOD, **flaw}
    assert verdict_of(result) == "fail"
    assert console_report(load_profile("smoke"), result).splitlines()[-1].startswith("FAIL")


def test_latencies_are_shown_in_milliseconds() -> None:
    assert "p50 2.0 ms · p95 3.0 ms · p99 4.0 ms · max 5.0 ms" in console_report(load_profile("smoke"), GOOD)
