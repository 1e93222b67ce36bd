"""Custom headers that the service sets itself, and line breaks in them (section 6)."""

from collections.abc import Iterator

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, holds, json_text, judged, violated
from hookproof.conformance.subjects.custom_headers.evidence import (
    ForgedCredentials,
    HostileHeaders,
    reserved_headers,
)
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.signature_scheme import SignatureScheme
from hookproof.spec.dialect.vocabulary import OnInput


@check("6-13")
def a_reserved_header_is_ignored_or_refused_as_the_dialect_says(
    hostile: HostileHeaders, context: CheckContext
) -> Iterator[Judgement]:
    """The broadcast was refused with the dialect's status, or the delivery shows the service's own
    value.
    """
    rule = context.dialect.delivery.reserved_headers
    refusal = context.dialect.errors.status("invalid_value", "createBroadcastEvent")
    context.require_same_rules("broadcasts with headers that the service sets", reserved_headers)
    for header, broadcast, proof in hostile.decided(hostile.reserved, context.dialect):
        outcome = OnInput.IGNORED if broadcast.succeeded else OnInput.REFUSED
        forged = [
            delivery
            for delivery in hostile.deliveries_with(header, context.dialect)
            if header.content in delivery.all_headers(header.name)
        ]
        refused_as_specified = broadcast.succeeded or refusal.allows(broadcast.status)
        yield judged(
            rule.allows(outcome) and refused_as_specified and not forged,
            "6-13",
            "A custom header that the service itself sets is not treated as the dialect says",
            expected=f"{' or '.join(rule.allowed)}: {header.name}",
            actual=f"answered {broadcast.status}"
            + (", and delivered with the forged value" if forged else ""),
            exchanges=[broadcast],
            deliveries=forged or proof,
        )


@check("6-18")
def no_custom_header_replaces_or_doubles_the_signature(
    hostile: HostileHeaders, context: CheckContext
) -> Iterator[Judgement]:
    """No header of a signature has the text that was sent as a custom header.

    A signature that is missing, or doubled by the service itself, is judged where deliveries are
    verified.
    """
    signatures = context.dialect.signatures
    context.require_same_signatures()
    for header, broadcast, proof in hostile.decided(hostile.reserved, context.dialect):
        wrong = [
            delivery
            for advanced in (False, True)
            for delivery in hostile.deliveries_with(header, context.dialect, advanced=advanced)
            if is_forged(delivery, header.content, signatures.scheme(advanced=advanced))
        ]
        values = wrong[0].all_headers(header.name) if wrong else ()
        yield judged(
            not wrong,
            "6-18",
            "A custom header replaces or doubles the signature of a delivery",
            expected="one signature, made by the service",
            actual=f"{header.name} was sent as a custom header: {json_text(values)}",
            exchanges=[broadcast],
            deliveries=wrong or proof,
        )


@check("6-18")
def no_custom_header_replaces_or_doubles_credentials(
    observed: ForgedCredentials, context: CheckContext
) -> Iterator[Judgement]:
    """A delivery carries the credentials that the sentinel shows, and no others beside them.

    An endpoint whose sentinel shows none has none; where they are missing alone is for section 2.5.
    """
    for destination in observed.destinations:
        header = observed.forged[destination.name]
        sentinels = observed.sentinels_at(destination, context.dialect)
        own = {delivery.all_headers(header.name) for delivery in sentinels} - {()}
        for _, broadcast, _ in observed.decided((header,), context.dialect):
            arrived = sentinels
            if broadcast.succeeded:
                arrived = observed.attempts_at(destination, header.event, context.dialect)
            carried = {delivery.all_headers(header.name) for delivery in arrived} - {()}
            if own and carried:
                yield judged(
                    carried <= own,
                    "6-18",
                    "A custom header replaces or doubles the credentials of an endpoint",
                    expected=json_text(sorted(own)),
                    actual=f"{header.name} as a custom header: {json_text(sorted(carried))}",
                    exchanges=[observed.exchange(destination.name), broadcast],
                    deliveries=(*arrived, *sentinels),
                )


def is_forged(delivery: ReceivedDelivery, content: str, scheme: SignatureScheme) -> bool:
    """Whether a header of the signature has this content, alone or in a list of values."""
    return any(
        content in value
        for name in (scheme.header, scheme.timestamp_header)
        if name is not None
        for value in delivery.all_headers(name)
    )


@check("6-19")
def a_line_break_in_a_custom_header_adds_nothing(
    hostile: HostileHeaders, context: CheckContext
) -> Iterator[Judgement]:
    """The broadcast was refused, or its delivery has neither the injected header nor its body."""
    injected = [
        request
        for request in hostile.requests
        if request.header(hostile.injected) is not None or request.body.startswith(b"injected")
    ]
    if injected:
        yield violated(
            "6-19",
            "A line break in a custom header adds a header or a body to a delivery",
            expected=f"no {hostile.injected} header and an unaltered body",
            actual=injected[0].header(hostile.injected) or "another body",
            exchanges=[hostile.exchange(header.event) for header in hostile.broken],
            deliveries=injected,
        )
        return
    for _, broadcast, proof in hostile.decided(hostile.broken, context.dialect):
        yield holds("6-19", exchanges=[broadcast], deliveries=proof)
