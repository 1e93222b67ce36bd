"""How deliveries are signed: which format, which secret, when (sections 2.3, 2.4 and 6)."""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import (
    Judgement,
    Subject,
    holds,
    not_applicable,
    violated,
)
from hookproof.conformance.model.tolerances import STAMP_S
from hookproof.conformance.observations.case import Case, deliveries_of, destinations, events
from hookproof.conformance.observations.destinations import Destination, Event
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.signatures.verification import Reason

# The experiments that keep the secrets of their endpoints.
SIGNED: Final = (
    "signing",
    "broadcast",
    "flood",
    "fan_out",
    "repeats",
    "retries",
    "rate_limit",
    "custom_headers",
)

TIME_REASONS: Final = (Reason.TIMESTAMP_TOO_OLD, Reason.TIMESTAMP_TOO_FAR_AHEAD)


def attempts(
    case: Case, context: CheckContext
) -> Iterator[tuple[Destination, Event, tuple[ReceivedDelivery, ...]]]:
    """Each destination whose secret is known and stays, with each event that arrived there."""
    for destination in destinations(case):
        for event in events(case):
            arrived = deliveries_of(case, destination, event, context.dialect)
            if arrived and destination.secret and not destination.rolls:
                yield destination, event, arrived


@check("6-6", "6-7", "6-9", experiments=SIGNED)
def every_attempt_is_signed_in_the_format_of_its_endpoint(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """The raw body of each attempt verifies with the endpoint's secret, the first time and again."""
    for destination, _, arrived in attempts(case, context):
        first = "6-7" if destination.advanced else "6-6"
        for number, delivery in enumerate(arrived):
            yield signed_or_not(
                first if number == 0 else "6-9", case, destination, delivery, context
            )


@check("2.3-9", experiments=("signing",))
def an_endpoint_without_advanced_signatures_gets_the_simple_format(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """An endpoint that was not asked for a format gets the simple one."""
    for destination, _, arrived in attempts(case, context):
        if "advanced_signatures" not in destination.settings:
            for delivery in arrived:
                yield signed_or_not("2.3-9", case, destination, delivery, context)
        elif destination.name == "format not given":
            yield not_applicable(
                "2.3-9", "The dialect requires advanced_signatures, so no endpoint is without it."
            )


@check("2.4-3", experiments=("signing",))
def the_secret_that_is_shown_is_the_one_that_signs(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """A secret that the service made signs with the value that its response showed."""
    for destination in destinations(case):
        if "secret" in destination.settings:
            continue
        if destination.secret is None:
            yield not_applicable(
                "2.4-3", "The response to the creation of an endpoint shows no secret."
            )
        for event in events(case) if destination.secret else ():
            for delivery in deliveries_of(case, destination, event, context.dialect):
                yield signed_or_not("2.4-3", case, destination, delivery, context)


@check("6-8", experiments=("signing", "fan_out"))
def a_delivery_is_signed_by_no_secret_of_another_endpoint(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """Of all secrets of the case only the endpoint's own verify."""
    for destination, _, arrived in attempts(case, context):
        for delivery in arrived:
            found = frozenset(case.signature(delivery, context).known_secrets)
            if found and found <= set(destination.secrets):
                yield holds("6-8", deliveries=[delivery])
            else:
                yield violated(
                    "6-8",
                    "A delivery is not signed by a secret of its own endpoint alone",
                    expected=f"signed by the secret of {destination.name!r}",
                    actual="signed by another endpoint's secret"
                    if found
                    else "signed by no known secret",
                    exchanges=[case.exchange(destination.name)],
                    deliveries=[delivery],
                    subject=Subject.SIGNATURE,
                )


@check("6-10", experiments=("signing",))
def one_living_secret_makes_one_advanced_signature(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """An endpoint that was never rolled has one secret, so its header holds one signature with the
    first label.
    """
    for destination, _, arrived in attempts(case, context):
        for delivery in arrived if destination.advanced else ():
            found = case.signature(delivery, context)
            if found.verified and len(found.in_order) == 1:
                yield holds("6-10", deliveries=[delivery])
            else:
                yield violated(
                    "6-10",
                    "The advanced format does not carry one signature for the one living secret",
                    expected="one valid signature",
                    actual=f"{len(found.in_order)} signatures"
                    if found.verified
                    else found.why_unverified,
                    exchanges=[case.exchange(destination.name)],
                    deliveries=[delivery],
                    subject=Subject.SIGNATURE,
                )


@check("6-11", experiments=("signing", "retries"))
def the_time_that_is_signed_is_that_of_the_attempt(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """It lies within the tolerance of the arrival, and moves on from one attempt to the next."""
    schemes = context.dialect.signatures
    if not any("{timestamp}" in one.signed for one in (schemes.simple, schemes.advanced)):
        yield not_applicable("6-11", "The dialect signs no time.")
    for destination, _, arrived in attempts(case, context):
        unit_s = schemes.scheme(advanced=destination.advanced).timestamp_unit.in_seconds
        times: list[tuple[float, float]] = []
        for delivery in arrived:
            found = case.signature(delivery, context)
            if found.reason in TIME_REASONS:
                yield stale(case, destination, found.detail, delivery)
            if found.verified and found.signed_at is not None:
                times.append((found.signed_at, delivery.arrived_at))
                signed, passed = (times[-1][place] - times[0][place] for place in (0, 1))
                if signed + unit_s + STAMP_S < passed:
                    yield stale(
                        case,
                        destination,
                        f"{passed:.1f} s later the time is {signed:.1f} s later",
                        delivery,
                    )
                else:
                    yield holds("6-11", deliveries=[delivery])


def signed_or_not(
    requirement: str,
    case: Case,
    destination: Destination,
    delivery: ReceivedDelivery,
    context: CheckContext,
) -> Judgement:
    """Whether a delivery verifies with its endpoint's secret in its endpoint's format."""
    found = case.signature(delivery, context)
    if found.verified:
        return holds(requirement, deliveries=[delivery])
    kind = "advanced" if destination.advanced else "simple"
    return violated(
        requirement,
        f"A delivery carries no valid signature in the {kind} format",
        expected=f"{context.dialect.signatures.scheme(advanced=destination.advanced).header} over the raw body",
        actual=found.why_unverified,
        exchanges=[case.exchange(destination.name)],
        deliveries=[delivery],
        subject=Subject.SIGNATURE,
    )


def stale(
    case: Case, destination: Destination, actual: str, delivery: ReceivedDelivery
) -> Judgement:
    """A signed time that is not that of its attempt."""
    return violated(
        "6-11",
        "The time that is signed is not that of the attempt",
        expected="the time at which the attempt was made",
        actual=actual,
        exchanges=[case.exchange(destination.name)],
        deliveries=[delivery],
        subject=Subject.SIGNATURE,
    )
