"""What deliveries carry to prove themselves to their destination (sections 2.3, 2.5 and 5)."""

from collections.abc import Iterator

from hookproof.conformance.checks.deliveries.attempts.later_attempts import (
    certificate_of_the_first,
    credentials_of_the_first,
)
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, judged, not_applicable, violated
from hookproof.conformance.observations.delivery.arrival.broadcasts import (
    PayloadBroadcasts,
    SigningFormats,
)
from hookproof.conformance.observations.delivery.attempts.later_attempts import LaterAttempts
from hookproof.conformance.observations.delivery.security.credentials import (
    PLAIN,
    ApiKeyDeliveries,
    AuthorizedDeliveries,
    BasicAuthDeliveries,
    ClientCertificateDeliveries,
    FixedCredentials,
    carried,
)


@check("2.5-9")
def a_delivery_carries_the_header_of_its_api_key(
    observed: ApiKeyDeliveries | LaterAttempts, context: CheckContext
) -> Iterator[Judgement]:
    """The header that api_key names has the value that it gives."""
    if isinstance(observed, LaterAttempts):
        yield from credentials_of_the_first("2.5-9", observed, context)
        return
    yield from carries_fixed_credentials("2.5-9", "api_key", observed, context)


@check("2.5-10")
def a_delivery_carries_its_basic_credentials(
    observed: BasicAuthDeliveries | LaterAttempts, context: CheckContext
) -> Iterator[Judgement]:
    """User name and password are written as RFC 7617 says."""
    if isinstance(observed, LaterAttempts):
        yield from credentials_of_the_first("2.5-10", observed, context)
        return
    yield from carries_fixed_credentials("2.5-10", "basic_auth", observed, context)


@check("2.5-9", "2.5-10")
def fixed_credentials_reach_no_other_endpoint(
    observed: ApiKeyDeliveries | BasicAuthDeliveries, _context: CheckContext
) -> Iterator[Judgement]:
    """An endpoint without credentials, created after the one that has them, gets none of them.

    That it gets none shows nothing of what the other one gets, which is judged where that arrives.
    """
    if not observed.accepted:
        return
    name, value = observed.header
    leaked = [
        delivery
        for destination in observed.destinations_named(PLAIN)
        for delivery in observed.arrived_at(destination.token)
        if value in carried(delivery, name)
    ]
    if leaked:
        yield violated(
            "2.5-9" if isinstance(observed, ApiKeyDeliveries) else "2.5-10",
            "A delivery carries the credentials of another endpoint",
            expected=f"no header {name}",
            actual=f"{name}: {value}",
            exchanges=[observed.exchange(PLAIN), *observed.exchanges_of_event],
            deliveries=leaked,
        )


@check("2.3-17")
def a_delivery_presents_the_certificate_of_its_endpoint(
    observed: ClientCertificateDeliveries | LaterAttempts, context: CheckContext
) -> Iterator[Judgement]:
    """The connection showed the certificate of mtls_client_cert."""
    if isinstance(observed, LaterAttempts):
        yield from certificate_of_the_first(observed, context)
        return
    if not observed.anything_arrived:
        return
    arrived = observed.delivered(context.dialect)
    presented = [delivery.client_certificate for delivery in arrived]
    yield judged(
        bool(arrived) and all(certificate == observed.fingerprint for certificate in presented),
        "2.3-17",
        "A delivery to an endpoint with mtls_client_cert does not present that certificate",
        expected=observed.fingerprint,
        actual=(presented[0] or "no certificate") if presented else "no delivery",
        exchanges=observed.exchanges_of_event,
        deliveries=arrived,
    )


@check("2.3-18")
def a_delivery_presents_no_certificate_that_it_was_not_given(
    observed: PayloadBroadcasts | SigningFormats | AuthorizedDeliveries, _context: CheckContext
) -> Iterator[Judgement]:
    """Endpoints without mtls_client_cert see no certificate, also while others see theirs."""
    for destination in observed.destinations:
        if "mtls_client_cert" in destination.settings:
            continue
        for delivery in observed.arrived_at(destination.token):
            if delivery.tls is None:  # it ended at a proxy, which may have been shown one
                continue
            yield judged(
                delivery.client_certificate is None,
                "2.3-18",
                "A delivery presents a client certificate that its endpoint was not given",
                expected="no certificate",
                actual=delivery.client_certificate,
                exchanges=[observed.exchange(destination.name)],
                deliveries=[delivery],
            )


def carries_fixed_credentials(
    requirement: str,
    kind: str,
    observed: ApiKeyDeliveries | BasicAuthDeliveries,
    context: CheckContext,
) -> Iterator[Judgement]:
    """Whether the delivery of the event carries the header of its credentials."""
    if not observed.accepted:
        yield not_accepted(requirement, kind, observed)
        return
    if not observed.anything_arrived:
        return
    name, value = observed.header
    arrived = observed.delivered(context.dialect)
    yield judged(
        bool(arrived) and all(carried(delivery, name) == (value,) for delivery in arrived),
        requirement,
        "A delivery does not carry the credentials of its endpoint",
        expected=f"{name}: {value}",
        actual=carried(arrived[0], name) if arrived else "no delivery",
        exchanges=observed.exchanges_of_event,
        deliveries=arrived,
    )


def not_accepted(requirement: str, kind: str, observed: FixedCredentials) -> Judgement:
    """The document shows this kind of authentication in responses only, so a target need not accept
    it; one that promised it must.
    """
    if not observed.promised:
        return not_applicable(
            requirement, f"The target does not accept {kind} when an endpoint is created."
        )
    return violated(
        requirement,
        f"The target file promises {kind}, and the target does not accept it",
        expected=f"an endpoint with {kind}",
        actual=f"status {observed.asked.status}" if observed.asked else "no answer",
        exchanges=[observed.asked] if observed.asked else observed.exchanges,
    )
