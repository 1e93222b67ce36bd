"""What becomes of deliveries that fail for ever, and of their endpoint (sections 1, 3 and 6)."""

from collections.abc import Iterator

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, holds, violated
from hookproof.conformance.model.notification import tells_of
from hookproof.conformance.observations.case import Case, deliveries_of, destinations, events
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.vocabulary import Notify

EXHAUSTION = ("exhaustion",)


def attempts(case: Case, context: CheckContext) -> Iterator[tuple[ReceivedDelivery, ...]]:
    """The attempts at the last event, if any has arrived."""
    for destination in destinations(case):
        for event in events(case, "event"):
            arrived = deliveries_of(case, destination, event, context.dialect)
            if arrived:
                yield arrived


@check("1-12", "1-13", experiments=EXHAUSTION)
def a_failing_delivery_is_attempted_as_often_as_the_dialect_says(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """An endpoint that always fails got so many attempts, not fewer and not more."""
    wanted = context.dialect.retry.attempts
    for arrived in attempts(case, context):
        for requirement, kept, message in (
            (
                "1-12",
                len(arrived) >= min(wanted.allowed),
                "A failing delivery was attempted too rarely",
            ),
            (
                "1-13",
                len(arrived) <= max(wanted.allowed),
                "A failing delivery was attempted too often",
            ),
        ):
            if kept:
                yield holds(requirement)
            else:
                yield violated(
                    requirement,
                    message,
                    expected=f"{wanted.value} attempts",
                    actual=f"{len(arrived)} attempts",
                    exchanges=[case.exchange("failing")],
                    deliveries=arrived,
                )


@check("6-14", experiments=EXHAUSTION)
def the_chat_channel_is_told_as_the_dialect_says(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """The channel of the endpoint was told when the condition was met, and neither before nor
    without it.
    """
    if not context.dialect.delivery.notify_on.decided:
        return
    condition, chat = context.dialect.delivery.notify_on.value, case.facts["chat"]
    for arrived in attempts(case, context):
        told = case.arrived_at(chat)
        met_at = condition_met_at(case, context, arrived)
        if met_at is None:
            kept, expected = not told, "no message"
        else:
            kept = bool(told) and all(one.arrived_monotonic >= met_at for one in told)
            expected = "a message once the condition is met"
        if kept:
            yield holds("6-14")
        else:
            yield violated(
                "6-14",
                "The slack_webhook_url of an endpoint is not told as the dialect says",
                expected=f"{expected}: {condition}",
                actual=f"{len(told)} messages",
                exchanges=[case.exchange("failing")],
                deliveries=[*arrived, *told],
            )


def condition_met_at(
    case: Case, context: CheckContext, last: tuple[ReceivedDelivery, ...]
) -> float | None:
    """When the condition for a notification was met at the earliest, on the monotonic clock; None
    if it was not.
    """
    dialect = context.dialect
    if not tells_of(dialect, case.facts["exhausted"]):
        return None
    if dialect.delivery.notify_on.value is Notify.STATE_CHANGE:
        return last[-1].arrived_monotonic
    every = [
        deliveries_of(case, destination, event, dialect)
        for destination in destinations(case)
        for event in events(case)
    ]
    return min(arrived[-1].arrived_monotonic for arrived in every if arrived)


@check("3-7", experiments=EXHAUSTION)
def an_endpoint_is_disabled_as_the_dialect_says(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """Its status is that of an active endpoint until the dialect's number of deliveries was
    exhausted.
    """
    after, words = context.dialect.retry.deactivate_after, context.dialect.words
    if not after.decided:
        return
    disabled = after.value == case.facts["exhausted"]
    for role, expected in {
        "before": words.endpoint_active,
        "after": words.endpoint_disabled if disabled else words.endpoint_active,
    }.items():
        fetched = case.exchange(role)
        status = fetched.data.get("status") if fetched and isinstance(fetched.data, dict) else None
        if status is None:
            continue
        if expected.allows(status):
            yield holds("3-7")
        else:
            yield violated(
                "3-7",
                "An endpoint that keeps failing is not disabled as the dialect says",
                expected=f"{expected.value} {role} exhausted delivery {case.facts['exhausted']}",
                actual=status,
                exchanges=[fetched],
                deliveries=case.deliveries,
            )
