"""Section 2.5: the access tokens that deliveries carry, and the requests for them."""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.checks.deliveries.attempts.later_attempts import (
    ages_of_tokens,
    tokens_of_further_deliveries,
)
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.judgement import Judgement, judged, violated
from hookproof.conformance.model.tolerances import require_punctual
from hookproof.conformance.observations.delivery.attempts.later_attempts import LaterTokens
from hookproof.conformance.observations.delivery.security.oauth2 import (
    ANOTHER_SERVER,
    DECOY,
    AssertionGrant,
    PartlyMappedToken,
    RedirectedTokenUrl,
    RepeatedDeliveries,
    SharedSecretGrant,
    SharedTokenUrl,
    ShortLivedToken,
    TypedToken,
)
from hookproof.conformance.observations.delivery.security.token_requests import CLIENT, GRANT
from hookproof.spec.dialect.vocabulary import PartialMapping, TokenScheme

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
