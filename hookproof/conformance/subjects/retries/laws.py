"""What follows an attempt, by the status that it was answered with (section 1, which leaves retries
open, and section 6).
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from hookproof.conformance.checks.further_attempts import (
    behind_anywhere_s,
    behind_s,
    require_next_attempt_due,
    was_in_vain_since,
)
from hookproof.conformance.checks.json_equality import exact, same_to_the_digit
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange, NotExaminedError
from hookproof.conformance.model.judgement import Judgement, json_text, judged, not_applicable
from hookproof.conformance.model.tolerances import (
    EARLY_S,
    LATE_S,
    distant,
    require_punctual,
    widened,
)
from hookproof.conformance.observations.deliveries import STILL_ARRIVING, Attempts
from hookproof.conformance.observations.destinations import ended
from hookproof.conformance.observations.later_attempts import LaterAttempts
from hookproof.conformance.subjects.certificates.evidence import NO_TLS, WithoutTls
from hookproof.conformance.subjects.retries.evidence import (
    BESIDE,
    CLOSED,
    EVENT,
    OPENED,
    REDIRECTION,
    AnsweredAttempt,
    AnsweredStatuses,
    AttemptedDelivery,
    RefusedConnection,
    RetriedDeliveries,
    counts_as_success,
)
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.retry_schedule import is_scheduled, may_be_due, wait_before
from hookproof.spec.dialect.vocabulary import RedirectOutcome, RetryAfter


def further_after_failure(
    requirement: str, observed: AnsweredStatuses, context: CheckContext
) -> Iterator[Judgement]:
    """Whether every status that the dialect counts as a failure is followed by another attempt, and
    a connection that is reset, as far as this requirement says so.
    """
    for answered in observed.attempts_answered(context.dialect):
        if requirement != requirement_of(answered) or not fails(answered, context.dialect):
            continue
        if not answered.further:
            if answered.named_only or not was_waited_for(observed, answered, context.dialect):
                continue
            require_punctual(observed.late_s)
        status = answered.attempt.status
        yield judged(
            bool(answered.further),
            requirement,
            f"An attempt that was answered with {status or 'nothing'} was not followed by another",
            expected=f"another attempt after attempt {answered.made}",
            actual="none",
            exchanges=[answered.created],
            deliveries=[answered.attempt, *answered.further[:1]],
        )


def none_after_success(
    requirement: str, observed: AnsweredStatuses, context: CheckContext
) -> Iterator[Judgement]:
    """Whether whatever the dialect counts as a success ends a delivery, also where attempts failed
    before, as far as this requirement says so.
    """
    for answered in observed.attempts_answered(context.dialect):
        attempt, status = answered.attempt, answered.attempt.status
        is_redirect = status is not None and status // 100 == REDIRECTION
        if status is None or requirement != ("1-18" if is_redirect else "1-15"):
            continue
        if counts_as_success(status, context.dialect.retry) != {True}:
            continue
        in_time = observed.was_answered_in_time(answered.destination, attempt, context.dialect)
        further = answered.surely_further
        if in_time if further else is_scheduled(context.dialect.retry):
            yield judged(
                not further,
                requirement,
                f"A delivery that was answered with {status} was attempted again",
                expected=f"no attempt after attempt {answered.made}",
                actual=f"{len(further)} more",
                exchanges=[answered.created],
                deliveries=[attempt, *further],
            )


def none_after_final(observed: AnsweredStatuses, context: CheckContext) -> Iterator[Judgement]:
    """Whether whatever ends a delivery in the dialect does."""
    for answered in observed.attempts_answered(context.dialect):
        attempt, status = answered.attempt, answered.attempt.status
        if status is None or context.dialect.retry.ends_delivery(status) != {True}:
            continue
        further = answered.surely_further
        in_time = observed.was_answered_in_time(answered.destination, attempt, context.dialect)
        if in_time if further else is_scheduled(context.dialect.retry):
            yield ended_by("1-16", attempt, further, answered.created)


def ended_by(
    requirement: str,
    attempt: ReceivedDelivery,
    further: Sequence[ReceivedDelivery],
    created: Exchange | None,
) -> Judgement:
    """Whether an answer that ends deliveries in the dialect ended this one."""
    return judged(
        not further,
        requirement,
        f"A delivery was attempted again after {attempt.status}, which ends it in the dialect",
        expected="no further attempt",
        actual=f"{len(further)} more",
        exchanges=[created],
        deliveries=[attempt, *further],
    )


def no_redirect_followed(observed: AnsweredStatuses, context: CheckContext) -> Iterator[Judgement]:
    """Whether nothing arrived where the answers pointed, whatever their status."""
    redirects = [
        answered
        for answered in observed.attempts_answered(context.dialect)
        if answered.attempt.status is not None and answered.attempt.status // 100 == REDIRECTION
    ]
    if redirects:
        statuses = sorted({answered.attempt.status or 0 for answered in redirects})
        yield judged(
            not observed.redirected,
            "6-17",
            "A redirect that an endpoint answered with was followed",
            expected=f"no request to the Location of the answers {statuses}",
            actual=f"{len(observed.redirected)} requests",
            exchanges=[redirects[0].created],
            deliveries=[*(answered.attempt for answered in redirects), *observed.redirected],
        )


def fails(answered: AnsweredAttempt, dialect: Dialect) -> bool:
    """Whether an attempt certainly failed, did not end the delivery, and was not the last one that
    the dialect allows.
    """
    status, attempts = answered.attempt.status, dialect.retry.attempts
    if status is not None:
        final = dialect.retry.ends_delivery(status)
        is_open = False in final and answered.further
        if counts_as_success(status, dialect.retry) != {False} or (True in final and not is_open):
            return False
    return attempts.decided and answered.made < min(attempts.allowed)


def was_waited_for(observed: AnsweredStatuses, answered: AnsweredAttempt, dialect: Dialect) -> bool:
    """Whether a further attempt would have arrived before the observation ended."""
    attempt, over = answered.attempt, ended(answered.attempt)
    if over is None or observed.ended_at is None:
        return False
    over_at = attempt.arrived_at + over - attempt.arrived_monotonic
    longest_s = wait_before(dialect.retry, answered.made + 1).longest_s
    late_s = distant(LATE_S, observed.round_trip_s) + behind_anywhere_s(observed, attempt.token)
    in_vain = was_in_vain_since(observed, over_at)
    return not in_vain and observed.ended_at - over_at >= longest_s + late_s


def requirement_of(answered: AnsweredAttempt) -> str:
    """The requirement by which an attempt that failed so is followed by another."""
    status = answered.attempt.status
    if status is None:
        return "1-17"
    return "1-18" if status // 100 == REDIRECTION else "1-16"


NUMBER: Final = re.compile("0|[1-9][0-9]{0,8}")


@check("1-16")
def a_failed_attempt_is_followed_by_another(
    retried: RetriedDeliveries | AnsweredStatuses, context: CheckContext
) -> Iterator[Judgement]:
    """After an answer that is not a success in the dialect there is a further attempt, and none
    after one that ends a delivery there.
    """
    if isinstance(retried, AnsweredStatuses):
        yield from further_after_failure("1-16", retried, context)
        yield from none_after_final(retried, context)
        return
    for attempted in retried.attempted_where_failing_by(context.dialect):
        first, *further = attempted.attempts
        final = context.dialect.retry.ends_delivery(first.status) if first.status else {False}
        if final == {True}:
            in_time = retried.was_answered_in_time(attempted.destination, first, context.dialect)
            if in_time if further else is_scheduled(context.dialect.retry):
                yield ended_by("1-16", first, further, attempted.created)
        elif further or not (attempted.named_only or True in final):
            yield followed("1-16", retried, attempted, context.dialect)


@check("1-17")
def an_attempt_without_answer_is_followed_by_another(
    retried: RetriedDeliveries | AnsweredStatuses | WithoutTls | RefusedConnection,
    context: CheckContext,
) -> Iterator[Judgement]:
    """After no answer in time or none at all, a TLS handshake that failed, a refused connection."""
    if isinstance(retried, AnsweredStatuses):
        yield from further_after_failure("1-17", retried, context)
        return
    if isinstance(retried, WithoutTls):
        yield from further_after_failed_handshake(retried)
        return
    if isinstance(retried, RefusedConnection):
        yield from further_after_refused_connection(retried, context)
        return
    for attempted in retried.attempted_without_answer(context.dialect):
        if len(attempted.attempts) > 1 or not attempted.named_only:
            yield followed("1-17", retried, attempted, context.dialect)


def further_after_failed_handshake(observed: WithoutTls) -> Iterator[Judgement]:
    """Events of others may be among the attempts, so that only a single one is a failure."""
    if observed.is_tried_again and observed.tries:
        if observed.tries == 1:
            require_punctual(observed.late_s)
            latest_s = widened(LATE_S, observed)
            if any(behind_s(observed, each.token) > latest_s for each in observed.destinations):
                raise NotExaminedError(STILL_ARRIVING)
        yield judged(
            observed.tries > 1,
            "1-17",
            "A delivery whose TLS handshake failed was not attempted again",
            expected="another attempt",
            actual=f"{observed.tries} connections",
            exchanges=[observed.exchange(NO_TLS)],
        )


def further_after_refused_connection(
    observed: RefusedConnection, context: CheckContext
) -> Iterator[Judgement]:
    """An endpoint that gets the later event could be reached, and was not disabled meanwhile.

    What came as soon as the port was open may be a first attempt. Where it was opened so late that
    another attempt was due before, that may have been refused as well, and was perhaps the last.
    Waits that are the service's own show beside it, where the first attempt fails: there the next
    one has to come, and when the port is open.
    """
    beside, further, opened = (
        observed.arrived(destination, event, context.dialect)
        for destination, event in ((BESIDE, EVENT), (CLOSED, EVENT), (CLOSED, OPENED))
    )
    if not beside or not opened:
        return
    began = beside[0].arrived_monotonic
    if not further:
        require_punctual(observed.late_s)
        if opened[0].arrived_monotonic - began >= observed.again_s:
            return
        if len(beside) == 1 or beside[1].arrived_monotonic <= opened[0].arrived_monotonic:
            return
        late_s = widened(LATE_S, observed) + behind_s(observed, opened[0].token)
        if observed.ended_at is not None and observed.ended_at - beside[1].arrived_at < late_s:
            raise NotExaminedError(STILL_ARRIVING)
    elif further[0].arrived_monotonic - began < observed.again_s / 2:
        return
    yield judged(
        bool(further),
        "1-17",
        "A delivery whose connection was refused was not attempted again",
        expected="another attempt",
        actual="none, though the endpoint got a later event",
        exchanges=[observed.exchange(CLOSED), observed.exchange(EVENT)],
        deliveries=[*beside, *further[:1], *opened],
    )


@check("1-15")
def a_delivery_that_succeeded_is_not_attempted_again(
    retried: RetriedDeliveries | AnsweredStatuses, context: CheckContext
) -> Iterator[Judgement]:
    """The first answer that the dialect counts as success is the last, if it came in time."""
    if isinstance(retried, AnsweredStatuses):
        yield from none_after_success("1-15", retried, context)
        return
    for attempted, expected in retried.attempted_until_success(context.dialect):
        attempts = attempted.attempts
        statuses = [attempt.status for attempt in attempts]
        answered = attempts[expected - 1 :]
        doubles = retried.doubles(attempted.destination, answered, context.dialect)
        was_due = is_scheduled(context.dialect.retry) or expected > 1
        if doubles or (was_due and len(attempts) == expected):
            yield judged(
                not doubles,
                "1-15",
                "A delivery that was answered with success was attempted again",
                expected=f"{expected} attempts",
                actual=f"{len(attempts)} attempts, answered {json_text(statuses)}",
                exchanges=[attempted.created],
                deliveries=attempts,
            )


@check("1-14")
def the_waits_between_attempts_lie_within_the_schedule(
    retried: RetriedDeliveries, context: CheckContext
) -> Iterator[Judgement]:
    """Each wait, from the end of one attempt to the arrival of the next, is as long as the dialect
    says.
    """
    early_s, late_s = widened(EARLY_S, retried), widened(LATE_S, retried)
    for attempted in retried.attempted_where_failing_first(context.dialect):
        for number, (earlier, later) in enumerate(pairwise(attempted.attempts), start=2):
            wait = wait_before(context.dialect.retry, number)
            waited = later.arrived_monotonic - (ended(earlier) or earlier.arrived_monotonic)
            kept = wait.shortest_s - early_s <= waited <= wait.longest_s + late_s
            if not kept:
                require_punctual(retried.late_s)
            yield judged(
                kept,
                "1-14",
                "A further attempt came earlier or later than the dialect's schedule says",
                expected=f"attempt {number} after {wait.shortest_s:g} to {wait.longest_s:g} s",
                actual=f"after {waited:.2f} s",
                exchanges=[attempted.created],
                deliveries=[earlier, later],
            )


@check("1-18")
def a_redirect_counts_as_the_dialect_says(
    retried: RetriedDeliveries | AnsweredStatuses, context: CheckContext
) -> Iterator[Judgement]:
    """An attempt that was answered with a redirect is followed by another if that is a failure, and
    by a request elsewhere if redirects are followed.
    """
    if isinstance(retried, AnsweredStatuses):
        yield from further_after_failure("1-18", retried, context)
        yield from none_after_success("1-18", retried, context)
        return
    outcome = context.dialect.retry.redirect
    for attempted in retried.attempted_with_redirect(context.dialect):
        attempts = attempted.attempts
        if len(attempts) == 1 and attempted.named_only:
            continue
        actual = RedirectOutcome.FAILURE if len(attempts) > 1 else RedirectOutcome.SUCCESS
        if retried.redirected:
            actual = RedirectOutcome.FOLLOWED
        kept = outcome.allows(actual)
        if not kept:
            require_punctual(retried.late_s)
            if len(attempts) == 1:
                require_next_attempt_due(retried, attempts, context.dialect)
        yield judged(
            kept,
            "1-18",
            "An attempt that was answered with a redirect does not count as the dialect says",
            expected=" or ".join(outcome.allowed),
            actual=actual,
            exchanges=[attempted.created],
            deliveries=[*attempts, *retried.redirected],
        )


@check("6-17")
def a_redirect_is_not_followed(
    retried: RetriedDeliveries | AnsweredStatuses, context: CheckContext
) -> Iterator[Judgement]:
    """Nothing arrived where the endpoint's answer pointed."""
    if RedirectOutcome.FOLLOWED in context.dialect.retry.redirect.allowed:
        yield not_applicable("6-17", "The dialect says that redirects are followed.")
        return
    if isinstance(retried, AnsweredStatuses):
        yield from no_redirect_followed(retried, context)
        return
    for attempted in retried.attempted_with_redirect(context.dialect):
        yield judged(
            not retried.redirected,
            "6-17",
            "A redirect that an endpoint answered with was followed",
            expected="no request to the Location of the answer",
            actual=f"{len(retried.redirected)} requests",
            exchanges=[attempted.created],
            deliveries=[*attempted.attempts, *retried.redirected],
        )


@check("1-19")
def retry_after_is_treated_as_the_dialect_says(
    retried: RetriedDeliveries, context: CheckContext
) -> Iterator[Judgement]:
    """The next attempt came after the time that was asked for, or by the schedule."""
    retry = context.dialect.retry
    early_s, late_s = widened(EARLY_S, retried), widened(LATE_S, retried)
    for attempted in retried.attempted_with_retry_after(context.dialect):
        first, *further = attempted.attempts
        waited = further[0].arrived_monotonic - first.arrived_monotonic if further else None
        if retry.retry_after.value is RetryAfter.HONOURED:
            bound_s = min(retried.asked_s, retry.retry_after_maximum_s)
            if waited is None:
                continue  # the next attempt may still come
            kept = waited >= bound_s - early_s
            if kept and not is_scheduled(retry):
                continue  # the usual wait may be as long
        else:
            bound_s = wait_before(retry, 2).longest_s
            kept = waited is not None and waited <= bound_s + late_s
            if waited is None:
                require_next_attempt_due(retried, attempted.attempts, context.dialect)
        if not kept:
            require_punctual(retried.late_s)
        yield judged(
            kept,
            "1-19",
            "A Retry-After is not treated as the dialect says",
            expected=f"{retry.retry_after.value}: {bound_s:g} s",
            actual=f"{waited:.2f} s" if waited is not None else "no further attempt",
            exchanges=[attempted.created],
            deliveries=attempted.attempts,
        )


@check("1-20", "1-21")
def all_attempts_are_the_same_delivery(
    retried: RetriedDeliveries, context: CheckContext
) -> Iterator[Judgement]:
    """They carry one event identifier, where any of them carries one, and one body."""
    header = context.dialect.delivery.event_id_header
    if header is None:
        yield not_applicable("1-20", "The dialect has no header for the event's identifier.")
    for attempted in retried.all_attempted(context.dialect):
        first, *further = attempted.attempts
        for attempt in further:
            exchanges, deliveries = [attempted.created], [first, attempt]
            identifiers = tuple(
                None if header is None else each.header(header) for each in (first, attempt)
            )
            if any(identifier is not None for identifier in identifiers):
                yield judged(
                    identifiers[0] == identifiers[1],
                    "1-20",
                    "Attempts of one delivery carry different event identifiers",
                    expected=identifiers[0] or "no identifier",
                    actual=identifiers[1] or "no identifier",
                    exchanges=exchanges,
                    deliveries=deliveries,
                )
            yield judged(
                same_to_the_digit(exact(attempt.body), exact(first.body)),
                "1-21",
                "Attempts of one delivery carry different bodies",
                expected=first.body.decode(errors="backslashreplace"),
                actual=attempt.body.decode(errors="backslashreplace"),
                exchanges=exchanges,
                deliveries=deliveries,
            )


@check("1-22")
def attempts_are_numbered_one_by_one(
    retried: RetriedDeliveries | LaterAttempts, context: CheckContext
) -> Iterator[Judgement]:
    """They count on from the dialect's first number; a number is left out only if its attempt may
    have got lost.

    One whose time is over before a connection stands never arrives, and was made all the same. What
    is sent again although it was answered with success may keep its number.
    """
    rules = context.dialect.delivery
    if rules.attempt_header is None:
        yield not_applicable("1-22", "The dialect does not number the attempts.")
        return
    early_s = widened(EARLY_S, retried)
    for destination, event, attempts in retried.arrived_events(
        retried.destinations, retried.events, context.dialect
    ):
        broadcast, last = retried.exchange(event.name), 0
        doubles = retried.doubles(destination, attempts, context.dialect)
        for attempt, waited_s in zip(attempts, waits_before(broadcast, attempts), strict=True):
            number_sent = attempt.header(rules.attempt_header)
            number = number_in(number_sent) - rules.first_attempt.value + 1
            right = (
                number == last + 1
                or (number == last and attempt in doubles)
                or may_be_due(
                    context.dialect.retry, number, since=last, waited_s=waited_s + early_s
                )
            )
            if not right:
                require_punctual(retried.late_s)
            last = number if right else last + 1
            yield judged(
                right,
                "1-22",
                "Attempts of one delivery are not numbered one by one",
                expected=str(rules.first_attempt.value + last - 1),
                actual=number_sent,
                exchanges=[retried.exchange(destination.name)],
                deliveries=[attempts[0], attempt],
            )


def waits_before(broadcast: Exchange | None, attempts: Attempts) -> Iterator[float]:
    """The seconds before each arrival, since the event was sent or the attempt that arrived before
    it ended.
    """
    yield attempts[0].arrived_at - broadcast.sent_at if broadcast is not None else 0.0
    for earlier, later in pairwise(attempts):
        yield later.arrived_monotonic - (ended(earlier) or earlier.arrived_monotonic)


def number_in(header: str | None) -> int:
    """The number in a header, -1 for anything else: dialects count from 0 or more."""
    return int(header) if header is not None and NUMBER.fullmatch(header) else -1


def followed(
    requirement: str, retried: RetriedDeliveries, attempted: AttemptedDelivery, dialect: Dialect
) -> Judgement:
    """Whether a failed first attempt was followed by another."""
    attempts = attempted.attempts
    if len(attempts) == 1:
        require_next_attempt_due(retried, attempts, dialect)
    return judged(
        len(attempts) > 1,
        requirement,
        "An attempt that failed was not followed by another",
        expected="a second attempt",
        actual=f"one attempt, answered {attempts[0].status or 'with nothing'}",
        exchanges=[attempted.created],
        deliveries=attempts,
    )
