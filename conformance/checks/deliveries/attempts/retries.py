"""What follows a failed attempt (section 1, which leaves retries open, and section 6)."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from hookproof.conformance.checks.support.json_equality import exact, same
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, holds, not_applicable, violated
from hookproof.conformance.model.retry_schedule import may_be_due, wait_before
from hookproof.conformance.model.tolerances import EARLY_S, LATE_S
from hookproof.conformance.observations.case import Case, deliveries_of, destinations, events
from hookproof.conformance.observations.destinations import ended
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import RedirectOutcome, RetryAfter, SuccessStatus

RETRIES: Final = ("retries",)
Attempts = tuple[ReceivedDelivery, ...]

# The destinations whose first answers no dialect takes for success.
FAILING_FIRST: Final = ("fails once", "fails twice", "refuses once")

NO_CONTENT: Final = "accepts without content"
NUMBER: Final = re.compile("0|[1-9][0-9]{0,8}")


def attempts(case: Case, context: CheckContext, *names: str) -> Iterator[tuple[str, Attempts]]:
    """The attempts at the event by destination, where any has arrived."""
    for destination in destinations(case, *names):
        for event in events(case, "event"):
            arrived = deliveries_of(case, destination, event, context.dialect)
            if arrived:
                yield destination.name, arrived


@check("1-16", experiments=RETRIES)
def a_failed_attempt_is_followed_by_another(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """After an answer that is no success in the dialect there is a further attempt."""
    failing = [*FAILING_FIRST, *([] if no_content_succeeds(context.dialect) else [NO_CONTENT])]
    for name, arrived in attempts(case, context, *failing):
        yield followed("1-16", len(arrived) > 1, name, case, arrived)


@check("1-17", experiments=RETRIES)
def an_attempt_without_answer_is_followed_by_another(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """After silence there is a further attempt."""
    for name, arrived in attempts(case, context, "does not answer once"):
        yield followed("1-17", len(arrived) > 1, name, case, arrived)


@check("1-15", experiments=RETRIES)
def a_delivery_that_succeeded_is_not_attempted_again(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """The first answer that the dialect takes for success is the last."""
    expected = {"answers at once": 1, "fails once": 2, "refuses once": 2}
    if no_content_succeeds(context.dialect):
        expected[NO_CONTENT] = 1
    for name, arrived in attempts(case, context, *expected):
        if len(arrived) > expected[name]:
            yield violated(
                "1-15",
                "A delivery that was answered with success was attempted again",
                expected=f"{expected[name]} attempts",
                actual=f"{len(arrived)} attempts, answered {[one.status for one in arrived]}",
                exchanges=[case.exchange(name)],
                deliveries=arrived,
            )
        elif len(arrived) == expected[name]:
            yield holds("1-15")


@check("1-14", experiments=RETRIES)
def the_waits_between_attempts_lie_within_the_schedule(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """Each wait, from the end of one attempt to the arrival of the next, is as long as the dialect
    says.
    """
    for name, arrived in attempts(case, context, *FAILING_FIRST):
        for number, (earlier, later) in enumerate(pairwise(arrived), start=2):
            wait = wait_before(context.dialect.retry, number)
            waited = later.arrived_monotonic - (ended(earlier) or earlier.arrived_monotonic)
            if wait.shortest_s - EARLY_S <= waited <= wait.longest_s + LATE_S:
                yield holds("1-14")
            else:
                yield violated(
                    "1-14",
                    "A further attempt came earlier or later than the dialect's schedule says",
                    expected=f"attempt {number} after {wait.shortest_s:g} to {wait.longest_s:g} s",
                    actual=f"after {waited:.2f} s",
                    exchanges=[case.exchange(name)],
                    deliveries=[earlier, later],
                )


@check("1-18", experiments=RETRIES)
def a_redirect_counts_as_the_dialect_says(case: Case, context: CheckContext) -> Iterator[Judgement]:
    """An attempt that was answered with a redirect is followed by another where that is a failure."""
    outcome = context.dialect.retry.redirect
    for name, arrived in attempts(case, context, "redirects once"):
        shown = RedirectOutcome.FAILURE if len(arrived) > 1 else RedirectOutcome.SUCCESS
        if outcome.allows(shown):
            yield holds("1-18")
        else:
            yield violated(
                "1-18",
                "An attempt that was answered with a redirect does not count as the dialect says",
                expected=outcome.value,
                actual=shown,
                exchanges=[case.exchange(name)],
                deliveries=arrived,
            )


@check("6-17", experiments=RETRIES)
def a_redirect_is_not_followed(case: Case, context: CheckContext) -> Iterator[Judgement]:
    """Nothing arrived where the endpoint's answer pointed."""
    aside = case.facts.get("aside")
    for name, arrived in attempts(case, context, "redirects once"):
        followers = case.arrived_at(aside) if aside else ()
        if not followers:
            yield holds("6-17")
        else:
            yield violated(
                "6-17",
                "A redirect that an endpoint answered with was followed",
                expected="no request to the Location of the answer",
                actual=f"{len(followers)} requests",
                exchanges=[case.exchange(name)],
                deliveries=[*arrived, *followers],
            )


@check("1-19", experiments=RETRIES)
def retry_after_is_treated_as_the_dialect_says(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """The next attempt came after the time that was asked for, or by the schedule."""
    treatment, dialect = context.dialect.retry.retry_after, context.dialect.retry
    for name, arrived in attempts(case, context, "asks for patience"):
        asked_s = case.facts["asked_s"]
        waited = (
            arrived[1].arrived_monotonic - arrived[0].arrived_monotonic
            if len(arrived) > 1
            else None
        )
        if treatment.value is RetryAfter.HONOURED:
            bound_s = min(asked_s, dialect.retry_after_maximum_s)
            kept = waited is None or waited >= bound_s - EARLY_S
        else:
            bound_s = wait_before(dialect, 2).longest_s
            kept = waited is not None and waited <= bound_s + LATE_S
        if kept and waited is not None:
            yield holds("1-19")
        elif not kept:
            yield violated(
                "1-19",
                "A Retry-After is not treated as the dialect says",
                expected=f"{treatment.value}: {bound_s:g} s",
                actual=f"{waited:.2f} s" if waited is not None else "no further attempt",
                exchanges=[case.exchange(name)],
                deliveries=arrived,
            )


@check("1-20", "1-21", experiments=RETRIES)
def all_attempts_are_the_same_delivery(case: Case, context: CheckContext) -> Iterator[Judgement]:
    """They carry one event identifier and one body."""
    header = context.dialect.delivery.event_id_header
    for name, arrived in attempts(case, context):
        for delivery in arrived[1:]:
            told = {
                "1-20": (delivery.header(header), arrived[0].header(header)),
                "1-21": (same(exact(delivery.body), exact(arrived[0].body)), True),
            }
            for requirement, (actual, expected) in told.items():
                if actual == expected:
                    yield holds(requirement)
                else:
                    yield violated(
                        requirement,
                        SAME[requirement],
                        expected=expected,
                        actual=actual,
                        exchanges=[case.exchange(name)],
                        deliveries=[arrived[0], delivery],
                    )


SAME: Final = {
    "1-20": "Attempts of one delivery carry different event identifiers",
    "1-21": "Attempts of one delivery carry different bodies",
}


@check("1-22", experiments=RETRIES)
def attempts_are_numbered_one_by_one(case: Case, context: CheckContext) -> Iterator[Judgement]:
    """They count on from the dialect's first number; a number is left out only if its attempt may
    have got lost.

    One whose time is over before a connection stands never arrives, and was made all the same.
    """
    rules = context.dialect.delivery
    if rules.attempt_header is None:
        yield not_applicable("1-22", "The dialect does not number the attempts.")
        return
    for name, arrived in attempts(case, context):
        last = 0
        for delivery, waited_s in zip(arrived, waits_before(case, arrived), strict=True):
            told = delivery.header(rules.attempt_header)
            attempt = numbered(told) - rules.first_attempt.value + 1
            right = attempt == last + 1 or may_be_due(
                context.dialect.retry, attempt, since=last, waited_s=waited_s + EARLY_S
            )
            last = attempt if right else last + 1
            if right:
                yield holds("1-22")
            else:
                yield violated(
                    "1-22",
                    "Attempts of one delivery are not numbered one by one",
                    expected=str(rules.first_attempt.value + last - 1),
                    actual=told,
                    exchanges=[case.exchange(name)],
                    deliveries=[arrived[0], delivery],
                )


def waits_before(case: Case, arrived: Attempts) -> Iterator[float]:
    """The seconds before each arrival, since the event was sent or the attempt that arrived before
    it ended.
    """
    sent = case.exchange("event")
    yield arrived[0].arrived_at - sent.sent_at if sent is not None else 0.0
    for earlier, later in pairwise(arrived):
        yield later.arrived_monotonic - (ended(earlier) or earlier.arrived_monotonic)


def numbered(told: str | None) -> int:
    """The number in a header, -1 for anything else: dialects count from 0 or more."""
    return int(told) if told is not None and NUMBER.fullmatch(told) else -1


def no_content_succeeds(dialect: Dialect) -> bool:
    """Whether an empty 204 counts as delivered."""
    return dialect.retry.success.value is SuccessStatus.ANY_2XX


def followed(requirement: str, kept: bool, name: str, case: Case, arrived: Attempts) -> Judgement:
    """Whether a failed first attempt was followed by another."""
    if kept:
        return holds(requirement)
    return violated(
        requirement,
        "An attempt that failed was not followed by another",
        expected="a second attempt",
        actual=f"one attempt, answered {arrived[0].status or 'with nothing'}",
        exchanges=[case.exchange(name)],
        deliveries=arrived,
    )
