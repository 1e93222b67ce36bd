"""What a closed port shows of further attempts (1-17)."""

from dataclasses import replace

import pytest

from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.retries.evidence import (
    BESIDE,
    CLOSED,
    EVENT,
    OPENED,
    RefusedConnection,
)
from tests.conformance.canned_deliveries import destination, event, observed, sent
from tests.conformance.canned_evidence import NOW, verdict, verdicts

PASS, FAIL = {"1-17": Verdict.PASS}, {"1-17": Verdict.FAIL}
GIVEN_UP = ((BESIDE, EVENT, 0.0), (CLOSED, OPENED, 0.6), (BESIDE, EVENT, 1.2))
ALL = (*GIVEN_UP, (CLOSED, EVENT, 1.1))


def closed_at_first(*arrived: tuple[str, str, float], late_s: float = 0.0) -> RefusedConnection:
    """What arrived where, each with its event and the seconds since the first."""
    where = {name: destination(name) for name in (BESIDE, CLOSED)}
    events = {name: event(name) for name in (EVENT, OPENED)}
    observation = observed(
        RefusedConnection,
        where.values(),
        *(
            replace(sent(events[name], where[place]), arrived_monotonic=NOW + after_s)
            for place, name, after_s in arrived
        ),
        events=events.values(),
        again_s=1.0,
    )
    return replace(observation, late_s=late_s)


def test_a_second_attempt_passes() -> None:
    assert verdicts("1-17", closed_at_first(*ALL)) == PASS


def test_a_delivery_that_is_given_up_fails() -> None:
    assert verdicts("1-17", closed_at_first(*GIVEN_UP)) == FAIL


@pytest.mark.parametrize(
    "again", [pytest.param((), id="late"), pytest.param(((BESIDE, EVENT, 0.3),), id="at once")]
)
def test_waits_that_are_not_the_dialects_are_not_taken_for_giving_up(
    again: tuple[tuple[str, str, float], ...],
) -> None:
    arrived = sorted((*GIVEN_UP[:2], *again), key=lambda each: each[2])
    assert verdict("1-17", closed_at_first(*arrived)) is None


def test_what_comes_as_soon_as_the_port_is_open_may_be_a_first_attempt() -> None:
    early = closed_at_first(*GIVEN_UP, (CLOSED, EVENT, 0.4))
    assert verdict("1-17", early) is None


def test_where_the_port_was_opened_late_a_second_attempt_may_have_been_refused() -> None:
    late = closed_at_first(GIVEN_UP[0], (CLOSED, OPENED, 1.6), (BESIDE, EVENT, 1.7))
    assert verdict("1-17", late) is None


@pytest.mark.parametrize("missing", [0, 1])
def test_an_endpoint_that_nothing_reaches_proves_nothing(missing: int) -> None:
    arrived = [each for number, each in enumerate(GIVEN_UP[:2]) if number != missing]
    assert verdict("1-17", closed_at_first(*arrived)) is None


def test_a_machine_that_is_late_accuses_nobody() -> None:
    with pytest.raises(NotExaminedError):
        verdict("1-17", closed_at_first(*GIVEN_UP, late_s=60.0))
