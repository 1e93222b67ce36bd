"""Hygiene of section 6: what an endpoint answers harms nobody, and a success is a success."""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.checks.stopped_waiting import stopped_waiting
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.model.tolerances import slack_s
from hookproof.conformance.observations.deliveries import (
    SHORTEST_TIMEOUT_S,
    STILL_ARRIVING,
    Attempts,
)
from hookproof.conformance.observations.destinations import ended
from hookproof.conformance.subjects.odd_answers.evidence import (
    AFTER,
    ENDLESS_INTERIM,
    EVENT,
    HUGE,
    INTERIM,
    ODD,
    OddAnswers,
)
from hookproof.spec.dialect.model import Dialect

NO_SCHEDULE: Final = (
    "the dialect does not say when a failed delivery is attempted again, or that takes too long to"
    " wait, so that the lack of a second attempt proves nothing"
)
LEFT_EARLY: Final = (
    "the target left before an odd answer was complete and tried again, for which a limit of its"
    " own is enough; the document leaves limits open"
)
NOT_ODD_ENOUGH: Final = "the event did not arrive at the endpoints with: {}"
SENT_TWICE: Final = (
    "the attempt was sent twice, or the event was repeated at an endpoint with an ordinary answer"
    " too, so that a second request proves nothing about odd answers"
)


@check("6-22")
def deliveries_go_on_beside_odd_answers(
    observed: OddAnswers, context: CheckContext
) -> Iterator[Judgement]:
    """Of the events after the odd answers at least one arrived at another endpoint, where the event
    before had arrived.

    One that is lost alone is no sign of odd answers.
    """
    before, odd = observed.healthy(context.dialect, EVENT), observed.odd(context.dialect)
    after, sent = observed.healthy(context.dialect, *AFTER), observed.events_named(*AFTER)
    if not before or not odd or not sent:
        return
    if not after and observed.pending_events(context.dialect).issuperset(sent):
        raise NotExaminedError(STILL_ARRIVING)
    missing = [name for name in ODD if name not in odd]
    if after and missing:
        raise NotExaminedError(NOT_ODD_ENOUGH.format(", ".join(missing)))
    yield judged(
        bool(after),
        "6-22",
        "After odd answers of some endpoints nothing arrives at another any more",
        expected="deliveries as before",
        actual=f"none of {len(sent)} events, after: {', '.join(odd)}",
        exchanges=[observed.exchange(event.name) for event in sent],
        deliveries=[*before, *(attempts[0] for attempts in odd.values()), *after],
    )


@check("6-23")
def endless_interim_responses_are_given_up(
    observed: OddAnswers, context: CheckContext
) -> Iterator[Judgement]:
    """The service stopped waiting when http_timeout was over."""
    found = observed.answered(context.dialect, ENDLESS_INTERIM)
    if found is None:
        return
    destination, attempts = found
    yield stopped_waiting(
        "6-23",
        observed,
        observed.timeout_s,
        destination.name,
        attempts,
        "A delivery whose endpoint sends interim responses without end was not given up",
    )


# What is wrong where a success was followed by another attempt.
REPEATED: Final = {
    INTERIM: ("6-24", "A delivery was repeated although a success followed interim responses"),
    HUGE: ("6-25", "A delivery was repeated although a success with a long body was read"),
}


@check("6-24", "6-25")
def an_odd_success_is_a_success(observed: OddAnswers, context: CheckContext) -> Iterator[Judgement]:
    """A delivery that was answered with success is not attempted again, be the answer preceded by
    interim responses or its body long.
    """
    repeated_elsewhere = len(observed.healthy(context.dialect, EVENT)) > 1
    unexamined = []
    for name, (requirement, message) in REPEATED.items():
        found = observed.answered(context.dialect, name)
        if found is None:
            continue
        destination, attempts = found
        doubles = (
            after_interim_responses(observed, attempts)
            if name == INTERIM
            else observed.doubles(destination, attempts, context.dialect)
        )
        if doubles and (repeated_elsewhere or sent_twice(attempts, context.dialect)):
            unexamined.append(SENT_TWICE)
        elif not doubles and len(attempts) > 1:
            unexamined.append(LEFT_EARLY)
        elif not doubles and observed.retried_within_s is None:
            unexamined.append(NO_SCHEDULE)
        else:
            yield judged(
                not doubles,
                requirement,
                message,
                expected="one attempt",
                actual=f"{len(attempts)} attempts",
                exchanges=[observed.exchange(name), observed.exchange(EVENT)],
                deliveries=attempts,
            )
    if unexamined:
        raise NotExaminedError(unexamined[0])


def after_interim_responses(observed: OddAnswers, attempts: Attempts) -> Attempts:
    """The attempts after one that ended, with its answer or before, when no time-out can be over.

    Whoever takes an interim response for the answer may leave before the answer is sent.
    """
    end = ended(attempts[0])
    if end is None or end - attempts[0].arrived_monotonic + slack_s(observed) >= SHORTEST_TIMEOUT_S:
        return ()
    return attempts[1:]


def sent_twice(attempts: Attempts, dialect: Dialect) -> bool:
    """Whether the first two requests have one number, so that the second is no further attempt."""
    name = dialect.delivery.attempt_header
    if name is None:
        return False
    first, second = (attempt.header(name) for attempt in attempts[:2])
    return first is not None and first == second
