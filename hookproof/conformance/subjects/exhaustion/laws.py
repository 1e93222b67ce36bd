"""What becomes of deliveries that always fail, and of their endpoint (sections 1, 2.3, 3 and 6)."""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.checks.further_attempts import require_next_attempt_due
from hookproof.conformance.checks.given_settings import require_given_contact
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.judgement import Judgement, judged, not_applicable
from hookproof.conformance.model.notification import notifies_contacts
from hookproof.conformance.model.tolerances import require_punctual, slack_s
from hookproof.conformance.observations.answer import shown
from hookproof.conformance.observations.later_attempts import LaterAttempts
from hookproof.conformance.subjects.exhaustion.evidence import (
    LAST_EVENT,
    ChatNotifications,
    ExhaustedDeliveries,
    FailedDeliveries,
    MailNotifications,
)
from hookproof.spec.dialect.given_settings import is_dropped
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.retry_schedule import is_scheduled
from hookproof.spec.dialect.vocabulary import EventCount, Notify

NO_MAIL_AT_ALL: Final = (
    "no mail of the target came to the receiver at all; does the target submit its mail to the"
    " address of receiver.mail in target.yaml?"
)
TOO_FEW_ATTEMPTS: Final = (
    "not every attempt at the events had arrived at the endpoint that always fails and was over, so"
    " that too few deliveries to it may have been exhausted"
)


FREQUENCIES: Final = {"1-12": "rarely", "1-13": "often"}


@check("1-12", "1-13")
def a_failing_delivery_is_attempted_as_often_as_the_dialect_says(
    exhausted: ExhaustedDeliveries | LaterAttempts, context: CheckContext
) -> Iterator[Judgement]:
    """An endpoint that always fails got so many attempts at the last event, and at none more. Where
    nothing says when a further one would be due, none shows nothing.
    """
    if isinstance(exhausted, LaterAttempts):
        yield from attempted_to_the_last(exhausted, context)
        return
    wanted = context.dialect.retry.attempts
    if not wanted.decided:
        return
    events, dialect = exhausted.events, context.dialect
    for _, event, attempts in exhausted.arrived_events(exhausted.destinations, events, dialect):
        kept = {"1-13": len(attempts) <= max(wanted.allowed)}
        if kept["1-13"] and not is_scheduled(dialect.retry):
            del kept["1-13"]
        if event.name == LAST_EVENT:
            kept["1-12"] = len(attempts) >= min(wanted.allowed)
            if not kept["1-12"]:
                require_punctual(exhausted.late_s)
                require_next_attempt_due(exhausted, attempts, dialect)
        for requirement, is_kept in kept.items():
            yield judged(
                is_kept,
                requirement,
                f"A failing delivery was attempted too {FREQUENCIES[requirement]}",
                expected=f"{wanted.value} attempts",
                actual=f"{len(attempts)} attempts",
                exchanges=[exhausted.created],
                deliveries=attempts,
            )


@check("6-14")
def the_chat_channel_is_told_as_the_dialect_says(
    exhausted: ExhaustedDeliveries | ChatNotifications, context: CheckContext
) -> Iterator[Judgement]:
    """The channel of the endpoint got a message when the condition was met, and neither before nor
    without it.
    """
    yield from notified_as_the_dialect_says("6-14", "slack_webhook_url", exhausted, context)


@check("6-26")
def the_support_address_is_told_as_the_dialect_says(
    exhausted: MailNotifications, context: CheckContext
) -> Iterator[Judgement]:
    """A mail arrived when the condition was met, and neither before nor without it.

    A target that never submits mail to the receiver may have another mail server.
    """
    if not exhausted.mails:
        raise NotExaminedError(NO_MAIL_AT_ALL)
    yield from notified_as_the_dialect_says("6-26", "support_email", exhausted, context)


def notified_as_the_dialect_says(
    requirement: str, contact: str, exhausted: FailedDeliveries, context: CheckContext
) -> Iterator[Judgement]:
    """Whether messages came to the contact when the condition was met, and only then."""
    if not context.dialect.delivery.notify_on.decided:
        return
    if is_dropped(contact, context.dialect):
        yield not_applicable(requirement, f"The dialect says that a {contact} is dropped.")
        return
    if not exhausted.messages:
        require_given_contact(contact, exhausted.created, context.dialect)
    condition, messages = context.dialect.delivery.notify_on.value, exhausted.messages
    for attempts in exhausted.last_attempts(context.dialect):
        met_at = condition_met_at(exhausted, context.dialect)
        if met_at is None:
            kept, expected = not messages, "no message"
        else:
            kept = bool(messages) and all(
                message.arrived_monotonic >= met_at - slack_s(exhausted) for message in messages
            )
            expected = "a message once the condition is met"
        if met_at is not None and not kept:
            require_punctual(exhausted.late_s)
            if not messages:
                require_exhausted(exhausted, context.dialect)
        if kept and not is_scheduled(context.dialect.retry):
            require_exhausted(exhausted, context.dialect)
        yield judged(
            kept,
            requirement,
            f"The {contact} of an endpoint does not get a message as the dialect says",
            expected=f"{expected}: {condition}",
            actual=f"{len(messages)} messages",
            exchanges=[exhausted.created],
            deliveries=[*attempts, *messages],
        )


def require_exhausted(exhausted: FailedDeliveries, dialect: Dialect) -> None:
    """Raises NotExaminedError if less happened to the endpoint than was meant to."""
    if exhausted.lacks_an_attempt(dialect):
        raise NotExaminedError(TOO_FEW_ATTEMPTS)


def condition_met_at(exhausted: FailedDeliveries, dialect: Dialect) -> float | None:
    """When the condition for a notification was met at the earliest, on the monotonic clock; None
    if it was not.
    """
    if not notifies_contacts(dialect, exhausted.exhausted):
        return None
    by_state = dialect.delivery.notify_on.value is Notify.STATE_CHANGE
    return exhausted.exhausted_at(exhausted.exhausted if by_state else 1, dialect)


@check("3-7")
def an_endpoint_is_disabled_as_the_dialect_says(
    exhausted: ExhaustedDeliveries, context: CheckContext
) -> Iterator[Judgement]:
    """Its status is that of an active endpoint until the dialect's number of deliveries was
    exhausted. One that was created with another status is judged by 3-1.
    """
    after, words = context.dialect.retry.deactivate_after, context.dialect.words
    created_as = shown(exhausted.created).get("status") if exhausted.created else None
    if not after.decided or (created_as and not words.endpoint_active.allows(created_as)):
        return
    disabled = after.value == exhausted.exhausted
    for fetched, when, expected in (
        (exhausted.fetched_before, "before", words.endpoint_active),
        (
            exhausted.fetched_after,
            "after",
            words.endpoint_disabled if disabled else words.endpoint_active,
        ),
    ):
        status = shown(fetched).get("status") if fetched else None
        if status is not None:
            kept = expected.allows(status)
            if not kept:
                require_punctual(exhausted.late_s)
            rests_on_the_end = (
                when == "after" and not is_scheduled(context.dialect.retry)
                if kept
                else words.endpoint_active.allows(status)
            )
            if rests_on_the_end:
                require_exhausted(exhausted, context.dialect)
            yield judged(
                kept,
                "3-7",
                "An endpoint that keeps failing is not disabled as the dialect says",
                expected=f"{' or '.join(expected.allowed)} {when} exhausted delivery"
                f" {exhausted.exhausted}",
                actual=status,
                exchanges=[fetched],
                deliveries=exhausted.deliveries,
            )


@check("2.3-20")
def an_endpoint_counts_the_events_that_the_dialect_says(
    exhausted: ExhaustedDeliveries, context: CheckContext
) -> Iterator[Judgement]:
    """An endpoint that always failed was reached by events, and none was delivered to it. A count
    that is no count is judged by 2.3-16.
    """
    rule, fetched = context.dialect.representation.event_count, exhausted.fetched_after
    count = None if fetched is None else shown(fetched).get("events")
    if not rule.decided or not isinstance(count, int) or isinstance(count, bool) or count < 0:
        return
    arrived = [
        attempts
        for _, _, attempts in exhausted.arrived_events(
            exhausted.destinations, exhausted.events, context.dialect
        )
    ]
    if not arrived:
        return
    fits = {EventCount.REACHED: count >= len(arrived), EventCount.DELIVERED: count == 0}
    yield judged(
        any(fits[counted] for counted in rule.allowed),
        "2.3-20",
        "An endpoint that always failed does not count the events that the dialect says",
        expected=f"{' or '.join(rule.allowed)}; {len(arrived)} reached it, 0 were delivered",
        actual=count,
        exchanges=[fetched],
        deliveries=[attempts[-1] for attempts in arrived],
    )


def attempted_to_the_last(observed: LaterAttempts, context: CheckContext) -> Iterator[Judgement]:
    """Whether every delivery gets its last attempt (1-12), where that can be waited for and no
    endpoint is disabled meanwhile.

    One that is disabled all the same (3-7) gets the last attempt at one event and no other.
    """
    retry, awaited = context.dialect.retry, observed.awaited
    if awaited is None or not retry.attempts.decided or awaited < min(retry.attempts.allowed):
        return
    if retry.deactivate_after.allowed != (0,):
        return
    fewest = min(retry.attempts.allowed)
    arrived = list(observed.arrived_events(observed.destinations, observed.events, context.dialect))
    given_up_at = {each.name for each, _, attempts in arrived if len(attempts) >= fewest}
    for destination, event, attempts in arrived:
        enough = len(attempts) >= fewest
        may_be_disabled = destination.name in given_up_at and len(attempts) == fewest - 1
        if not enough and (
            may_be_disabled or observed.named_only(destination, event, context.dialect)
        ):
            continue
        if not enough:
            require_punctual(observed.late_s)
            require_next_attempt_due(observed, attempts, context.dialect)
        yield judged(
            enough,
            "1-12",
            "A failing delivery was attempted too rarely",
            expected=f"{retry.attempts.value} attempts",
            actual=f"{len(attempts)} attempts",
            exchanges=[observed.exchange(destination.name)],
            deliveries=attempts,
        )
