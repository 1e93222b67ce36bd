from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

import pytest

from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.subjects.retries.evidence import RetriedDeliveries
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.answer import Undecided
from tests.conformance.canned_deliveries import (
    ATTEMPT,
    EVENT_ID,
    destination,
    ending,
    event,
    observed,
    sent,
)
from tests.conformance.canned_evidence import NOW, context, delivery, judgements, verdict, verdicts

PASS, FAIL = Verdict.PASS, Verdict.FAIL
NOT_APPLICABLE = Verdict.NOT_APPLICABLE

# Ignores a Retry-After, and tries again after half a second.
IGNORING_RETRY_AFTER = "contrary"


def attempts(name: str, *waits: float) -> list[ReceivedDelivery]:
    """Attempts, so many seconds after the first."""
    where = destination(name)
    return [
        ending(sent(event(), where, at=NOW + at, attempt=number), completed=0.0)
        for number, at in enumerate((0, *waits), start=1)
    ]


def retried(
    name: str, *waits: float, arrived: Sequence[ReceivedDelivery] = ()
) -> RetriedDeliveries:
    arrived = arrived or attempts(name, *waits)
    return observed(RetriedDeliveries, destination(name), *arrived, asked_s=6, aside="aside")


def test_a_failed_attempt_that_is_followed_by_another_passes() -> None:
    assert verdict("1-16", retried("fails once", 1.1)) is PASS
    assert verdict("1-16", retried("fails once")) is FAIL


def test_without_a_schedule_no_absence_of_an_attempt_shows_anything() -> None:
    unscheduled = {"retry.initial_s": {"undecided": "the waits say too little"}}
    with pytest.raises(Undecided):
        verdict("1-16", retried("fails once"), unscheduled)
    assert verdict("1-16", retried("fails once", 1.1), unscheduled) is PASS
    assert verdict("1-15", retried("answers at once"), unscheduled) is None
    assert verdict("1-15", retried("fails once", 1.1), unscheduled) is PASS
    assert verdict("1-19", retried("asks for patience", 6.1), unscheduled) is None
    assert verdict("1-19", retried("asks for patience", 1.1), unscheduled) is FAIL
    final = {"retry.final_status": "only_410", **unscheduled}
    assert verdict("1-16", refused_once(), final) is None
    assert verdict("1-16", refused_once(1.1), final) is FAIL


def test_an_answer_that_ends_a_delivery_is_followed_by_no_attempt() -> None:
    assert verdict("1-16", refused_once(1.1)) is PASS
    assert verdict("1-16", refused_once()) is FAIL
    final = {"retry.final_status": "only_410"}
    assert verdict("1-16", refused_once(), final) is PASS
    assert verdict("1-16", refused_once(1.1), final) is FAIL
    unsaid = {"retry.final_status": {"undecided": "nobody asked"}}
    assert verdict("1-16", refused_once(), unsaid) is None
    assert verdict("1-16", refused_once(1.1), unsaid) is PASS


def refused_once(*waits: float) -> RetriedDeliveries:
    name = "refuses once"
    first, *further = attempts(name, *waits)
    return retried(name, arrived=[replace(first, status=410), *further])


@pytest.mark.parametrize(
    ("requirement", "name"),
    [
        ("1-16", "fails once"),
        ("1-17", "does not answer once"),
        ("1-18", "redirects once"),
        ("1-19", "asks for patience"),
    ],
)
def test_no_further_attempt_is_missed_of_a_service_that_is_behind(
    requirement: str, name: str
) -> None:
    only = retried(name)
    (attempt,) = only.deliveries
    behind = replace(only, ended_at=NOW + 8, backlog_s={attempt.token: 6.7})
    ignoring = "reference" if "patience" not in name else IGNORING_RETRY_AFTER
    with pytest.raises(NotExaminedError, match="still arriving"):
        verdict(requirement, behind, ignoring)
    assert verdict(requirement, replace(behind, ended_at=NOW + 20), ignoring) is FAIL
    other, limited = destination("another"), destination("limited", rate_limit=1)
    both = replace(only, ended_at=NOW + 8, destinations=(*only.destinations, other, limited))
    with pytest.raises(NotExaminedError, match="still arriving"):
        verdict(requirement, replace(both, backlog_s={other.token: 6.7}), ignoring)
    assert verdict(requirement, replace(both, backlog_s={limited.token: 6.7}), ignoring) is FAIL
    in_vain = replace(only, ended_at=NOW + 20, unused_s=18.0)
    with pytest.raises(NotExaminedError, match="still arriving"):
        verdict(requirement, in_vain, ignoring)
    assert verdict(requirement, replace(in_vain, unused_s=30.0), ignoring) is FAIL


def test_an_answer_without_content_is_judged_by_the_dialect() -> None:
    once, twice = retried("accepts without content"), retried("accepts without content", 1.1)
    assert verdict("1-16", once) is None
    assert verdict("1-15", once) is PASS
    assert verdict("1-15", twice) is FAIL
    assert verdict("1-16", once, "contrary") is FAIL


def test_silence_that_is_followed_by_another_attempt_passes() -> None:
    assert verdict("1-17", retried("does not answer once", 2.1)) is PASS
    assert verdict("1-17", retried("does not answer once")) is FAIL


def test_an_attempt_after_success_fails() -> None:
    assert verdict("1-15", retried("fails once", 1.1)) is PASS
    assert verdict("1-15", retried("fails once", 1.1, 3.3)) is FAIL
    assert verdict("1-15", retried("answers at once", 1.1)) is FAIL


def test_waits_within_the_schedule_pass() -> None:
    assert verdict("1-14", retried("fails twice", 1.0, 3.4)) is PASS
    assert verdict("1-14", retried("fails twice", 1.5, 5.0)) is PASS


def test_waits_outside_the_schedule_fail() -> None:
    assert verdict("1-14", retried("fails twice", 0.01)) is FAIL
    assert verdict("1-14", retried("fails twice", 1.1, 2.1)) is FAIL
    assert verdict("1-14", retried("fails once", 60.0)) is FAIL


def test_a_redirect_is_judged_by_the_dialect() -> None:
    once, twice = retried("redirects once"), retried("redirects once", 1.1)
    assert verdict("1-18", once) is FAIL
    assert verdict("1-18", twice) is PASS
    assert verdict("1-18", once, "contrary") is PASS
    assert verdict("1-18", twice, "contrary") is FAIL


def test_a_redirect_on_a_late_machine_is_not_judged_by_what_came_or_did_not() -> None:
    once, twice = retried("redirects once"), retried("redirects once", 1.1)
    for observation, dialect in ((once, "reference"), (twice, "contrary")):
        with pytest.raises(NotExaminedError, match="this machine was late by 1200 ms"):
            verdict("1-18", replace(observation, late_s=1.2), dialect)
    assert verdict("1-18", replace(twice, late_s=1.2)) is PASS


def test_a_redirect_that_is_followed_fails() -> None:
    follower = delivery("aside", method="GET")
    arrived = [*attempts("redirects once"), follower]
    assert verdict("6-17", retried("redirects once")) is PASS
    assert verdict("6-17", retried("redirects once", arrived=arrived)) is FAIL


def test_a_redirect_is_followed_where_the_dialect_says_so() -> None:
    arrived = [*attempts("redirects once"), delivery("aside", method="GET")]
    followed = retried("redirects once", arrived=arrived)
    answers = {"retry.redirect": "followed"}

    assert verdict("1-18", followed, answers) is PASS
    assert verdict("1-18", retried("redirects once"), answers) is FAIL
    assert verdict("1-18", retried("redirects once", 1.1), answers) is FAIL
    assert verdict("1-18", followed, "contrary") is FAIL
    assert verdict("6-17", followed, answers) is NOT_APPLICABLE


@pytest.mark.parametrize("name", ["asks for patience", "asks for patience with 429"])
def test_retry_after_is_judged_by_the_dialect(name: str) -> None:
    soon, late = (retried(name, wait) for wait in (1.1, 6.1))
    assert verdict("1-19", soon) is FAIL
    assert verdict("1-19", late) is PASS
    assert verdict("1-19", soon, "contrary") is PASS
    assert verdict("1-19", late, "contrary") is FAIL


def test_an_answer_that_ends_a_delivery_moves_no_attempt() -> None:
    name, final = "asks for patience with 429", {"retry.final_status": "any_4xx"}
    first, again = attempts(name, 1.1)
    soon = retried(name, arrived=[replace(first, status=429), again])
    assert verdict("1-19", soon) is FAIL
    assert verdict("1-19", soon, final) is None


def test_attempts_of_one_delivery_pass() -> None:
    assert verdicts("1-20 1-21", retried("fails once", 1.1)) == {"1-20": PASS, "1-21": PASS}


def second_attempt(*headers: tuple[str, str], body: bytes | None = None) -> dict[str, Verdict]:
    first, where = attempts("fails once"), destination("fails once")
    again = sent(event(), where, at=NOW + 1, attempt=2, headers=headers, body=body)
    return verdicts("1-20 1-21", retried("fails once", arrived=[*first, again]))


def test_attempts_that_differ_fail() -> None:
    assert second_attempt((EVENT_ID, "another"))["1-20"] is FAIL
    assert second_attempt(body=b'{"marker":"marker-event-","more":1}')["1-21"] is FAIL


def test_attempts_without_any_identifier_show_nothing_of_it() -> None:
    where = destination("fails once")
    arrived = [
        ending(
            sent(replace(event(), uid=None), where, at=NOW + number, attempt=number + 1),
            completed=0.0,
        )
        for number in range(2)
    ]
    unnamed = [
        replace(attempt, headers=tuple(pair for pair in attempt.headers if pair[0] != EVENT_ID))
        for attempt in arrived
    ]

    assert verdicts("1-20 1-21", retried("fails once", arrived=unnamed)) == {"1-21": PASS}
    silent = {"delivery.event_id_header": None}
    assert verdicts("1-20 1-21", retried("fails once", arrived=unnamed), silent) == {
        "1-20": NOT_APPLICABLE,
        "1-21": PASS,
    }
    mixed = [arrived[0], unnamed[1]]
    assert verdicts("1-20 1-21", retried("fails once", arrived=mixed)) == {
        "1-20": FAIL,
        "1-21": PASS,
    }


def test_an_attempt_after_the_answer_to_the_last_came_too_late_is_not_judged() -> None:
    first, second, third = attempts("fails once", 1.1, 33.0)
    late = ending(second, completed=31.0)

    assert verdict("1-15", retried("fails once", arrived=[first, late, third])) is None


def test_waits_are_judged_by_as_much_as_this_machine_was_late() -> None:
    early = retried("fails twice", 0.1, 3.0)
    assert verdict("1-14", early) is FAIL
    assert verdict("1-14", replace(early, late_s=0.5)) is PASS
    with pytest.raises(NotExaminedError, match="this machine was late by 1200 ms"):
        verdict("1-14", replace(retried("fails twice", 1.0, 30.0), late_s=1.2))


def test_waits_are_judged_by_as_much_as_the_target_is_far_away() -> None:
    early, late = retried("fails twice", 0.1, 3.0), retried("fails twice", 1.0, 30.0)
    assert verdict("1-14", replace(early, round_trip_s=0.03)) is FAIL
    assert verdict("1-14", replace(early, round_trip_s=0.3)) is PASS
    assert verdict("1-14", replace(late, round_trip_s=0.3)) is FAIL
    slow_api = replace(late, round_trip_s=60.0)
    assert verdict("1-14", slow_api) is FAIL, "an API that is slow is not far away"


def numbered(*arrivals: tuple[float, str], statuses: Sequence[int] = ()) -> Verdict | None:
    """The verdict on attempts with these numbers, so many seconds after the broadcast; `statuses`
    are the answers to the first ones.
    """
    where = destination("fails once")
    arrived = [
        ending(
            sent(event(), where, at=NOW + at, attempt=place, headers=[(ATTEMPT, number)]),
            completed=0.0,
        )
        for place, (at, number) in enumerate(arrivals)
    ]
    arrived = [
        replace(attempt, status=status)
        for attempt, status in zip_longest(arrived, statuses, fillvalue=500)
    ]
    return verdict("1-22", retried("fails once", arrived=arrived))


def test_attempts_that_are_numbered_one_by_one_pass() -> None:
    assert numbered((0.1, "1"), (1.2, "2"), (3.4, "3")) is PASS


def test_a_number_may_be_left_out_if_there_was_time_for_an_attempt_that_got_lost() -> None:
    assert numbered((0.1, "1"), (3.3, "3")) is PASS
    assert numbered((0.1, "1"), (3.3, "3"), (7.4, "4")) is PASS
    assert numbered((1.1, "2"), (3.2, "3")) is PASS


@pytest.mark.parametrize(
    "arrivals",
    [
        [(0.1, "1"), (1.2, "1")],
        [(0.1, "0"), (1.2, "1")],
        [(0.1, "1"), (1.2, "3")],
        [(0.1, "2"), (1.2, "3")],
        [(0.1, "1"), (3.3, "3"), (7.4, "3")],
        [(0.1, "1"), (1.2, "two")],
        [(0.1, "1"), (1.2, "02")],
        [(0.1, "1"), (900.0, "999999999")],
    ],
    ids=str,
)
def test_other_numbers_fail(arrivals: list[tuple[float, str]]) -> None:
    assert numbered(*arrivals) is FAIL


def test_what_is_sent_again_after_a_success_may_keep_its_number() -> None:
    again = ((0.1, "1"), (1.2, "2"), (1.5, "2"))
    assert numbered(*again, statuses=(500, 200)) is PASS
    assert numbered(*again, statuses=(500, 500)) is FAIL
    assert numbered((0.1, "1"), (1.2, "2"), (1.5, "1"), statuses=(500, 200)) is FAIL


def test_attempts_are_not_judged_by_numbers_that_the_dialect_does_not_give() -> None:
    usual = context().dialect
    unnumbered = replace(usual, delivery=replace(usual.delivery, attempt_header=None))
    said = judgements("1-22", retried("fails once"), replace(context(), dialect=unnumbered))
    assert [judgement.verdict for judgement in said] == [Verdict.NOT_APPLICABLE]
