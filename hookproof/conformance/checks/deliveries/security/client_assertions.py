"""Section 2.5: the assertions by which clients prove themselves to a token server (RFC 7523)."""

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import NotExaminedError
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.model.tolerances import late_machine
from hookproof.conformance.observations.client_assertion import AssertionReading
from hookproof.conformance.observations.delivery.security.oauth2 import AssertionGrant
from hookproof.receiver.inbox.delivery import ReceivedDelivery

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
