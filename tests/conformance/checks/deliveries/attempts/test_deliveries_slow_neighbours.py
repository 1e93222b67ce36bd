from collections.abc import Sequence
from dataclasses import replace

import pytest

from hookproof.conformance.checks.deliveries.attempts.slow_neighbours import (
    a_slow_endpoint_delays_no_other,
)
from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.delivery.attempts.slow_neighbours import SlowNeighbours
from tests.conformance.canned_deliveries import (
    broadcast,
    destination,
    ending,
    event,
    observed,
    sent,
)
from tests.conformance.canned_evidence import NOW, verdicts

PASS, FAIL = Verdict.PASS, Verdict.FAIL
PROMPT, SILENT = destination("prompt"), destination("silent", http_timeout=4)
BEFORE = [event(f"before {number}") for number in (1, 2)]
BUSY = event("event")
MEANWHILE = [event(f"meanwhile {number}") for number in (1, 2)]


def neighbours(
    *, before: Sequence[float], meanwhile: Sequence[float], left_after: float = 4.0
) -> SlowNeighbours:
    """Waits before and meanwhile; the slow attempt begins 10 s after the first broadcast."""
    arrived = [
        *(sent(what, PROMPT, at=NOW + wait) for what, wait in zip(BEFORE, before, strict=False)),
        ending(sent(BUSY, SILENT, at=NOW + 10), closed=left_after),
        *(
            sent(what, PROMPT, at=NOW + 11 + wait)
            for what, wait in zip(MEANWHILE, meanwhile, strict=False)
        ),
    ]
    calls = [
        *map(broadcast, BEFORE),
        broadcast(BUSY, sent_at=NOW + 9),
        *(broadcast(what, sent_at=NOW + 11) for what in MEANWHILE),
    ]
    return observed(
        SlowNeighbours,
        [PROMPT, SILENT],
        *arrived,
        events=[*BEFORE, BUSY, *MEANWHILE],
        exchanges=calls,
    )


def test_deliveries_beside_a_slow_endpoint_that_come_as_before_pass() -> None:
    check = a_slow_endpoint_delays_no_other
    assert verdicts(check, neighbours(before=[0.1, 0.2], meanwhile=[0.1, 1.1])) == {"1-25": PASS}


def test_deliveries_that_wait_for_a_slow_endpoint_fail() -> None:
    check = a_slow_endpoint_delays_no_other
    assert verdicts(check, neighbours(before=[0.1, 0.2], meanwhile=[3.0, 2.9])) == {"1-25": FAIL}


def test_a_single_delivery_may_be_late_for_a_reason_of_its_own() -> None:
    check = a_slow_endpoint_delays_no_other
    assert verdicts(check, neighbours(before=[0.1, 0.2], meanwhile=[0.1, 3.0])) == {"1-25": PASS}


def test_a_service_that_sends_at_intervals_is_judged_by_its_own_waits() -> None:
    check = a_slow_endpoint_delays_no_other
    assert verdicts(check, neighbours(before=[2.0, 1.5], meanwhile=[3.0, 4.9])) == {"1-25": PASS}


def test_without_a_slow_attempt_under_way_nothing_is_judged() -> None:
    check = a_slow_endpoint_delays_no_other
    assert verdicts(check, neighbours(before=[], meanwhile=[3.0])) == {}
    with pytest.raises(NotExaminedError, match="no event that was broadcast while"):
        verdicts(check, neighbours(before=[0.1], meanwhile=[3.0], left_after=0.5))


def test_the_way_to_a_target_is_not_its_fault() -> None:
    check, far = a_slow_endpoint_delays_no_other, {"round_trip_s": 0.6}
    late = neighbours(before=[0.1], meanwhile=[1.8, 1.7])
    assert verdicts(check, replace(late, **far)) == {"1-25": PASS}
    assert verdicts(check, replace(neighbours(before=[0.1], meanwhile=[9.0, 9.0]), **far)) == {
        "1-25": FAIL
    }


def test_a_late_machine_is_not_the_targets_fault() -> None:
    late = neighbours(before=[0.1], meanwhile=[1.8, 1.7])
    assert verdicts(a_slow_endpoint_delays_no_other, late) == {"1-25": FAIL}
    assert verdicts(a_slow_endpoint_delays_no_other, replace(late, late_s=0.6)) == {"1-25": PASS}
    later = replace(neighbours(before=[0.1], meanwhile=[9.0, 9.0]), late_s=1.5)
    with pytest.raises(NotExaminedError, match="this machine was late by 1500 ms"):
        verdicts(a_slow_endpoint_delays_no_other, later)
