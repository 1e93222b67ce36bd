"""How deliveries are signed: which format, which secret, when (sections 2.3, 2.4 and 6)."""

from collections.abc import Iterator
from dataclasses import replace

from hookproof.conformance.checks.wrong_signatures import HeaderSignatures
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import (
    Judgement,
    Subject,
    judged,
    not_applicable,
    not_applicable_here,
)
from hookproof.conformance.model.tolerances import STAMP_S, require_punctual, widened
from hookproof.conformance.observations.deliveries import (
    TIME_REASONS,
    Attempts,
    DeliveryObservation,
    SignedDeliveries,
)
from hookproof.conformance.observations.destinations import Destination
from hookproof.conformance.observations.later_attempts import LaterAttempts
from hookproof.conformance.subjects.arrival.evidence import SigningFormats
from hookproof.conformance.subjects.reach.evidence import FanOut
from hookproof.conformance.subjects.retries.evidence import RetriedDeliveries
from hookproof.conformance.subjects.rolls.evidence import RollsUnderTraffic
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.assumptions import as_acted_on
from hookproof.spec.dialect.signing_key import signs_by_itself


@check("6-6", "6-7", "6-9")
def every_attempt_is_signed_in_the_format_of_its_endpoint(
    signed: SignedDeliveries | RollsUnderTraffic, context: CheckContext
) -> Iterator[Judgement]:
    """The raw body of each attempt, the first and further ones, verifies with its secret.

    Of an endpoint whose secret is rolled it is judged as far as the roll is no reason. What an
    endpoint gets that has the advanced format by default shows that the default is wrong (2.3-8,
    2.3-9), and nothing about either format; nor does an event with a custom header of the name of
    the signature's, which may be that header (6-13, 6-18).
    """
    if isinstance(signed, RollsUnderTraffic):
        for destination, delivery in signed.deliveries_whatever_was_rolled(context):
            yield verifies(format_of(destination), signed, destination, delivery, context)
        return
    for destination, event, attempts in signed.signed_attempts(context.dialect):
        scheme = as_acted_on(context.dialect.signatures.scheme(advanced=destination.advanced))
        custom = {name.lower() for name in signed.custom_headers(event)}
        if signed.is_advanced_unasked(destination) or scheme.header.lower() in custom:
            continue
        first, *further = attempts
        yield verifies(format_of(destination), signed, destination, first, context)
        # Where not even the first attempt verifies, the others show nothing more.
        for attempt in further if signed.signature(first, context).verified else ():
            yield verifies("6-9", signed, destination, attempt, context)


def format_of(destination: Destination) -> str:
    """The requirement of the signature format that an endpoint was to have."""
    return "6-7" if destination.advanced else "6-6"


@check("2.3-9")
def an_endpoint_without_advanced_signatures_gets_the_simple_format(
    signed: SigningFormats, context: CheckContext
) -> Iterator[Judgement]:
    """An endpoint that was not asked for a format gets the simple one."""
    if signed.format_is_required:
        yield not_applicable(
            "2.3-9", "The dialect requires advanced_signatures, so no endpoint is without it."
        )
    for destination in signed.with_default_format:
        for attempt in telling_attempts(signed, destination, context):
            yield replace(
                verifies("2.3-9", signed, destination, attempt, context),
                # Where the service says that the format is the other one, that is the cause.
                subject=Subject.ANSWER
                if signed.is_advanced_unasked(destination)
                else Subject.SIGNATURE,
            )


def telling_attempts(
    signed: SigningFormats, destination: Destination, context: CheckContext
) -> Attempts:
    """The attempts that show whether an endpoint has the right format and secret: those that
    verify if any does, since what is wrong with the others is neither (6-6, 6-7); otherwise all.
    """
    if not destination.secret:
        return ()
    arrived = tuple(
        attempt
        for event in signed.events
        for attempt in signed.attempts(destination, event, context.dialect)
    )
    verified = (each for each in arrived if signed.signature(each, context).verified)
    return tuple(verified) or arrived


@check("2.4-3")
def the_secret_that_is_shown_is_the_one_that_signs(
    signed: SigningFormats, context: CheckContext
) -> Iterator[Judgement]:
    """A secret that the service made signs with the value that its response showed.

    Where that signs other deliveries of the endpoint, it is not what is wrong (6-6, 6-7).
    """
    for destination in signed.with_generated_secret:
        if destination.secret is None:
            yield not_applicable_here(
                "2.4-3", "The response to the creation of an endpoint shows no secret."
            )
            continue
        if signs_by_itself(context.dialect, advanced=destination.advanced):
            continue
        for attempt in telling_attempts(signed, destination, context):
            yield verifies("2.4-3", signed, destination, attempt, context)


@check("6-8")
def a_delivery_is_signed_by_no_secret_of_another_endpoint(
    signed: SigningFormats | FanOut, context: CheckContext
) -> Iterator[Judgement]:
    """Of all secrets of the observation only the endpoint's own verify.

    That none of them does is judged by the format of the endpoint (6-6, 6-7, 2.3-9).
    """
    for destination, _, attempts in signed.signed_attempts(context.dialect):
        for attempt in attempts:
            signers = frozenset(signed.signature(attempt, context).known_secrets)
            if not signers:
                continue
            yield judged(
                signers <= set(destination.secrets),
                "6-8",
                "A delivery is not signed by a secret of its own endpoint alone",
                expected=f"signed by the secret of {destination.name!r}",
                actual="signed by another endpoint's secret",
                exchanges=[signed.exchange(destination.name)],
                deliveries=[attempt],
                subject=Subject.SIGNATURE,
            )


@check("6-10")
def one_living_secret_makes_one_advanced_signature(
    signed: SigningFormats, context: CheckContext
) -> Iterator[Judgement]:
    """An endpoint that was never rolled has one secret, so its header holds one signature with the
    first label. Further attempts without a valid one are for 6-9.
    """
    for destination, _, attempts in signed.signed_attempts(context.dialect):
        for attempt in attempts if destination.advanced else ():
            reading = signed.signature(attempt, context)
            if attempt is not attempts[0] and not reading.verified:
                continue
            count = len(reading.in_order)
            judgement = judged(
                reading.verified and count == 1,
                "6-10",
                "The advanced format does not carry one signature for the one valid secret",
                expected="one valid signature",
                actual=f"{count} signatures" if reading.verified else reading.why_unverified,
                exchanges=[signed.exchange(destination.name)],
                deliveries=[attempt],
                subject=Subject.SIGNATURE,
            )
            header = HeaderSignatures(
                delivery=attempt, reading=reading, dialect=context.dialect, advanced=True
            )
            yield header.pointed_out(judgement)


@check("6-11")
def the_time_that_is_signed_is_that_of_the_attempt(
    signed: SigningFormats | RetriedDeliveries | LaterAttempts, context: CheckContext
) -> Iterator[Judgement]:
    """It lies within the tolerance of the arrival, and is later for each further attempt, and for
    the next event at the same endpoint.
    """
    schemes = context.dialect.signatures
    if not any("{timestamp}" in scheme.signed for scheme in (schemes.simple, schemes.advanced)):
        yield not_applicable("6-11", "The dialect signs no time.")
    if isinstance(signed, LaterAttempts):
        for destination in signed.destinations:
            arrived = signed.in_order(destination, context.dialect) if destination.secret else ()
            yield from signed_times(signed, destination, arrived, context)
        return
    for destination, _, attempts in signed.signed_attempts(context.dialect):
        yield from signed_times(signed, destination, attempts, context)


def signed_times(
    signed: SignedDeliveries, destination: Destination, attempts: Attempts, context: CheckContext
) -> Iterator[Judgement]:
    """Whether each attempt at one event was signed with its own time."""
    scheme = context.dialect.signatures.scheme(advanced=destination.advanced)
    unit_s, tolerance_s = scheme.timestamp_unit.in_seconds, widened(STAMP_S, signed)
    first: tuple[float, float] | None = None  # when it was signed, and when it arrived
    for attempt in attempts:
        reading = signed.signature(attempt, context)
        if reading.reason in TIME_REASONS:
            yield is_of_attempt(False, signed, destination, attempt, reading.detail)
        if reading.verified and reading.signed_at is not None:
            if first is None:
                first = (reading.signed_at, attempt.arrived_at)
            later_s, passed_s = reading.signed_at - first[0], attempt.arrived_at - first[1]
            in_time = later_s + unit_s + tolerance_s >= passed_s
            if not in_time:
                require_punctual(signed.late_s)
            yield is_of_attempt(
                in_time,
                signed,
                destination,
                attempt,
                f"{passed_s:.1f} s later the time is {later_s:.1f} s later",
            )


def is_of_attempt(
    ok: bool,
    signed: SignedDeliveries,
    destination: Destination,
    attempt: ReceivedDelivery,
    actual: str,
) -> Judgement:
    """Whether a signed time is that of its attempt."""
    return judged(
        ok,
        "6-11",
        "The time that is signed is not that of the attempt",
        expected="the time at which the attempt was made",
        actual=actual,
        exchanges=[signed.exchange(destination.name)],
        deliveries=[attempt],
        subject=Subject.SIGNATURE,
    )


def verifies(
    requirement: str,
    signed: DeliveryObservation,
    destination: Destination,
    attempt: ReceivedDelivery,
    context: CheckContext,
) -> Judgement:
    """Whether a delivery verifies with its endpoint's secret in its endpoint's format."""
    reading = signed.signature(attempt, context)
    scheme = as_acted_on(context.dialect.signatures.scheme(advanced=destination.advanced))
    judgement = judged(
        reading.verified,
        requirement,
        "A delivery carries no valid signature in the"
        f" {'advanced' if destination.advanced else 'simple'} format",
        expected=f"{scheme.header} over the raw body",
        actual=reading.why_unverified,
        exchanges=[signed.exchange(destination.name)],
        deliveries=[attempt],
        subject=Subject.SIGNATURE,
    )
    header = HeaderSignatures(
        delivery=attempt,
        reading=reading,
        dialect=context.dialect,
        advanced=destination.advanced,
    )
    return header.pointed_out(judgement)
