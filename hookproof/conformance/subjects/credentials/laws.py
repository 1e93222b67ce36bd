"""What deliveries carry to prove themselves: fixed credentials, certificates, access tokens and the
requests for them (sections 2.3, 2.5 and 5, RFC 7523).
"""

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from hookproof.conformance.checks.further_attempts import behind_s
from hookproof.conformance.checks.request_target import asks_for, has_more
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.judgement import Judgement, judged, not_applicable, violated
from hookproof.conformance.model.tolerances import STAMP_S, late_machine, require_punctual, widened
from hookproof.conformance.observations.client_assertion import AssertionReading
from hookproof.conformance.observations.destinations import DECOY, Destination
from hookproof.conformance.observations.later_attempts import LaterAttempts, authentication_of
from hookproof.conformance.subjects.arrival.evidence import (
    PayloadBroadcasts,
    SigningFormats,
)
from hookproof.conformance.subjects.credentials.evidence import (
    ANOTHER_SERVER,
    CLIENT,
    GRANT,
    PLAIN,
    ApiKeyDeliveries,
    AssertionGrant,
    AuthorizedDeliveries,
    BasicAuthDeliveries,
    ClientCertificateDeliveries,
    FixedCredentials,
    LaterTokens,
    PartlyMappedToken,
    RedirectedTokenUrl,
    RepeatedDeliveries,
    SharedSecretGrant,
    SharedTokenUrl,
    ShortLivedToken,
    TypedToken,
    carried,
)
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import PartialMapping, TokenScheme


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


AUTHORIZATION: Final = "Authorization"


def credentials_of_the_first(
    requirement: str, observed: LaterAttempts, context: CheckContext
) -> Iterator[Judgement]:
    """Whether further deliveries carry the fixed credentials of the first, if that carries them: a
    target need not accept any.
    """
    for destination in observed.destinations:
        named = fixed_credentials(destination, context.dialect)
        if named is None or named[0] != requirement:
            continue
        _, header = named
        first, *further = observed.in_order(destination, context.dialect) or (None,)
        given = carried(first, header) if first else ()
        for delivery in further if given else ():
            yield judged(
                carried(delivery, header) == given,
                requirement,
                "A further delivery does not carry the credentials that the first one carried",
                expected=f"{header}: {given[0]}",
                actual=carried(delivery, header) or f"no {header}",
                exchanges=[observed.exchange(destination.name)],
                deliveries=[first, delivery] if first else [delivery],
            )


def certificate_of_the_first(observed: LaterAttempts, context: CheckContext) -> Iterator[Judgement]:
    """Whether further deliveries present the certificate of the first (2.3-17), if that presents
    one.
    """
    for destination in observed.destinations:
        if "mtls_client_cert" not in destination.settings:
            continue
        arrived = observed.in_order(destination, context.dialect)
        presented = arrived[0].client_certificate if arrived else None
        for delivery in arrived[1:] if presented else ():
            yield judged(
                delivery.client_certificate == presented,
                "2.3-17",
                "A further delivery does not present the certificate that the first one presented",
                expected=presented,
                actual=delivery.client_certificate or "no certificate",
                exchanges=[observed.exchange(destination.name)],
                deliveries=[arrived[0], delivery],
            )


def tokens_of_further_deliveries(
    observed: LaterTokens, context: CheckContext
) -> Iterator[Judgement]:
    """Whether each delivery carries a token that was issued (2.5-3), if any does."""
    attempts = tuple(observed.attempts_with_age(context.dialect))
    for delivery, age_s in attempts if any(age_s is not None for _, age_s in attempts) else ():
        yield judged(
            age_s is not None,
            "2.5-3",
            "A further delivery to an endpoint with oauth2 carries no access token of its token"
            " URL",
            expected="a header with an access token that was issued",
            actual=delivery.header(AUTHORIZATION) or f"no {AUTHORIZATION}",
            exchanges=observed.exchanges_of_event,
            deliveries=[*observed.requests_for_tokens, delivery],
        )


def ages_of_tokens(observed: LaterTokens, context: CheckContext) -> Iterator[Judgement]:
    """Whether no delivery carries a token whose lifetime was certainly over when it was made
    (2.5-7).
    """
    for delivery, age_s in observed.attempts_with_age(context.dialect):
        if age_s is None:
            continue
        late_s = widened(STAMP_S, observed) + behind_s(observed, delivery.token)
        oldest_s = observed.life_s + late_s
        if age_s > oldest_s:
            require_punctual(observed.late_s)
        yield judged(
            age_s <= oldest_s,
            "2.5-7",
            "A token is used beyond its lifetime by a further delivery",
            expected=f"a token that was requested at most {observed.life_s:g} s before",
            actual=f"one that was requested {age_s:.1f} s before it arrived",
            exchanges=observed.exchanges_of_event,
            deliveries=[*observed.requests_for_tokens, delivery],
        )


def fixed_credentials(destination: Destination, dialect: Dialect) -> tuple[str, str] | None:
    """The requirement and the header of the credentials that stay the same, if there are any."""
    words, authentication = dialect.words, authentication_of(destination)
    if authentication.get("type") == words.auth_api_key:
        return "2.5-9", authentication["api_key"]["header_name"]
    if authentication.get("type") == words.auth_basic:
        return "2.5-10", AUTHORIZATION
    return None


BEARER: Final = "Bearer"  # RFC 6750, section 2.1

# So many deliveries with as many tokens show that none is used again.
ENOUGH_DELIVERIES: Final = 6


@check("2.5-3", "2.5-6")
def a_delivery_carries_a_token_that_was_issued(
    observed: SharedSecretGrant | AssertionGrant | LaterTokens, context: CheckContext
) -> Iterator[Judgement]:
    """A header holds an access token of the token server, read under the name that field_mapping
    gives.
    """
    if isinstance(observed, LaterTokens):
        yield from tokens_of_further_deliveries(observed, context)
        return
    if not observed.anything_arrived:
        return
    arrived = observed.delivered(context.dialect)
    authorization = arrived[0].header("Authorization") if arrived else None
    yield judged(
        any(map(observed.tokens_in, arrived)),
        "2.5-6" if observed.is_mapped else "2.5-3",
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
    for delivery, request in observed.read_token_requests[:1]:
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


@check("2.5-28")
def a_token_is_asked_for_at_the_path_and_query_of_its_url(
    observed: SharedSecretGrant, _context: CheckContext
) -> Iterator[Judgement]:
    """Parameters of the request may be added to its query."""
    given = str(observed.oauth2["url"])
    for delivery in observed.requests_for_tokens if has_more(given, observed.token_server) else ():
        yield judged(
            asks_for(delivery.path, given, observed.token_server),
            "2.5-28",
            "A token is not asked for at the path and the query of the token URL",
            expected=given,
            actual=delivery.path,
            exchanges=observed.exchanges_of_event[:1],
            deliveries=[delivery],
        )


@check("2.5-27")
def a_member_that_is_not_mapped_is_read_under_its_standard_name(
    observed: PartlyMappedToken, context: CheckContext
) -> Iterator[Judgement]:
    """The token is delivered whose name field_mapping leaves out.

    A delivery without it counts where one to an endpoint that maps every member has its own.
    """
    if context.dialect.requests.partial_field_mapping.allowed != (PartialMapping.STANDARD_NAMES,):
        return
    arrived = observed.delivered(context.dialect)
    carried = any(map(observed.tokens_in, arrived))
    beside = observed.fully_mapped(context.dialect)
    if carried or beside:
        yield judged(
            carried,
            "2.5-27",
            "A token is not read under its standard name where field_mapping leaves that out",
            expected="a header with an access token that was issued",
            actual="no such token" if arrived else "no delivery",
            exchanges=observed.exchanges_of_event,
            deliveries=arrived if carried else [*beside, *arrived],
        )


@check("2.5-15")
def the_mapped_token_type_is_read(
    observed: SharedSecretGrant | ShortLivedToken | TypedToken, context: CheckContext
) -> Iterator[Judgement]:
    """The scheme before a token is not what stands under the usual name of token_type."""
    if not observed.is_mapped:
        return
    for delivery in observed.delivered(context.dialect)[:1]:
        scheme = observed.token_use(delivery).scheme
        if scheme is not None:
            yield judged(
                scheme.lower() != DECOY,
                "2.5-15",
                "The token_type is read under its usual name, whatever field_mapping says",
                expected=f"the {observed.oauth2['field_mapping']['token_type']} of the answer",
                actual=f"the token_type of the answer, {scheme}",
                exchanges=observed.exchanges_of_event,
                deliveries=[*observed.requests_for_tokens[:1], delivery],
            )


@check("2.5-16")
def the_scheme_before_a_token_is_the_one_of_the_dialect(
    observed: TypedToken, context: CheckContext
) -> Iterator[Judgement]:
    """In any case of letters (RFC 9110, section 11.1)."""
    rule = context.dialect.delivery.token_scheme
    if not rule.decided:
        return
    words = {TokenScheme.TOKEN_TYPE: observed.token_type, TokenScheme.BEARER: BEARER}
    allowed = [words[scheme] for scheme in rule.allowed]
    for delivery in observed.delivered(context.dialect)[:1]:
        scheme = observed.token_use(delivery).scheme
        if scheme is None:
            raise NotExaminedError(
                "no access token is in the Authorization header, so that no scheme stands before it"
            )
        yield judged(
            scheme.lower() in [word.lower() for word in allowed],
            "2.5-16",
            "Another scheme than that of the dialect stands before an access token",
            expected=" or ".join(allowed),
            actual=scheme or "no scheme",
            exchanges=observed.exchanges_of_event,
            deliveries=[*observed.requests_for_tokens[:1], delivery],
        )


@check("2.5-7", "2.5-17")
def a_token_is_not_used_beyond_its_lifetime(
    observed: ShortLivedToken | LaterTokens, context: CheckContext
) -> Iterator[Judgement]:
    """An event that was broadcast after the end of the first token carries another one."""
    if isinstance(observed, LaterTokens):
        yield from ages_of_tokens(observed, context)
        return
    for delivery in observed.delivered_after_end(context.dialect):
        places = observed.tokens_in(delivery)
        if 0 in places:  # a lifetime that began late ends late
            require_punctual(observed.late_s)
        if places:
            yield judged(
                0 not in places,
                "2.5-17" if observed.is_mapped else "2.5-7",
                "A token is used beyond its lifetime",
                expected="a token that was fetched anew",
                actual="the token whose lifetime was over",
                exchanges=observed.exchanges_after_end,
                deliveries=[*observed.requests_for_tokens, delivery],
            )


@check("2.5-18")
def a_valid_token_is_used_again(
    observed: RepeatedDeliveries, _context: CheckContext
) -> Iterator[Judgement]:
    """Two deliveries carry the same token. A service may have several caches, one in each of its
    processes, so that not every delivery has to.
    """
    yield from is_kept_over_a_pause(observed)
    by_token = observed.deliveries_by_token()
    together = next((carried for carried in by_token.values() if len(carried) > 1), ())
    if not together and len(by_token) < ENOUGH_DELIVERIES:
        raise NotExaminedError(
            f"only {len(by_token)} deliveries with an access token arrived, of which a service with"
            " several caches may have fetched each; a longer delivery_s in the budgets of"
            " target.yaml waits for more"
        )
    yield judged(
        bool(together),
        "2.5-18",
        "A token is fetched for every delivery, although the one before is still valid",
        expected=f"fewer than {len(by_token)} tokens for {len(by_token)} deliveries",
        actual=f"{len(by_token)} tokens",
        exchanges=observed.exchanges_of_event,
        deliveries=together[:2] or [carried[0] for carried in by_token.values()],
    )


def is_kept_over_a_pause(observed: RepeatedDeliveries) -> Iterator[Judgement]:
    """Whether a service that used one token for all deliveries before a pause keeps it.

    One with several caches has fetched more than one before, and shows nothing here.
    """
    if observed.pause is None:
        return
    paused_at, resumed_at = observed.pause
    carried = [
        (place, delivery)
        for place, deliveries in observed.deliveries_by_token().items()
        for delivery in deliveries
    ]
    before = [(place, delivery) for place, delivery in carried if delivery.arrived_at <= paused_at]
    after = [(place, delivery) for place, delivery in carried if delivery.arrived_at >= resumed_at]
    used = {place for place, _ in before}
    if len(used) == 1 and len(before) > 1 and after:
        kept = [delivery for place, delivery in after if place in used]
        yield judged(
            bool(kept),
            "2.5-18",
            "A token is fetched anew although the one before is still valid",
            expected="the token of the deliveries before",
            actual="another one in each delivery after a pause",
            exchanges=observed.exchanges_of_event,
            deliveries=[before[0][1], (kept or [after[0][1]])[0]],
        )


@check("2.5-25", "2.5-26")
def a_token_is_used_for_no_other_client_scope_or_audience(
    observed: SharedTokenUrl, _context: CheckContext
) -> Iterator[Judgement]:
    """The request that was answered with the token carried what the endpoint has, as far as it
    carried the client, the scope or the audience of any endpoint.
    """
    for destination, delivery, place in observed.grants():
        of_client = observed.is_for(destination, place, "client_id")
        for requirement, member in (
            ("2.5-25", "client_id"),
            ("2.5-26", "scope"),
            ("2.5-26", "audience"),
        ):
            own = observed.is_for(destination, place, member)
            if own is not None and (of_client or member == "client_id"):
                yield judged(
                    own,
                    requirement,
                    f"A token is used that was requested with the {member} of another endpoint",
                    expected=destination.settings["authentication"]["oauth2"][member],
                    actual=f"a token that was requested with another {member}",
                    exchanges=[observed.exchange(destination.name)],
                    deliveries=[observed.request_for(place), delivery],
                )


@check("2.5-3")
def a_token_is_used_for_no_other_token_url(
    observed: SharedTokenUrl, _context: CheckContext
) -> Iterator[Judgement]:
    """The token of an endpoint that has all in common with another one but the token URL."""
    for delivery in observed.of_another_server():
        yield violated(
            "2.5-3",
            "A delivery carries an access token of another endpoint's token URL",
            expected="a token that was issued at the endpoint's own token URL",
            actual="one that was issued elsewhere",
            exchanges=[observed.exchange(ANOTHER_SERVER)],
            deliveries=[delivery],
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


# In seconds. RFC 7523, section 3: servers allow for clocks that differ, and may refuse an exp that
# is unreasonably far in the future.
LEEWAY_S: Final = 60.0
MOST_LIFE_S: Final = 24 * 3600.0


@check("2.5-8")
def a_token_request_carries_an_assertion(
    observed: AssertionGrant, _context: CheckContext
) -> Iterator[Judgement]:
    """With a signing_key there is an assertion by the issuer about the subject, signed with that
    key.
    """
    for delivery, request in observed.read_token_requests[:1]:
        problem = assertion_problem(observed, request.assertion)
        yield judged(
            problem is None,
            "2.5-8",
            "A token request carries no assertion that the signing_key has signed",
            expected="an assertion with the issuer and the subject that were given",
            actual=problem,
            exchanges=observed.exchanges_of_event[:1],
            deliveries=[delivery],
        )


@check("2.5-19")
def an_assertion_is_signed_with_the_given_algorithm(
    observed: AssertionGrant, _context: CheckContext
) -> Iterator[Judgement]:
    """And its header says so, without which no server could verify it."""
    given = observed.oauth2["signing_algorithm"]
    for delivery, assertion in signed_assertions(observed)[:1]:
        yield judged(
            (assertion.algorithm, assertion.signed_with) == (given, given),
            "2.5-19",
            "A client assertion does not have the signing_algorithm that was given",
            expected=given,
            actual=f"signed with {assertion.signed_with}, and its alg is {assertion.algorithm}",
            exchanges=observed.exchanges_of_event[:1],
            deliveries=[delivery],
        )


@check("2.5-20")
def an_assertion_names_its_key(
    observed: AssertionGrant, _context: CheckContext
) -> Iterator[Judgement]:
    """By kid (RFC 7515, section 4.1.4), by which a server finds the key among several."""
    given = observed.oauth2["signing_key"]["kid"]
    for delivery, assertion in signed_assertions(observed)[:1]:
        yield judged(
            assertion.key_id == given,
            "2.5-20",
            "The header of a client assertion does not name the kid of the signing_key",
            expected=given,
            actual=assertion.key_id or "no kid",
            exchanges=observed.exchanges_of_event[:1],
            deliveries=[delivery],
        )


@check("2.5-21")
def an_assertion_names_its_audience(
    observed: AssertionGrant, _context: CheckContext
) -> Iterator[Judgement]:
    """The audience that was given, or the token server by its token URL or what it begins with."""
    for delivery, assertion in signed_assertions(observed)[:1]:
        yield judged(
            any(
                audience == observed.oauth2["audience"]
                or names_the_server(audience, observed.oauth2["url"])
                for audience in assertion.audiences
            ),
            "2.5-21",
            "The aud of a client assertion names neither the audience that was given nor the token"
            " server",
            expected=f"{observed.oauth2['audience']} or {observed.oauth2['url']}",
            actual=", ".join(assertion.audiences) or "no aud",
            exchanges=observed.exchanges_of_event[:1],
            deliveries=[delivery],
        )


@check("2.5-22")
def an_assertion_expires(observed: AssertionGrant, _context: CheckContext) -> Iterator[Judgement]:
    """Its exp (RFC 7519, section 4.1.4) lies after its arrival and not far in the future."""
    for delivery, assertion in signed_assertions(observed)[:1]:
        life_s = None
        if assertion.expires_at is not None:
            life_s = assertion.expires_at - delivery.arrived_at
        yield judged(
            life_s is not None and -LEEWAY_S <= life_s <= MOST_LIFE_S + LEEWAY_S,
            "2.5-22",
            "A client assertion does not expire after it was sent and within a day",
            expected="an exp within the next day, in Unix seconds",
            actual="no exp" if life_s is None else f"an exp {life_s:.0f} s after the arrival",
            exchanges=observed.exchanges_of_event[:1],
            deliveries=[delivery],
        )


@check("2.5-23")
def no_two_assertions_have_the_same_jti(
    observed: AssertionGrant, _context: CheckContext
) -> Iterator[Judgement]:
    """A request may be repeated while there is no answer; one that was answered is over."""
    assertions = signed_assertions(observed)
    for delivery, assertion in assertions:
        if assertion.identifier is None:
            yield judged(
                False,
                "2.5-23",
                "A client assertion has no jti",
                expected="a jti",
                actual="none",
                exchanges=observed.exchanges_of_event[:1],
                deliveries=[delivery],
            )
            return
    pairs = [
        (earlier, later)
        for place, later in enumerate(assertions)
        for earlier in assertions[:place]
        if was_answered_before(earlier[0], later[0])
    ]
    if assertions and not pairs:
        raise NotExaminedError(
            "only one access token was asked for, although the first had expired, so that no two"
            " assertions could be compared"
        )
    for (first, assertion), (second, other) in pairs:
        distinct = assertion.identifier != other.identifier
        if not distinct and not was_answered_before(first, second, late_s=observed.late_s):
            raise late_machine(observed.late_s)
        yield judged(
            distinct,
            "2.5-23",
            "Two client assertions have the same jti",
            expected="different",
            actual=assertion.identifier,
            exchanges=observed.exchanges_of_event[:1],
            deliveries=[first, second],
        )


def signed_assertions(
    observed: AssertionGrant,
) -> tuple[tuple[ReceivedDelivery, AssertionReading], ...]:
    """The requests for tokens that carry an assertion of the signing_key, and what it showed."""
    return tuple(
        (delivery, request.assertion)
        for delivery, request in observed.read_token_requests
        if request.assertion is not None and request.assertion.signed_with is not None
    )


def assertion_problem(observed: AssertionGrant, assertion: AssertionReading | None) -> str | None:
    """What is wrong with an assertion; None if it is by the right key, issuer and subject."""
    if assertion is None:
        return "no parameter is an assertion"
    if assertion.signed_with is None:
        return "its signature is not by the signing_key"
    shown = {"iss": assertion.issuer, "sub": assertion.subject}
    wanted = {"iss": observed.oauth2["issuer"], "sub": observed.oauth2["subject"]}
    wrong = {name: shown[name] for name, value in wanted.items() if shown[name] != value}
    return f"its claims are {wrong}" if wrong else None


def names_the_server(audience: str, token_url: str) -> bool:
    """Whether an audience is the token URL, or a URL of the same server that it begins with.

    RFC 7523, section 3, allows the token URL; others take the issuer's URL (RFC 8414, section 2).
    """
    named, asked = urlsplit(audience), urlsplit(token_url)
    return (named.scheme, named.netloc) == (asked.scheme, asked.netloc) and asked.path.startswith(
        named.path.rstrip("/")
    )


def was_answered_before(
    earlier: ReceivedDelivery, later: ReceivedDelivery, *, late_s: float = 0.0
) -> bool:
    """Whether a request had its answer when another one arrived, noticed so late at most."""
    end = earlier.completed_monotonic
    return (
        end is not None
        and earlier.closed_monotonic is None
        and end <= later.arrived_monotonic - late_s
    )
