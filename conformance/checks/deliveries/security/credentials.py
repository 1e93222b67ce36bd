"""What deliveries carry to prove themselves to their destination (sections 2.3, 2.5 and 5)."""

import base64
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, unquote_plus, urlsplit

from hookproof.conformance.checks.support.json_equality import exact
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, holds, not_applicable, violated
from hookproof.conformance.observations.case import Case, deliveries_of, destinations, events
from hookproof.conformance.observations.client_assertion import NoAssertion, claims_of
from hookproof.receiver.inbox.delivery import ReceivedDelivery

CREDENTIALS: Final = ("credentials",)
# The destinations with credentials; the plain one beside them shows that the service delivers at
# all.
AUTHORIZED: Final = ("authorized", "with certificate")

# The cases whose token server answers with tokens that last.
OAUTH2: Final = ("oauth2", "oauth2 with field_mapping", "oauth2 with assertion")

ASSERTION: Final = "oauth2 with assertion"


@check("2.5-3", "2.5-6", experiments=CREDENTIALS)
def a_delivery_carries_a_token_that_was_issued(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """A header holds an access token of the token server, read under the name that field_mapping
    gives.
    """
    if case.name not in OAUTH2:
        return
    requirement = "2.5-6" if "field_mapping" in members(case) else "2.5-3"
    arrived = delivered(case, context, "event")
    if not alive(case):
        return
    if any(carries_one_of(one, case.facts["issued"]) for one in arrived):
        yield holds(requirement)
    else:
        yield violated(
            requirement,
            "A delivery to an endpoint with oauth2 carries no access token of its token URL",
            expected="a header with an access token that was issued",
            actual=arrived[0].header("Authorization") or "no Authorization"
            if arrived
            else "no delivery",
            exchanges=[case.exchange("authorized"), case.exchange("event")],
            deliveries=[*asked(case), *arrived],
        )


@check("2.5-4", "2.5-5", experiments=CREDENTIALS)
def a_token_request_carries_what_was_given(
    case: Case, _context: CheckContext
) -> Iterator[Judgement]:
    """Client identifier and shared secret in the header or the body; grant_type, scope and audience
    in the body.
    """
    wanted = {"2.5-4": ("client_id", "client_secret"), "2.5-5": ("grant_type", "scope", "audience")}
    if case.name not in OAUTH2:
        return
    for request in asked(case)[:1]:
        told = parameters(request)
        for requirement, names in wanted.items():
            missing = [
                name
                for name in names
                if name in members(case) and members(case)[name] not in told.values()
            ]
            if case.name == ASSERTION:
                continue
            if not missing:
                yield holds(requirement)
            else:
                yield violated(
                    requirement,
                    "A token request does not carry a member of oauth2",
                    expected={name: members(case)[name] for name in missing},
                    actual=told,
                    exchanges=[case.exchange("authorized")],
                    deliveries=[request],
                )


@check("2.5-8", experiments=CREDENTIALS)
def a_token_request_carries_an_assertion(case: Case, _context: CheckContext) -> Iterator[Judgement]:
    """With a signing_key there is an assertion by the issuer about the subject, signed with that
    key.
    """
    if case.name != ASSERTION:
        return
    for request in asked(case)[:1]:
        problem = assertion_problem(request, members(case))
        if problem is None:
            yield holds("2.5-8")
        else:
            yield violated(
                "2.5-8",
                "A token request carries no assertion that the signing_key has signed",
                expected="an assertion with the issuer and the subject that were given",
                actual=problem,
                exchanges=[case.exchange("authorized")],
                deliveries=[request],
            )


@check("2.5-7", experiments=CREDENTIALS)
def a_token_is_not_used_beyond_its_lifetime(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """An event that was broadcast after the end of the first token carries another one."""
    if case.name != "oauth2 with a short life":
        return
    first, *further = case.facts["issued"]
    for delivery in delivered(case, context, "after"):
        if carries_one_of(delivery, [first]):
            yield violated(
                "2.5-7",
                "A token is used beyond its lifetime",
                expected="a token that was fetched anew",
                actual="the token whose lifetime was over",
                exchanges=[case.exchange("authorized"), case.exchange("after")],
                deliveries=[*asked(case), delivery],
            )
        elif carries_one_of(delivery, further):
            yield holds("2.5-7")


@check("2.5-14", experiments=CREDENTIALS)
def a_redirect_of_the_token_url_is_not_followed(
    case: Case, _context: CheckContext
) -> Iterator[Judgement]:
    """Nothing arrived where the token URL pointed."""
    if case.name != "oauth2 redirected" or not asked(case):
        return
    followers = case.arrived_at(case.facts["aside"])
    if not followers:
        yield holds("2.5-14")
    else:
        yield violated(
            "2.5-14",
            "A redirect that the token URL answered with was followed",
            expected="no request to the Location of the answer",
            actual=f"{len(followers)} requests",
            exchanges=[case.exchange("authorized")],
            deliveries=[*asked(case), *followers],
        )


@check("2.5-9", experiments=CREDENTIALS)
def a_delivery_carries_the_header_of_its_api_key(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """The header that api_key names has the value that it gives."""
    if case.name != "api_key":
        return
    if not case.facts["taken"]:
        yield not_taken(case, "2.5-9")
        return
    member = case_authentication(case)["api_key"]
    yield from carried(case, context, "2.5-9", member["header_name"], member["header_value"])


@check("2.5-10", experiments=CREDENTIALS)
def a_delivery_carries_its_basic_credentials(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """User name and password are written as RFC 7617 says."""
    if case.name != "basic_auth":
        return
    if not case.facts["taken"]:
        yield not_taken(case, "2.5-10")
        return
    member = case_authentication(case)["basic_auth"]
    pair = base64.b64encode(f"{member['username']}:{member['password']}".encode()).decode()
    yield from carried(case, context, "2.5-10", "Authorization", f"Basic {pair}")


@check("2.3-17", experiments=CREDENTIALS)
def a_delivery_presents_the_certificate_of_its_endpoint(
    case: Case, context: CheckContext
) -> Iterator[Judgement]:
    """The connection showed the certificate of mtls_client_cert."""
    if case.name != "client certificate" or not alive(case):
        return
    arrived = delivered(case, context, "event")
    if arrived and all(one.client_certificate == case.facts["fingerprint"] for one in arrived):
        yield holds("2.3-17")
    else:
        yield violated(
            "2.3-17",
            "A delivery to an endpoint with mtls_client_cert does not present that certificate",
            expected=case.facts["fingerprint"],
            actual=arrived[0].client_certificate or "no certificate" if arrived else "no delivery",
            exchanges=[case.exchange("with certificate"), case.exchange("event")],
            deliveries=arrived,
        )


@check("2.3-18", experiments=("broadcast", "signing", "credentials"))
def a_delivery_presents_no_certificate_that_it_was_not_given(
    case: Case, _context: CheckContext
) -> Iterator[Judgement]:
    """Endpoints without mtls_client_cert see no certificate, also while others see theirs."""
    for destination in destinations(case):
        if "mtls_client_cert" in destination.settings:
            continue
        for delivery in case.arrived_at(destination.token):
            if delivery.client_certificate is None:
                yield holds("2.3-18")
            else:
                yield violated(
                    "2.3-18",
                    "A delivery presents a client certificate that its endpoint was not given",
                    expected="no certificate",
                    actual=delivery.client_certificate,
                    exchanges=[case.exchange(destination.name)],
                    deliveries=[delivery],
                )


def not_taken(case: Case, requirement: str) -> Judgement:
    """The document shows this kind of authentication in responses only; a target that promised it
    must take it.
    """
    if not case.facts["promised"]:
        return not_applicable(
            requirement, f"The target does not take {case.name} when an endpoint is created."
        )
    asked_for = case.exchange("asked")
    return violated(
        requirement,
        f"The target says that it has {case.name}, and does not take it",
        expected=f"an endpoint with {case.name}",
        actual=f"status {asked_for.status}" if asked_for else "no answer",
        exchanges=[asked_for],
    )


def carried(
    case: Case, context: CheckContext, requirement: str, name: str, value: str
) -> Iterator[Judgement]:
    """Whether the delivery of the event carries a header with this value."""
    arrived = delivered(case, context, "event")
    if not alive(case):
        return
    if arrived and all(one.all_headers(name) == (value,) for one in arrived):
        yield holds(requirement)
    else:
        yield violated(
            requirement,
            "A delivery does not carry the credentials of its endpoint",
            expected=f"{name}: {value}",
            actual=arrived[0].all_headers(name) if arrived else "no delivery",
            exchanges=[case.exchange("authorized"), case.exchange("event")],
            deliveries=arrived,
        )


def delivered(case: Case, context: CheckContext, name: str) -> tuple[ReceivedDelivery, ...]:
    """What arrived of an event at the destination with credentials."""
    return tuple(
        delivery
        for destination in destinations(case, *AUTHORIZED)
        for event in events(case, name)
        for delivery in deliveries_of(case, destination, event, context.dialect)
    )


def alive(case: Case) -> bool:
    """Whether anything arrived at all, so that a missing delivery is not just a service that
    delivers nothing.
    """
    return any(case.arrived_at(destination.token) for destination in destinations(case))


def asked(case: Case) -> tuple[ReceivedDelivery, ...]:
    """The requests at the token server."""
    return case.arrived_at(case.facts["token_server"])


def case_authentication(case: Case) -> Mapping[str, Any]:
    """The authentication object of the endpoint in the case."""
    found: Mapping[str, Any] = destinations(case, *AUTHORIZED)[0].settings["authentication"]
    return found


def members(case: Case) -> Mapping[str, Any]:
    """The members of oauth2 that the endpoint in the case was given."""
    found: Mapping[str, Any] = case_authentication(case)["oauth2"]
    return found


def carries_one_of(delivery: ReceivedDelivery, tokens: list[str]) -> bool:
    """Whether any header holds one of these access tokens."""
    return any(token in value for _, value in delivery.headers for token in tokens)


def parameters(request: ReceivedDelivery) -> dict[str, str]:
    """What a token request tells, in its query, its body (a form or JSON) and its Basic
    credentials.
    """
    found = dict(
        parse_qsl(urlsplit(request.path).query) + parse_qsl(request.body.decode("latin-1"))
    )
    body = exact(request.body)
    if isinstance(body, dict):
        found |= {str(name): str(value) for name, value in body.items()}
    scheme, _, text = (request.header("Authorization") or "").partition(" ")
    if scheme.lower() == "basic":
        user, _, password = base64.b64decode(text + "==").decode("latin-1").partition(":")
        # RFC 6749, section 2.3.1: both are written as in a form before they are put together.
        found |= {"client_id": unquote_plus(user), "client_secret": unquote_plus(password)}
    return found


def assertion_problem(request: ReceivedDelivery, oauth2: Mapping[str, Any]) -> str | None:
    """What is wrong with the assertion in a token request; None if nothing is."""
    problem = "no parameter is an assertion"
    for value in parameters(request).values():
        try:
            claims = claims_of(value, oauth2["signing_key"])
        except NoAssertion as reason:
            problem = str(reason) if value.count(".") == 2 else problem  # noqa: PLR2004 the parts of a token
            continue
        told = {"iss": oauth2["issuer"], "sub": oauth2["subject"]}
        wrong = {
            name: claims.get(name) for name, value in told.items() if claims.get(name) != value
        }
        return f"its claims are {wrong}" if wrong else None
    return problem
