"""Deliveries to endpoints with oauth2, and the requests for their access tokens (section 2.5)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

from hookproof.conformance.model.evidence import Exchange, NotExaminedError
from hookproof.conformance.observations.deliveries import Attempts
from hookproof.conformance.observations.delivery.security.credentials import (
    AUTHORIZED,
    EVENT,
    AuthorizedDeliveries,
)
from hookproof.conformance.observations.delivery.security.token_requests import (
    TokenRequestReading,
    read_token_request,
)
from hookproof.conformance.observations.destinations import Destination
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect

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

# What the token server answers with under the usual names of members that field_mapping renames.
DECOY: Final = "decoy"


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
