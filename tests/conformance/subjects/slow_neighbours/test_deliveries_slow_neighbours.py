from collections.abc import Sequence
from dataclasses import replace

import pytest

from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.slow_neighbours.evidence import SlowNeighbours
from tests.conformance.canned_deliveries import (
    broadcast,
    destination,
    ending,
    event,
    observed,
    sent,
)
from tests.conformance.canned_evidence import NOW, verdict

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
    assert verdict("1-25", neighbours(before=[0.1, 0.2], meanwhile=[0.1, 1.1])) is PASS


def test_deliveries_that_wait_for_a_slow_endpoint_fail() -> None:
    assert verdict("1-25", neighbours(before=[0.1, 0.2], meanwhile=[3.0, 2.9])) is FAIL


def test_a_single_delivery_may_be_late_for_a_reason_of_its_own() -> None:
    assert verdict("1-25", neighbours(before=[0.1, 0.2], meanwhile=[0.1, 3.0])) is PASS


def test_a_service_that_sends_at_intervals_is_judged_by_its_own_waits() -> None:
    assert verdict("1-25", neighbours(before=[2.0, 1.5], meanwhile=[3.0, 4.9])) is PASS


def test_without_a_slow_attempt_under_way_nothing_is_judged() -> None:
    assert verdict("1-25", neighbours(before=[], meanwhile=[3.0])) is None
    with pytest.raises(NotExaminedError, match="no event that was broadcast while"):
        verdict("1-25", neighbours(before=[0.1], meanwhile=[3.0], left_after=0.5))


def test_the_way_to_a_target_is_not_its_fault() -> None:
    far = {"round_trip_s": 0.6}
    late = neighbours(before=[0.1], meanwhile=[1.8, 1.7])
    assert verdict("1-25", replace(late, **far)) is PASS
    later = neighbours(before=[0.1], meanwhile=[9.0, 9.0])
    assert verdict("1-25", replace(later, **far)) is FAIL


def test_a_late_machine_is_not_the_targets_fault() -> None:
    late = neighbours(before=[0.1], meanwhile=[1.8, 1.7])
    assert verdict("1-25", late) is FAIL
    assert verdict("1-25", replace(late, late_s=0.6)) is PASS
    later = replace(neighbours(before=[0.1], meanwhile=[9.0, 9.0]), late_s=1.5)
    with pytest.raises(NotExaminedError, match="this machine was late by 1500 ms"):
        verdict("1-25", later)
