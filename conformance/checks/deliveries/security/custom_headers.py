"""Custom headers that the service sets itself, and line breaks in them (section 6)."""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, holds, violated
from hookproof.conformance.observations.case import Case, deliveries_of, destinations, events
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.vocabulary import OnInput

HOSTILE: Final = ("custom_headers",)


@check("6-13", experiments=HOSTILE)
def a_reserved_header_is_ignored_or_refused_as_the_dialect_says(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """The broadcast was refused with the dialect's status, or the delivery shows the service's own
    value.
    """
    rule = context.dialect.delivery.reserved_headers
    for name, (header, value) in case.facts["reserved"].items():
        created = case.exchange(name)
        if created is None or created.status is None:
            continue
        outcome = OnInput.IGNORED if created.succeeded else OnInput.REFUSED
        arrived = deliveries(case, context, name)
        forged = [one for one in arrived if value in one.all_headers(header)]
        refused_as_said = created.succeeded or context.dialect.errors.invalid_value.allows(
            created.status
        )
        if rule.allows(outcome) and refused_as_said and not forged:
            yield holds("6-13")
        else:
            yield violated(
                "6-13",
                "A custom header that the service itself sets is not treated as the dialect says",
                expected=f"{rule.value}: {header}",
                actual=told(created, forged),
                exchanges=[created],
                deliveries=forged or arrived,
            )


@check("6-18", experiments=HOSTILE)
def no_custom_header_replaces_or_doubles_the_signature(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """Each delivery has the headers of its signature once, and none of them is forged."""
    signatures = context.dialect.signatures
    for name, (header, value) in case.facts["reserved"].items():
        created = case.exchange(name)
        if created is None or created.status is None:
            continue
        wrong = [
            one
            for advanced in (False, True)
            for one in deliveries(case, context, name, advanced=advanced)
            for scheme in (signatures.scheme(advanced=advanced),)
            if any(
                len(one.all_headers(own)) != 1 or value in one.all_headers(own)
                for own in (scheme.header, scheme.timestamp_header)
                if own is not None
            )
        ]
        if not wrong:
            yield holds("6-18")
        else:
            yield violated(
                "6-18",
                "A custom header replaces or doubles the signature of a delivery",
                expected="one signature, made by the service",
                actual=f"{header} was sent as a custom header: {wrong[0].all_headers(header)}",
                exchanges=[created],
                deliveries=wrong,
            )


@check("6-19", experiments=HOSTILE)
def a_line_break_in_a_custom_header_adds_nothing(
    case: Case, _context: CheckContext
) -> Iterator[Judgement]:
    """The broadcast was refused, or its deliveries have no header and no body that came out of the
    break.
    """
    injected = case.facts["injected"]
    requests = [
        one for destination in destinations(case) for one in case.arrived_at(destination.token)
    ]
    for name in case.facts["broken"]:
        created = case.exchange(name)
        if created is None or created.status is None:
            continue
        wrong = [
            one
            for one in requests
            if one.header(injected) is not None or one.body.startswith(b"injected")
        ]
        if not wrong:
            yield holds("6-19")
        else:
            yield violated(
                "6-19",
                "A line break in a custom header adds a header or a body to a delivery",
                expected=f"no {injected} header and an unaltered body",
                actual=wrong[0].header(injected) or "another body",
                exchanges=[created],
                deliveries=wrong,
            )


def deliveries(
    case: Case, context: CheckContext, name: str, *, advanced: bool | None = None
) -> list[ReceivedDelivery]:
    """What arrived of an event, at the destinations of one format if that is given."""
    return [
        delivery
        for destination in destinations(case)
        if advanced is None or destination.advanced is advanced
        for event in events(case, name)
        for delivery in deliveries_of(case, destination, event, context.dialect)
    ]


def told(created: Exchange, forged: list[ReceivedDelivery]) -> str:
    """What became of a broadcast, in words."""
    return f"answered {created.status}" + (
        ", and delivered with the forged value" if forged else ""
    )
