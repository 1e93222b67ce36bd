from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.odd_answers.evidence import (
    AFTER,
    ENDLESS_INTERIM,
    HEALTHY,
    HUGE,
    INTERIM,
    ODD,
    OddAnswers,
)
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from tests.conformance.canned_deliveries import destination, ending, event, observed, sent
from tests.conformance.canned_evidence import NOW, verdict, verdicts

PASS, FAIL = Verdict.PASS, Verdict.FAIL

EVENT, LATER = event("event"), [event(name) for name in AFTER]
WHERE = {name: destination(name, http_timeout=2) for name in (HEALTHY, *ODD)}


def attempt(name: str, number: int = 1, *, left_after: float | None = None) -> ReceivedDelivery:
    """The attempt of this number at the event, which is answered at once unless it is left."""
    made = sent(EVENT, WHERE[name], at=NOW + 2 * number, attempt=number, status=200)
    return ending(made, completed=0.1) if left_after is None else ending(made, closed=left_after)


def answers(
    *,
    after: int = len(AFTER),
    ended_after: float = 30.0,
    attempts: Mapping[str, Sequence[ReceivedDelivery]] | None = None,
    retried_within_s: float | None = 1.5,
) -> OddAnswers:
    """Each endpoint got the event once unless attempts are given, the healthy one so many more."""
    arrived = {
        **{name: [attempt(name)] for name in WHERE},
        ENDLESS_INTERIM: [attempt(ENDLESS_INTERIM, left_after=2.0)],
        **(attempts or {}),
    }
    return observed(
        OddAnswers,
        WHERE.values(),
        *(made for at_one in arrived.values() for made in at_one),
        *(sent(later, WHERE[HEALTHY], at=NOW + 4) for later in LATER[:after]),
        events=[EVENT, *LATER],
        timeout_s=2,
        retried_within_s=retried_within_s,
        ended_at=NOW + ended_after,
    )


def test_deliveries_that_go_on_pass_even_if_one_is_lost() -> None:
    assert verdict("6-22", answers()) is PASS
    assert verdict("6-22", answers(after=1)) is PASS


def test_deliveries_that_stop_after_odd_answers_fail() -> None:
    assert verdict("6-22", answers(after=0)) is FAIL
    only_one = {name: [] for name in ODD if name != INTERIM}
    assert verdict("6-22", answers(after=0, attempts=only_one)) is FAIL


def test_deliveries_that_may_still_come_are_not_missing() -> None:
    with pytest.raises(NotExaminedError, match="still arriving"):
        verdict("6-22", answers(after=0, ended_after=2.5))


def test_without_an_event_before_nothing_is_judged() -> None:
    assert verdict("6-22", answers(after=0, attempts={HEALTHY: []})) is None


def test_an_odd_answer_that_was_never_given_proves_nothing() -> None:
    with pytest.raises(NotExaminedError, match="did not arrive at the endpoints with: huge body"):
        verdict("6-22", answers(attempts={HUGE: []}))


@pytest.mark.parametrize(("left_after", "expected"), [(0.5, PASS), (2.1, PASS), (9.0, FAIL)])
def test_endless_interim_responses_are_waited_for_until_the_time_is_over(
    left_after: float, expected: Verdict
) -> None:
    waiting = {ENDLESS_INTERIM: [attempt(ENDLESS_INTERIM, left_after=left_after)]}

    assert verdict("6-23", answers(attempts=waiting)) is expected


def test_a_late_machine_does_not_show_how_long_somebody_waited() -> None:
    waiting = {ENDLESS_INTERIM: [attempt(ENDLESS_INTERIM, left_after=30.0)]}
    late = replace(answers(attempts=waiting), late_s=1.5)
    with pytest.raises(NotExaminedError, match="this machine was late"):
        verdict("6-23", late)


def test_an_odd_success_that_is_not_followed_by_another_attempt_passes() -> None:
    assert verdicts("6-24 6-25", answers()) == {"6-24": PASS, "6-25": PASS}


@pytest.mark.parametrize(("name", "requirement"), [(INTERIM, "6-24"), (HUGE, "6-25")])
def test_an_odd_success_that_is_followed_by_another_attempt_fails(
    name: str, requirement: str
) -> None:
    repeated = answers(attempts={name: [attempt(name), attempt(name, 2)]})
    passing = {"6-24": PASS, "6-25": PASS}
    assert verdicts("6-24 6-25", repeated) == {**passing, requirement: FAIL}


def test_whoever_leaves_after_interim_responses_and_tries_again_took_them_for_the_answer() -> None:
    left = answers(attempts={INTERIM: [attempt(INTERIM, left_after=0.1), attempt(INTERIM, 2)]})
    assert verdicts("6-24 6-25", left) == {"6-24": FAIL, "6-25": PASS}


def unexamined(attempts: Mapping[str, Sequence[ReceivedDelivery]]) -> str:
    with pytest.raises(NotExaminedError) as caught:
        verdicts("6-24 6-25", answers(attempts=attempts))
    return str(caught.value)


def test_whoever_stops_reading_and_tries_again_has_a_limit_of_its_own() -> None:
    left = {HUGE: [attempt(HUGE, left_after=0.1), attempt(HUGE, 2)]}
    assert "left before an odd answer was complete" in unexamined(left)


def test_a_service_that_sends_everything_twice_is_not_accused_of_misreading() -> None:
    twice = {HUGE: [attempt(HUGE), attempt(HUGE)]}
    assert "sent twice" in unexamined(twice)
    everywhere = {name: [attempt(name), attempt(name, 2)] for name in (HEALTHY, INTERIM)}
    assert "ordinary answer too" in unexamined(everywhere)


def test_without_a_schedule_the_lack_of_a_second_attempt_proves_nothing() -> None:
    with pytest.raises(NotExaminedError, match="does not say when a failed delivery"):
        verdicts("6-24 6-25", answers(retried_within_s=None))
    repeated = {INTERIM: [attempt(INTERIM), attempt(INTERIM, 2)], HUGE: []}
    seen = answers(attempts=repeated, retried_within_s=None)
    assert verdicts("6-24 6-25", seen) == {"6-24": FAIL}
