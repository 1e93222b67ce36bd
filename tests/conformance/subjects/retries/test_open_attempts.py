"""Attempts that were still open at the end: no verdict before their time is over."""

from dataclasses import replace
from typing import TypeVar

import pytest

from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.conformance.observations.destinations import Destination
from hookproof.conformance.subjects.exhaustion.evidence import (
    AFTER,
    FAILING,
    ExhaustedDeliveries,
)
from hookproof.conformance.subjects.retries.evidence import RetriedDeliveries
from hookproof.conformance.subjects.timeouts.evidence import GivenTimeout
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_deliveries import (
    broadcast,
    created,
    destination,
    ending,
    event,
    observed,
    sent,
)
from tests.conformance.canned_evidence import NOW, exchange, verdict, verdicts

PASS, FAIL = Verdict.PASS, Verdict.FAIL
ONCE = destination("does not answer once", http_timeout=1)
SILENT, ENDLESS = (destination(name, http_timeout=2) for name in ("silent", "endless"))
SLOW = destination("slow", http_timeout=6)
Observed = TypeVar("Observed", bound=DeliveryObservation)


def shown_with(observation: Observed, http_timeout: int) -> Observed:
    """The same, but its endpoints are shown with another http_timeout than was sent."""
    creations = [
        created(where, http_timeout=http_timeout) if "http_timeout" in where.settings else call
        for where, call in zip(observation.destinations, observation.exchanges, strict=False)
    ]
    rest = observation.exchanges[len(creations) :]
    return replace(observation, exchanges=(*creations, *rest))


def silent_once(*attempts: ReceivedDelivery, ended_at: float) -> RetriedDeliveries:
    return observed(
        RetriedDeliveries, ONCE, *attempts, asked_s=6, aside="aside", ended_at=NOW + ended_at
    )


def timed(*attempts: ReceivedDelivery, ended_at: float) -> GivenTimeout:
    return observed(
        GivenTimeout,
        (SILENT, ENDLESS, SLOW),
        *attempts,
        timeout_s=2,
        patient_s=6,
        slow_s=2.5,
        ended_at=NOW + ended_at,
    )


def test_nothing_is_missed_after_an_attempt_that_is_still_open() -> None:
    is_open = ending(sent(event(), ONCE))
    fixed = shown_with(silent_once(is_open, ended_at=9), 10)
    with pytest.raises(NotExaminedError, match="still waited for the answer"):
        verdict("1-17", fixed)
    outlived = shown_with(silent_once(is_open, ended_at=30), 10)
    assert verdict("1-17", outlived) is FAIL


def test_an_attempt_may_stay_open_as_long_as_another_was_seen_to() -> None:
    elsewhere = ending(sent(event("another"), destination("another")), closed=10.1)
    is_open = ending(sent(event(), ONCE))
    with pytest.raises(NotExaminedError, match="still waited for the answer"):
        verdict("1-17", silent_once(is_open, elsewhere, ended_at=9))
    assert verdict("1-17", silent_once(is_open, ended_at=9)) is FAIL


def test_an_attempt_without_a_time_of_its_own_may_stay_open_as_long_as_by_default() -> None:
    where = replace(ONCE, settings={})
    unset = replace(silent_once(ended_at=20), destinations=(where,), exchanges=(created(where),))
    unset = replace(unset, deliveries=(ending(sent(event(), where)),))
    with pytest.raises(NotExaminedError, match="still waited for the answer"):
        verdict("1-17", unset)
    assert verdict("1-17", replace(unset, ended_at=NOW + 60)) is FAIL


@pytest.mark.parametrize(("place", "requirement"), [(SILENT, "8-7"), (ENDLESS, "8-19")])
def test_the_time_that_an_endpoint_is_shown_with_is_the_one_that_has_to_be_over(
    place: Destination, requirement: str
) -> None:
    is_open = shown_with(timed(ending(sent(event(), place)), ended_at=8), 10)
    with pytest.raises(NotExaminedError, match="was still open"):
        verdicts("8-7 8-9 8-19", is_open)
    given_up = shown_with(timed(ending(sent(event(), place), closed=10.2), ended_at=12), 10)
    assert verdicts("8-7 8-9 8-19", given_up) == {requirement: PASS}
    never = shown_with(timed(ending(sent(event(), place)), ended_at=20), 10)
    assert verdicts("8-7 8-9 8-19", never) == {requirement: FAIL}


def test_an_answer_without_end_is_not_judged_before_silence_was_seen_given_up() -> None:
    silent, endless = ending(sent(event(), SILENT), closed=10.2), ending(sent(event(), ENDLESS))
    with pytest.raises(NotExaminedError):
        verdicts("8-7 8-9 8-19", timed(silent, endless, ended_at=13))
    assert verdicts("8-7 8-9 8-19", timed(silent, endless, ended_at=20)) == {
        "8-7": FAIL,
        "8-19": FAIL,
    }


def test_a_slow_answer_is_not_missed_beyond_the_time_that_is_shown() -> None:
    left = timed(ending(sent(event(), SLOW), closed=2.1), ended_at=12)
    assert verdict("8-8", left) is FAIL
    assert verdict("8-8", shown_with(left, 2)) is None


def test_an_endpoint_need_not_be_disabled_before_its_last_attempt_is_over() -> None:
    where = destination(FAILING, slack_webhook_url="https://chat")
    attempts = [
        ending(sent(event(), where, at=NOW + number, attempt=number + 1), completed=0.0)
        for number in range(2)
    ]
    under_way = observed(
        ExhaustedDeliveries,
        where,
        *attempts,
        exchanges=[
            broadcast(event()),
            exchange(AFTER, "getEndpoint", data={"uid": where.uid, "status": "active"}),
        ],
        contact="chat",
        exhausted=3,
    )
    with pytest.raises(NotExaminedError, match="not every attempt"):
        verdict("3-7", under_way, "contrary")
