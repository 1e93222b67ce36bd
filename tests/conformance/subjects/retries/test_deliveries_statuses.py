from dataclasses import replace
from typing import Any

import pytest

from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.retries.evidence import AnsweredStatuses
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_deliveries import destination, ending, event, observed, sent
from tests.conformance.canned_evidence import NOW, delivery, verdict, verdicts
from tests.spec.dialect_variants import UNDECIDED

PASS, FAIL = Verdict.PASS, Verdict.FAIL
WHERE = destination("answers")
LONG_AFTER = NOW + 60


def answered(*statuses: int | None, ended_at: float = LONG_AFTER) -> AnsweredStatuses:
    """Attempts a second apart, each answered at once with its status, None for a reset."""
    attempts = [attempt_answered(number, status) for number, status in enumerate(statuses, start=1)]
    return observed(AnsweredStatuses, WHERE, *attempts, aside="aside", ended_at=ended_at)


def attempt_answered(number: int, status: int | None) -> ReceivedDelivery:
    attempt = ending(sent(event(), WHERE, at=NOW + number - 1, attempt=number), completed=0.0)
    return replace(attempt, status=status)


@pytest.mark.parametrize("status", [400, 401, 408, 410, 422, 429, 501, 504])
def test_each_failing_status_needs_a_further_attempt(status: int) -> None:
    assert verdict("1-16", answered(status, 200)) is PASS
    assert verdict("1-16", answered(status)) is FAIL
    assert verdict("1-16", answered(500, status)) is FAIL


@pytest.mark.parametrize(
    ("final", "ending_it", "others"),
    [
        ("only_410", [410], [400, 404, 429, 500]),
        ("permanent_4xx", [400, 404, 410], [408, 425, 429, 503]),
        ("any_4xx", [400, 408, 410, 429], [500, 503]),
    ],
)
def test_a_final_status_needs_that_no_attempt_follows(
    final: str, ending_it: list[int], others: list[int]
) -> None:
    rules = {"retry.final_status": final}
    for status in ending_it:
        assert verdict("1-16", answered(status), rules) is PASS
        assert verdict("1-16", answered(500, status), rules) is PASS
        assert verdict("1-16", answered(status, 200), rules) is FAIL
    for status in others:
        assert verdict("1-16", answered(status), rules) is FAIL
        assert verdict("1-16", answered(status, 200), rules) is PASS


@pytest.mark.parametrize("answer", [UNDECIDED, {"one_of": ["none", "any_4xx"]}])
def test_where_a_4xx_may_end_a_delivery_nobody_is_accused_of_it(answer: Any) -> None:
    rules = {"retry.final_status": answer}
    assert verdict("1-16", answered(404), rules) is None
    assert verdict("1-16", answered(404, 200), rules) is PASS
    assert verdict("1-16", answered(500), rules) is FAIL


def test_a_reset_needs_a_further_attempt() -> None:
    assert verdict("1-17", answered(None, 200)) is PASS
    assert verdict("1-17", answered(None)) is FAIL


@pytest.mark.parametrize("status", [301, 303, 307, 308])
def test_each_redirect_is_judged_by_the_dialect(status: int) -> None:
    assert verdict("1-18", answered(status)) is FAIL
    assert verdict("1-18", answered(status, 200)) is PASS
    assert verdict("1-18", answered(status), "contrary") is PASS
    assert verdict("1-18", answered(status, 200), "contrary") is FAIL


def test_the_last_attempt_needs_no_further_one() -> None:
    assert verdict("1-16", answered(*[500] * 5)) is PASS


def test_a_further_attempt_that_may_still_come_is_not_missed() -> None:
    assert verdict("1-16", answered(500, ended_at=NOW + 5)) is None
    assert verdict("1-16", answered(500, ended_at=NOW + 5.3)) is FAIL
    far = {"round_trip_s": 0.5}
    assert verdict("1-16", replace(answered(500, ended_at=NOW + 5.3), **far)) is None
    assert verdict("1-16", replace(answered(500, ended_at=NOW + 7.0), **far)) is FAIL


def test_each_status_of_success_ends_a_delivery() -> None:
    for status in (200, 201, 202, 204, 206):
        assert verdict("1-15", answered(status)) is PASS
        assert verdict("1-15", answered(500, status)) is PASS
        assert verdict("1-15", answered(status, 200)) is FAIL
        assert verdict("1-15", answered(500, status, 200)) is FAIL


def test_a_success_that_came_too_late_shows_nothing() -> None:
    late = replace(
        ending(sent(event(), WHERE), completed=31.0), status=200
    )  # the default http_timeout is 30 s
    observation = observed(
        AnsweredStatuses, WHERE, late, attempt_answered(2, 200), aside="aside", ended_at=LONG_AFTER
    )

    assert verdict("1-15", observation) is PASS  # by the second attempt alone


def test_a_redirect_of_any_status_is_not_followed() -> None:
    assert verdict("6-17", answered(307, 200)) is PASS
    assert verdict("6-17", answered(500, 200)) is None
    followed = observed(
        AnsweredStatuses,
        WHERE,
        attempt_answered(1, 308),
        delivery("aside"),
        aside="aside",
        ended_at=LONG_AFTER,
    )
    assert verdict("6-17", followed) is FAIL


def test_an_attempt_with_the_body_of_another_event_may_be_the_missing_one() -> None:
    other = event("other")
    failed = replace(attempt_answered(1, 500), sequence=1)
    named = ending(sent(replace(other, uid=event().uid), WHERE, at=NOW + 1), completed=0.0)

    def with_both(requirements: str, *arrived: ReceivedDelivery) -> dict[str, Verdict]:
        observation = observed(
            AnsweredStatuses,
            WHERE,
            *arrived,
            events=[event(), other],
            aside="aside",
            ended_at=LONG_AFTER,
        )
        return verdicts(requirements, observation)

    assert with_both("1-16", failed) == {"1-16": FAIL}
    assert with_both("1-16", failed, replace(named, sequence=2)) == {}
    # Nor is it certain that the other event was delivered twice.
    whole = ending(sent(other, WHERE), completed=0.0)

    twice = ending(sent(other, WHERE, at=NOW + 1, attempt=2), completed=0.0)
    assert with_both("1-15", whole, twice) == {"1-15": FAIL}
    assert with_both("1-15", whole, replace(named, sequence=2)) == {"1-15": PASS}
