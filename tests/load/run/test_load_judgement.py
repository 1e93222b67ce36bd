"""A run passes only if it proved something and nothing went wrong."""

from dataclasses import replace
from typing import Any

import pytest

from hookproof.load.ledger.share import LostWorker
from hookproof.load.profile.load_profile import load_profile
from hookproof.load.reports.summary import console_report, summary
from hookproof.load.run.judgement import complaints
from hookproof.load.run.outcome import LoadOutcome

PROFILE = load_profile("smoke")
GOOD = LoadOutcome(
    figures={
        **dict.fromkeys(
            ("lost", "duplicated", "unverifiable", "altered", "unexpected", "refused"), 0.0
        ),
        "accepted": 10.0,
        "delivery_p50": 0.002,
        "generator_cpu": 0.2,
        "lateness_p99": 0.001,
    },
    endpoints=(),
    samples={},
    over_time={},
    distribution=(),
    started_at=0.0,
    interrupted=False,
    problem=None,
    unanswered=0,
    unsent=0,
)


LOST = LostWorker(worker=2, name="far", after_s=12.0, accepted=1234, refused=0)


def console(outcome: LoadOutcome) -> str:
    wrong = complaints(outcome, PROFILE)
    content = summary(
        profile=PROFILE,
        target="t",
        dialect="d",
        version="1",
        outcome=outcome,
        wrong=wrong,
        left_out={},
        trials=(),
    )
    return console_report(content)


def test_a_clean_run_passes() -> None:
    assert complaints(GOOD, PROFILE) == []
    assert console(GOOD).splitlines()[-1].startswith("PASS")
    assert "delivery_p50 2.0 ms" in console(GOOD)


@pytest.mark.parametrize(
    "figure", ["lost", "duplicated", "unverifiable", "altered", "unexpected", "refused"]
)
def test_a_run_with_a_wrong_delivery_fails_and_says_which(figure: str) -> None:
    wrong = replace(GOOD, figures={**GOOD.figures, figure: 1.0})
    assert f"FAIL  {figure} is 1" in console(wrong)


@pytest.mark.parametrize(
    ("flaw", "expected"),
    [
        ({"unanswered": 2}, "never answered"),
        ({"unsent": 3}, "3 slots were never sent"),
        ({"interrupted": True, "unsent": 3}, "FAIL  interrupted before the end"),
        ({"problem": "the sidecar stopped answering"}, "sidecar"),
        ({"figures": {**GOOD.figures, "accepted": 0.0}}, "nothing is proved"),
        ({"figures": {**GOOD.figures, "generator_cpu": 0.95}}, "measured itself"),
        ({"figures": {**GOOD.figures, "lateness_p99": 0.3}}, "could not keep up"),
        ({"lost_workers": (LOST,)}, "worker 3 (far) was lost after 12 s: 1,234 broadcasts"),
    ],
)
def test_a_run_that_proves_nothing_fails_and_says_why(flaw: dict[str, Any], expected: str) -> None:
    wrong = console(replace(GOOD, **flaw)).splitlines()[-1]
    assert wrong.startswith("FAIL")
    assert expected in wrong


def test_how_late_a_generator_may_be_can_be_set() -> None:
    late = replace(GOOD, figures={**GOOD.figures, "lateness_p99": 0.3})
    assert complaints(late, PROFILE.overridden(keep_up_s=0.4)) == []
