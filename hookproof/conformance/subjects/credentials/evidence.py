"""Deliveries to endpoints with outgoing credentials, and the requests for their access tokens
(sections 2.3, 2.5 and 5), read while credentials are in clear.
"""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self
from urllib.parse import parse_qsl, unquote_plus

from hookproof.conformance.model.evidence import Exchange, NotExaminedError
from hookproof.conformance.model.tolerances import require_punctual
from hookproof.conformance.observations.client_assertion import AssertionReading, read_assertion
from hookproof.conformance.observations.deliveries import (
    STILL_ARRIVING,
    Attempts,
    DeliveryObservation,
)
from hookproof.conformance.observations.destinations import AUTHORIZED, Destination
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect
from hookproof.target.masking.credential_names import readable_basic

# The members of oauth2 that prove who requests a token, and those that say what for.
CLIENT: Final = ("client_id", "client_secret")
GRANT: Final = ("grant_type", "scope", "audience")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequestReading:
    """What a request for an access token showed; `sequence` is that of the receiver's token.

    `missing` are the members of oauth2 whose values it does not carry. `assertion` is what it shows
    of a client assertion, if there is a signing_key.
    """

    sequence: int
    missing: tuple[str, ...]
    assertion: AssertionReading | None = None


def read_token_request(request: ReceivedDelivery, oauth2: Mapping[str, Any]) -> TokenRequestReading:
    """What a request showed of the settings of its endpoint."""
    parameters = parameters_of(request)
    values = parameters.values()
    return TokenRequestReading(
        sequence=request.sequence,
        missing=tuple(
            name for name in (*CLIENT, *GRANT) if name in oauth2 and oauth2[name] not in values
        ),
        assertion=_assertion(values, oauth2["signing_key"]) if "signing_key" in oauth2 else None,
    )


def parameters_of(request: ReceivedDelivery) -> Mapping[str, str]:
    """The parameters in a request's query, its body (a form or JSON) and its Basic credentials."""
    query = request.path.partition("?")[2]
    parameters = dict(parse_qsl(query) + parse_qsl(request.body.decode("latin-1")))
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError):
        body = None
    if isinstance(body, dict):
        parameters |= {str(name): str(value) for name, value in body.items()}
    scheme, _, text = (request.header("Authorization") or "").partition(" ")
    if scheme.lower() == "basic":
        user, _, password = _decoded(text).partition(":")
        # RFC 6749, section 2.3.1: both are written as in a form before they are put together.
        parameters |= {"client_id": unquote_plus(user), "client_secret": unquote_plus(password)}
    return parameters


def _assertion(values: Iterable[str], signing_key: Mapping[str, str]) -> AssertionReading | None:
    """The assertion among these values; where there are several, one that the key has signed."""
    readings = [
        reading for value in values if (reading := read_assertion(value, signing_key)) is not None
    ]
    by_key = (reading for reading in readings if reading.signed_with is not None)
    return next(by_key, readings[0] if readings else None)


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text + "==").decode("latin-1")
    except ValueError:
        return ""


PLAIN: Final = "plain"


EVENT: Final = "event"

# The event that is sent where the first one did not arrive at the endpoint with credentials.
FURTHER: Final = "further event"
# The event that is sent when fixed credentials have been delivered, and may have been left behind.
AFTERWARDS: Final = "event afterwards"

ONE_MISSING: Final = (
    "one delivery did not arrive at the endpoint with credentials, which any service may lose, and"
    " there was no further one; a further event would help"
)

# The request to create an endpoint with a kind of authentication that may not be accepted.
ASKED: Final = "asked"


def carried(delivery: ReceivedDelivery, name: str) -> tuple[str, ...]:
    """The values of a header of a delivery; Basic credentials without their encoding, since that is
    how masked evidence has them.
    """
    return tuple(map(readable_basic, delivery.all_headers(name)))


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizedDeliveries(DeliveryObservation):
    """An event to an endpoint with credentials and to one without, and a further one where the
    first did not arrive: any service may lose one, and that is no matter of credentials.
    """

    @property
    def authorized(self) -> Destination:
        """The endpoint with credentials; raises IndexError if there is none."""
        return self.destinations_named(AUTHORIZED)[0]

    @property
    def exchanges_of_event(self) -> tuple[Exchange | None, ...]:
        """The creation of the endpoint and the broadcasts."""
        return self.exchange(AUTHORIZED), self.exchange(EVENT), self.exchange(FURTHER)

    @property
    def anything_arrived(self) -> bool:
        """Whether the service delivers at all, so that a missing delivery shows something."""
        return any(self.arrived_at(destination.token) for destination in self.destinations)

    def delivered(self, dialect: Dialect) -> Attempts:
        """What arrived at the endpoint with credentials: of the event, or else of the further one.

        Raises NotExaminedError if nothing did and it may still have been on its way, or there was
        no further event.
        """
        arrived = self.delivered_of(EVENT, dialect) or self.delivered_of(FURTHER, dialect)
        if not arrived:
            require_punctual(self.late_s)
            if not self.pending_events(dialect).isdisjoint(self.events_named(EVENT, FURTHER)):
                raise NotExaminedError(STILL_ARRIVING)
            if not self.events_named(FURTHER):
                raise NotExaminedError(ONE_MISSING)
        return arrived

    def delivered_of(self, event_name: str, dialect: Dialect) -> Attempts:
        """What arrived of the events of this name at the endpoint with credentials."""
        return tuple(
            delivery
            for destination in self.destinations_named(AUTHORIZED)
            for delivery in self.attempts_at(destination, event_name, dialect)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedCredentials(AuthorizedDeliveries):
    """Credentials that stay the same, if the target accepts them when an endpoint is created.

    The document shows them in responses only. `promised` is whether the target file says that the
    target accepts them.
    """

    accepted: bool
    promised: bool

    @property
    def asked(self) -> Exchange | None:
        """The request for an endpoint with such credentials."""
        return self.exchange(ASKED)

    @property
    def authentication(self) -> Mapping[str, Any]:
        settings: Mapping[str, Any] = self.authorized.settings["authentication"]
        return settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKeyDeliveries(FixedCredentials):
    """A header of a given name and value."""

    @property
    def header(self) -> tuple[str, str]:
        """The header that deliveries are to carry."""
        member = self.authentication["api_key"]
        return member["header_name"], member["header_value"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BasicAuthDeliveries(FixedCredentials):
    """A user name and a password."""

    @property
    def header(self) -> tuple[str, str]:
        """The header that deliveries are to carry, without its encoding (RFC 7617)."""
        member = self.authentication["basic_auth"]
        return "Authorization", f"Basic {member['username']}:{member['password']}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCertificateDeliveries(AuthorizedDeliveries):
    """A client certificate; `fingerprint` is the SHA-256 of its DER form, in hex."""

    fingerprint: str


# The event after the end of a token, and those that follow while a token is valid.
AFTER: Final = "after"
AGAIN: Final = "again"

# Endpoints that share the token URL of the authorized one: with another client and another scope,
# and with its client and another scope.
ANOTHER_CLIENT: Final = "another client"
ANOTHER_SCOPE: Final = "another scope"
ANOTHER_AUDIENCE: Final = "another audience"
ANOTHER_SERVER: Final = "another token server"

# An endpoint whose field_mapping names every member, beside one whose field_mapping does not.
FULLY_MAPPED: Final = "fully mapped"

# Requests for which the receiver's token server uses up no access token.
VISITS: Final = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUse:
    """Which of the issued access tokens a delivery carries in its headers, by their places.

    The receiver's `token` and `sequence` name the delivery. `scheme` is what stands before such a
    token in the Authorization header; None if there is none.
    """

    token: str
    sequence: int
    places: tuple[int, ...]
    scheme: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuth2Deliveries(AuthorizedDeliveries):
    """An event to an endpoint whose access tokens come from the receiver's token `token_server`.

    `issued` are the access tokens that it answers with, one after the other. `token_uses` and
    `token_requests` are read when the observation comes in.
    """

    token_server: str
    issued: tuple[str, ...] = ()
    token_uses: tuple[TokenUse, ...] = ()
    token_requests: tuple[TokenRequestReading, ...] = ()

    def examined(self, dialect: Dialect) -> Self:
        """The observation with its access tokens, client secrets and assertions compared."""
        return replace(
            AuthorizedDeliveries.examined(self, dialect),
            token_uses=tuple(map(self._read_token_use, self.deliveries)),
            token_requests=tuple(
                read_token_request(request, self.oauth2) for request in self.requests_for_tokens
            ),
        )

    @property
    def oauth2(self) -> Mapping[str, Any]:
        """The members of oauth2 that the endpoint was created with."""
        members: Mapping[str, Any] = self.authorized.settings["authentication"]["oauth2"]
        return members

    @property
    def requests_for_tokens(self) -> Attempts:
        """The requests at the token URL."""
        return self.arrived_at(self.token_server)

    @property
    def is_mapped(self) -> bool:
        """Whether the token server names the members of its answers by field_mapping."""
        return "field_mapping" in self.oauth2

    @property
    def read_token_requests(self) -> tuple[tuple[ReceivedDelivery, TokenRequestReading], ...]:
        """Each of them and what it showed, in order of arrival."""
        return tuple(zip(self.requests_for_tokens, self.token_requests, strict=True))

    def tokens_in(self, delivery: ReceivedDelivery) -> tuple[int, ...]:
        """Which of the issued access tokens a delivery carries in its headers, by their places.

        Raises NotExaminedError if they were not looked for.
        """
        return self.token_use(delivery).places

    def token_use(self, delivery: ReceivedDelivery) -> TokenUse:
        """How a delivery carries access tokens; raises NotExaminedError if none was looked for."""
        for use in self.token_uses:
            if (use.token, use.sequence) == (delivery.token, delivery.sequence):
                return use
        raise NotExaminedError("the access tokens of this delivery were not looked for")

    def _read_token_use(self, delivery: ReceivedDelivery) -> TokenUse:
        authorization = delivery.header("Authorization") or ""
        return TokenUse(
            token=delivery.token,
            sequence=delivery.sequence,
            places=tuple(
                place
                for place, access_token in enumerate(self.issued)
                if any(access_token in value for _, value in delivery.headers)
            ),
            scheme=next(
                (
                    authorization.partition(access_token)[0].strip()
                    for access_token in self.issued
                    if access_token in authorization
                ),
                None,
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSecretGrant(OAuth2Deliveries):
    """Access tokens for a client identifier and a shared secret, with and without field_mapping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionGrant(OAuth2Deliveries):
    """Access tokens for assertions that are signed with the signing_key.

    The first token soon ends, so that an event after its end needs a second assertion.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedToken(OAuth2Deliveries):
    """Access tokens of a type that is not Bearer, under a name that field_mapping gives."""

    token_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedDeliveries(OAuth2Deliveries):
    """Several events while the first access token is valid.

    The last of the issued tokens is issued again and again, so that it proves nothing.
    `pause` is the time in which no event was broadcast, in Unix seconds; None if there was none.
    """

    pause: tuple[float, float] | None = None

    def deliveries_by_token(self) -> Mapping[int, Attempts]:
        """The deliveries to the endpoint by the places of their tokens, one for each body."""
        by_token: dict[int, dict[bytes, ReceivedDelivery]] = {}
        for delivery in self.arrived_at(self.authorized.token):
            for place in self.tokens_in(delivery):
                if place < len(self.issued) - 1:
                    by_token.setdefault(place, {}).setdefault(delivery.body, delivery)
        return {place: tuple(bodies.values()) for place, bodies in by_token.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class PartlyMappedToken(OAuth2Deliveries):
    """Access tokens under their standard name, which one field_mapping gives and one leaves out."""

    def fully_mapped(self, dialect: Dialect) -> Attempts:
        """What arrived with a token where the field_mapping names every member."""
        return tuple(
            delivery
            for destination in self.destinations_named(FULLY_MAPPED)
            for delivery in self.attempts_at(destination, EVENT, dialect)
            if self.tokens_in(delivery)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortLivedToken(OAuth2Deliveries):
    """A first access token that soon ends, and an event after its end."""

    @property
    def exchanges_after_end(self) -> tuple[Exchange | None, Exchange | None]:
        """The creation of the endpoint and the broadcast after the end of the token."""
        return self.exchange(AUTHORIZED), self.exchange(AFTER)

    def delivered_after_end(self, dialect: Dialect) -> Attempts:
        return self.delivered_of(AFTER, dialect)


@dataclass(frozen=True, slots=True, kw_only=True)
class RedirectedTokenUrl(OAuth2Deliveries):
    """A token URL that redirects to the receiver's token `aside`."""

    aside: str

    @property
    def redirected(self) -> Attempts:
        """What arrived where the redirect points."""
        return self.arrived_at(self.aside)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedTokenUrl(OAuth2Deliveries):
    """Endpoints of which each differs from the first one in its client, its scope, its audience or
    its token URL alone. `token_server` is that of the first one.

    `missing` has, by the name of the endpoint, the members of its oauth2 that each request for a
    token did not carry, request by request. The last of the issued tokens is issued again and
    again, so that it proves nothing.
    """

    missing: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)

    def examined(self, dialect: Dialect) -> Self:
        """The observation with each request for a token compared with each endpoint too."""
        return replace(
            OAuth2Deliveries.examined(self, dialect),
            missing={
                destination.name: tuple(
                    read_token_request(
                        request, destination.settings["authentication"]["oauth2"]
                    ).missing
                    for request in self._granted
                )
                for destination in self.destinations
            },
        )

    def grants(self) -> Iterator[tuple[Destination, ReceivedDelivery, int]]:
        """Each delivery with its endpoint and the place of the token that it carries."""
        for destination in self.destinations:
            for delivery in self.arrived_at(destination.token):
                for place in self.tokens_in(delivery):
                    if place < min(len(self.issued) - 1, len(self._granted)):
                        yield destination, delivery, place

    def of_another_server(self) -> Iterator[ReceivedDelivery]:
        """Deliveries to the endpoint of another token server that carry a token of this one."""
        for destination in self.destinations:
            if destination.name == ANOTHER_SERVER:
                arrived = self.arrived_at(destination.token)
                yield from (delivery for delivery in arrived if self.tokens_in(delivery))

    def request_for(self, place: int) -> ReceivedDelivery:
        """The request that was answered with the token at this place."""
        return self._granted[place]

    def is_for(self, destination: Destination, place: int, member: str) -> bool | None:
        """Whether the token at this place was requested with the value that this member of oauth2
        has at an endpoint; None if the request has it of no endpoint.
        """
        if all(member in requests[place] for requests in self.missing.values()):
            return None
        return member not in self.missing[destination.name][place]

    @property
    def _granted(self) -> Attempts:
        return tuple(
            request for request in self.requests_for_tokens if request.method not in VISITS
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterTokens(OAuth2Deliveries):
    """Events to an endpoint with oauth2 whose access tokens end before the next attempt is made.

    `life_s` is how long each of them is valid.
    """

    life_s: float

    def attempts_with_age(
        self, dialect: Dialect
    ) -> Iterator[tuple[ReceivedDelivery, float | None]]:
        """Each attempt at the events, and how old the token that it carries was when it arrived,
        in seconds; None if it carries none that was issued.
        """
        for delivery in self.attempts_anywhere(dialect, *self.events):
            ages_s = [
                delivery.arrived_at - issued_at
                for place in self.tokens_in(delivery)
                for issued_at in self._issued_at(place)
                if issued_at <= delivery.arrived_at
            ]
            yield delivery, min(ages_s, default=None)

    def _issued_at(self, place: int) -> tuple[float, ...]:
        """When the token at this place was requested; the last one is issued again and again."""
        granted = tuple(
            request.arrived_at
            for request in self.requests_for_tokens
            if request.method not in VISITS
        )
        return granted[place:] if place == len(self.issued) - 1 else granted[place : place + 1]
