"""A run passes only if it proved something and nothing went wrong."""

from dataclasses import replace
from typing import Any

import pytest

from hookproof.load.ledger.draining import Drain, DrainEnd
from hookproof.load.ledger.share import LostWorker
from hookproof.load.profile.load_profile import LoadProfile, load_profile
from hookproof.load.profile.thresholds import Threshold
from hookproof.load.reports.summary import console_report, summary
from hookproof.load.run.judgement import complaints, is_undecided
from hookproof.load.run.outcome import LoadOutcome

PROFILE = load_profile("smoke")
GOOD = LoadOutcome(
    figures={
        **dict.fromkeys(
            ("lost", "duplicated", "unverifiable", "altered", "unexpected", "refused"), 0.0
        ),
        "accepted": 10.0,
        "delivered": 10.0,
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
    requests=10,
    unanswered=0,
    unsent=0,
    drain=Drain(end=DrainEnd.COMPLETE, waited_s=1.5, arriving_rps=0.0),
)


LOST = LostWorker(worker=2, name="far", after_s=12.0, accepted=1234, refused=0)


def report(outcome: LoadOutcome, profile: LoadProfile = PROFILE) -> dict[str, Any]:
    wrong = complaints(outcome, profile)
    return summary(
        profile=profile,
        target="t",
        dialect="d",
        version="1",
        outcome=outcome,
        wrong=wrong,
        interrupted=outcome.interrupted,
        undecided=is_undecided(outcome, profile),
        left_out={},
        hooks={},
        trials=(),
    )


def console(outcome: LoadOutcome) -> str:
    return console_report(report(outcome))


def test_the_report_has_the_start_of_the_run_in_utc_with_milliseconds() -> None:
    for started_at, text in (
        (1767225600.25, "2026-01-01T00:00:00.250+00:00"),
        (1782864000.0, "2026-07-01T00:00:00.000+00:00"),
    ):
        assert report(replace(GOOD, started_at=started_at))["started_at"] == text


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
        ({"problem": "the sidecar stopped answering"}, "sidecar"),
        ({"figures": {**GOOD.figures, "accepted": 0.0}}, "nothing is proved"),
        ({"lost_workers": (LOST,)}, "worker 3 (far) was lost after 12 s: 1,234 broadcasts"),
    ],
)
def test_a_run_that_proves_nothing_fails_and_says_why(flaw: dict[str, Any], expected: str) -> None:
    wrong = console(replace(GOOD, **flaw)).splitlines()[-1]
    assert wrong.startswith("FAIL")
    assert expected in wrong


def test_an_interrupted_run_is_incomplete_unless_it_crossed_a_threshold() -> None:
    interrupted = replace(GOOD, interrupted=True, unsent=3)
    assert "INCOMPLETE  interrupted before the end" in console(interrupted)
    crossed = replace(interrupted, figures={**GOOD.figures, "lost": 1.0})
    assert "FAIL  interrupted before the end; lost is 1" in console(crossed)


def test_how_late_a_generator_may_be_can_be_set() -> None:
    late = replace(GOOD, figures={**GOOD.figures, "lateness_p99": 0.3})
    assert complaints(late, PROFILE.overridden(keep_up_s=0.4)) == []


def pending(end: DrainEnd) -> LoadOutcome:
    return replace(
        GOOD,
        figures={**GOOD.figures, "pending": 110.0},
        drain=Drain(end=end, waited_s=300.0, arriving_rps=2.5),
    )


def test_what_is_pending_fails_the_run_with_its_rate_and_is_not_called_lost() -> None:
    [complaint] = complaints(pending(DrainEnd.STILL_ARRIVING), PROFILE)
    assert complaint == (
        "110 deliveries were pending after 300 s, and others still arrived at 2.5/s"
        " (--drain-at-most waits longer)"
    )


def test_a_run_whose_wait_was_interrupted_names_that_as_the_reason() -> None:
    [complaint] = complaints(pending(DrainEnd.INTERRUPTED), PROFILE)
    assert complaint == "110 deliveries were pending when the wait for them was interrupted"


def test_a_profile_that_does_not_judge_what_is_lost_accepts_what_is_pending() -> None:
    careless = replace(PROFILE, fail_if=())
    assert complaints(pending(DrainEnd.STILL_ARRIVING), careless) == []


def test_a_run_in_which_nothing_arrives_names_what_to_look_at_first() -> None:
    nothing = replace(GOOD, figures={**GOOD.figures, "delivered": 0.0, "lost": 10.0})
    assert "does it trust the CA" in console(nothing)
    some = replace(GOOD, figures={**GOOD.figures, "delivered": 1.0, "lost": 9.0})
    assert "does it trust the CA" not in console(some)


PUT_OFF = replace(GOOD, figures={**GOOD.figures, "limited": 3.0, "held_back": 40.0})


def test_a_target_that_limits_its_api_passes_and_the_report_says_that_it_does() -> None:
    shown = console(PUT_OFF)
    assert "it put off 3 requests, and 40 slots were left out as it asked" in shown
    assert shown.splitlines()[-1].startswith("PASS")


def test_a_rate_at_which_the_target_puts_requests_off_is_beyond_its_knee() -> None:
    [complaint] = complaints(PUT_OFF, replace(load_profile("ramp"), fail_if=()))
    assert "not loaded at this rate" in complaint


@pytest.mark.parametrize(
    ("figure", "value", "words"),
    [
        ("generator_cpu", 0.95, "the generator used 0.95 of a core"),
        ("lateness_p99", 0.3, "the generator could not keep up"),
    ],
)
def test_a_generator_that_was_the_limit_gives_no_verdict(
    figure: str, value: float, words: str
) -> None:
    limited = report(replace(GOOD, figures={**GOOD.figures, figure: value}))
    assert (limited["verdict"], limited["exit_code"]) == ("incomplete", 3)
    assert words in limited["complaints"][0]


RECEIVER_LIMITS = [
    ("receiver_cpu", 0.94, "the receiver used 0.94 of a core"),
    ("receiver_lateness_p99", 0.4, "the receiver could not keep up"),
    ("machine_idle", 0.01, "the machine had 1.0 % of its processor time left"),
]
SLOW = [
    ("delivery_p99", 19.0, "delivery_p99 > 500ms"),
    ("ingest_p99", 1.0, "ingest_p99 > 250ms"),
    ("delivery_rps", 10.0, "delivery_rps < 100"),
    ("late", 3.0, "late > 0"),
    ("overshoot", 3.0, "overshoot > 0"),
]
WRONG = [
    (name, 1.0, f"{name} > 0") for name in ("lost", "altered", "unverifiable", "unexpected")
] + [("refused", 1.0, "refused > 0"), ("errors", 1.0, "errors > 0")]


def limited_run(limit: tuple[str, float, str], *crossed: tuple[str, float, str]) -> dict[str, Any]:
    figures = {**GOOD.figures, limit[0]: limit[1], **{name: value for name, value, _ in crossed}}
    thresholds = tuple(Threshold.parse(text) for _, _, text in crossed)
    return report(replace(GOOD, figures=figures), replace(PROFILE, fail_if=thresholds))


@pytest.mark.parametrize("limit", RECEIVER_LIMITS, ids=lambda limit: limit[0])
@pytest.mark.parametrize("slow", SLOW, ids=lambda slow: slow[0])
def test_what_a_slow_receiver_or_machine_may_have_caused_gives_no_verdict(
    limit: tuple[str, float, str], slow: tuple[str, float, str]
) -> None:
    limited = limited_run(limit, slow)
    assert (limited["verdict"], limited["exit_code"]) == ("incomplete", 3)
    assert limit[2] in limited["complaints"][0]


@pytest.mark.parametrize("limit", RECEIVER_LIMITS, ids=lambda limit: limit[0])
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong[0])
def test_what_no_slowness_explains_fails_the_run_all_the_same(
    limit: tuple[str, float, str], wrong: tuple[str, float, str]
) -> None:
    assert limited_run(limit, wrong, SLOW[0])["verdict"] == "fail"


@pytest.mark.parametrize("limit", RECEIVER_LIMITS, ids=lambda limit: limit[0])
def test_a_run_that_met_its_thresholds_beside_a_busy_receiver_passes(
    limit: tuple[str, float, str],
) -> None:
    assert limited_run(limit)["verdict"] == "pass"


@pytest.mark.parametrize("slow", SLOW, ids=lambda slow: slow[0])
def test_a_slow_target_fails_where_nothing_else_was_the_limit(
    slow: tuple[str, float, str],
) -> None:
    assert limited_run(("receiver_cpu", 0.5, ""), slow)["verdict"] == "fail"


@pytest.mark.parametrize(
    ("limit", "verdict"),
    [*zip(RECEIVER_LIMITS, ["incomplete", "incomplete", "fail"], strict=True)],
)
def test_repeats_may_come_of_a_receiver_that_answers_late_and_not_of_a_busy_machine(
    limit: tuple[str, float, str], verdict: str
) -> None:
    assert limited_run(limit, ("duplicated", 3.0, "duplicated > 0"))["verdict"] == verdict
