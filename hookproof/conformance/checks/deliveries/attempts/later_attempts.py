"""What further attempts carry, up to the last one, and deliveries after a roll (sections 2.3, 2.5,
6 and 8).
"""

from collections.abc import Iterator
from typing import Final

from hookproof.conformance.checks.support.further_attempts import behind_s, require_next_attempt_due
from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.model.tolerances import STAMP_S, require_punctual, widened
from hookproof.conformance.observations.delivery.attempts.later_attempts import (
    LaterAttempts,
    LaterTokens,
    authentication_of,
)
from hookproof.conformance.observations.delivery.security.credentials import carried
from hookproof.conformance.observations.destinations import Destination
from hookproof.spec.dialect.model import Dialect

AUTHORIZATION: Final = "Authorization"


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
