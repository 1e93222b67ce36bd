"""What follows an attempt, by the status that it was answered with (sections 1 and 6)."""

from collections.abc import Iterator, Sequence

from hookproof.conformance.checks.support.further_attempts import behind_s
from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.model.retry_schedule import wait_before
from hookproof.conformance.model.tolerances import LATE_S, distant, require_punctual
from hookproof.conformance.observations.delivery.attempts.statuses import (
    REDIRECTION,
    AnsweredAttempt,
    AnsweredStatuses,
    counts_as_success,
)
from hookproof.conformance.observations.destinations import ended
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect


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
        if in_time or not further:
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
        if not further or observed.was_answered_in_time(
            answered.destination, attempt, context.dialect
        ):
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
    late_s = distant(LATE_S, observed.round_trip_s) + behind_s(observed, attempt.token)
    return observed.ended_at - over_at >= longest_s + late_s


def requirement_of(answered: AnsweredAttempt) -> str:
    """The requirement by which an attempt that failed so is followed by another."""
    status = answered.attempt.status
    if status is None:
        return "1-17"
    return "1-18" if status // 100 == REDIRECTION else "1-16"
