"""What deliveries carry to prove themselves to their destination (sections 2.3, 2.5 and 5)."""

from collections.abc import Iterator

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, judged, not_applicable, violated
from hookproof.conformance.observations.delivery.arrival.broadcasts import (
    PayloadBroadcasts,
    SigningFormats,
)
from hookproof.conformance.observations.delivery.security.credentials import (
    ApiKeyDeliveries,
    AssertionGrant,
    AuthorizedDeliveries,
    BasicAuthDeliveries,
    ClientCertificateDeliveries,
    FixedCredentials,
    RedirectedTokenUrl,
    SharedSecretGrant,
    ShortLivedToken,
)
from hookproof.conformance.observations.delivery.security.token_requests import CLIENT, GRANT


@check("2.5-3", "2.5-6")
def a_delivery_carries_a_token_that_was_issued(
    observed: SharedSecretGrant | AssertionGrant, context: CheckContext
) -> Iterator[Judgement]:
    """A header holds an access token of the token server, read under the name that field_mapping
    gives.
    """
    if not observed.anything_arrived:
        return
    mapped = isinstance(observed, SharedSecretGrant) and observed.is_mapped
    arrived = observed.delivered(context.dialect)
    authorization = arrived[0].header("Authorization") if arrived else None
    yield judged(
        any(map(observed.tokens_in, arrived)),
        "2.5-6" if mapped else "2.5-3",
        "A delivery to an endpoint with oauth2 carries no access token of its token URL",
        expected="a header with an access token that was issued",
        actual=(authorization or "no Authorization") if arrived else "no delivery",
        exchanges=observed.exchanges_of_event,
        deliveries=[*observed.requests_for_tokens, *arrived],
    )


@check("2.5-4", "2.5-5")
def a_token_request_carries_what_was_given(
    observed: SharedSecretGrant, _context: CheckContext
) -> Iterator[Judgement]:
    """Client identifier and shared secret in the header or the body; grant_type, scope and audience
    in the body.
    """
    for delivery, request in observed.first_token_request:
        for requirement, names in {"2.5-4": CLIENT, "2.5-5": GRANT}.items():
            missing = [name for name in names if name in request.missing]
            yield judged(
                not missing,
                requirement,
                "A token request does not carry a member of oauth2",
                expected={name: observed.oauth2[name] for name in missing},
                actual=f"{', '.join(missing)} missing, or with another value",
                exchanges=observed.exchanges_of_event[:1],
                deliveries=[delivery],
            )


@check("2.5-8")
def a_token_request_carries_an_assertion(
    observed: AssertionGrant, _context: CheckContext
) -> Iterator[Judgement]:
    """With a signing_key there is an assertion by the issuer about the subject, signed with that
    key.
    """
    for delivery, request in observed.first_token_request:
        yield judged(
            request.assertion_problem is None,
            "2.5-8",
            "A token request carries no assertion that the signing_key has signed",
            expected="an assertion with the issuer and the subject that were given",
            actual=request.assertion_problem,
            exchanges=observed.exchanges_of_event[:1],
            deliveries=[delivery],
        )


@check("2.5-7")
def a_token_is_not_used_beyond_its_lifetime(
    observed: ShortLivedToken, context: CheckContext
) -> Iterator[Judgement]:
    """An event that was broadcast after the end of the first token carries another one."""
    for delivery in observed.delivered_after_end(context.dialect):
        places = observed.tokens_in(delivery)
        if places:
            yield judged(
                0 not in places,
                "2.5-7",
                "A token is used beyond its lifetime",
                expected="a token that was fetched anew",
                actual="the token whose lifetime was over",
                exchanges=observed.exchanges_after_end,
                deliveries=[*observed.requests_for_tokens, delivery],
            )


@check("2.5-14")
def a_redirect_of_the_token_url_is_not_followed(
    observed: RedirectedTokenUrl, _context: CheckContext
) -> Iterator[Judgement]:
    """Nothing arrived where the token URL pointed."""
    if observed.requests_for_tokens:
        yield judged(
            not observed.redirected,
            "2.5-14",
            "A redirect that the token URL answered with was followed",
            expected="no request to the Location of the answer",
            actual=f"{len(observed.redirected)} requests",
            exchanges=observed.exchanges_of_event[:1],
            deliveries=[*observed.requests_for_tokens, *observed.redirected],
        )


@check("2.5-9")
def a_delivery_carries_the_header_of_its_api_key(
    observed: ApiKeyDeliveries, context: CheckContext
) -> Iterator[Judgement]:
    """The header that api_key names has the value that it gives."""
    yield from carries_fixed_credentials("2.5-9", "api_key", observed, context)


@check("2.5-10")
def a_delivery_carries_its_basic_credentials(
    observed: BasicAuthDeliveries, context: CheckContext
) -> Iterator[Judgement]:
    """User name and password are written as RFC 7617 says."""
    yield from carries_fixed_credentials("2.5-10", "basic_auth", observed, context)


@check("2.3-17")
def a_delivery_presents_the_certificate_of_its_endpoint(
    observed: ClientCertificateDeliveries, context: CheckContext
) -> Iterator[Judgement]:
    """The connection showed the certificate of mtls_client_cert."""
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
        bool(arrived) and all(delivery.all_headers(name) == (value,) for delivery in arrived),
        requirement,
        "A delivery does not carry the credentials of its endpoint",
        expected=f"{name}: {value}",
        actual=arrived[0].all_headers(name) if arrived else "no delivery",
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
