"""Deliveries to endpoints with outgoing credentials (sections 2.3, 2.5 and 5)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from hookproof.conformance.model.evidence import Exchange, NotExaminedError
from hookproof.conformance.model.tolerances import require_punctual
from hookproof.conformance.observations.deliveries import (
    STILL_ARRIVING,
    Attempts,
    DeliveryObservation,
)
from hookproof.conformance.observations.delivery.security.token_requests import (
    TokenRequestReading,
    read_token_request,
)
from hookproof.conformance.observations.destinations import Destination
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect

# The endpoint with credentials. The plain one beside it shows that the service delivers at all.
AUTHORIZED: Final = "authorized"
PLAIN: Final = "plain"

EVENT: Final = "event"
AFTER: Final = "after"

# The request to create an endpoint with a kind of authentication that may not be accepted.
ASKED: Final = "asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizedDeliveries(DeliveryObservation):
    """An event to an endpoint with credentials and to one without."""

    @property
    def authorized(self) -> Destination:
        """The endpoint with credentials; raises IndexError if there is none."""
        return self.destinations_named(AUTHORIZED)[0]

    @property
    def exchanges_of_event(self) -> tuple[Exchange | None, Exchange | None]:
        """The creation of the endpoint and the broadcast."""
        return self.exchange(AUTHORIZED), self.exchange(EVENT)

    @property
    def anything_arrived(self) -> bool:
        """Whether the service delivers at all, so that a missing delivery shows something."""
        return any(self.arrived_at(destination.token) for destination in self.destinations)

    def delivered(self, dialect: Dialect) -> Attempts:
        """What arrived of the event at the endpoint with credentials.

        Raises NotExaminedError if nothing did, and it may still have been on its way.
        """
        arrived = self._delivered(EVENT, dialect)
        if not arrived:
            require_punctual(self.late_s)
            if not self.pending_events(dialect).isdisjoint(self.events_named(EVENT)):
                raise NotExaminedError(STILL_ARRIVING)
        return arrived

    def _delivered(self, event_name: str, dialect: Dialect) -> Attempts:
        return tuple(
            delivery
            for destination in self.destinations_named(AUTHORIZED)
            for delivery in self.attempts_at(destination, event_name, dialect)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUse:
    """Which of the issued access tokens a delivery carries in its headers, by their places.

    The receiver's `token` and `sequence` name the delivery.
    """

    token: str
    sequence: int
    places: tuple[int, ...]


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
            token_uses=tuple(map(self._token_use, self.deliveries)),
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
    def first_token_request(self) -> tuple[tuple[ReceivedDelivery, TokenRequestReading], ...]:
        """The first of them and what it showed, if there is any."""
        pairs = zip(self.requests_for_tokens, self.token_requests, strict=True)
        return tuple(pairs)[:1]

    def tokens_in(self, delivery: ReceivedDelivery) -> tuple[int, ...]:
        """Which of the issued access tokens a delivery carries in its headers, by their places.

        Raises NotExaminedError if they were not looked for.
        """
        for use in self.token_uses:
            if (use.token, use.sequence) == (delivery.token, delivery.sequence):
                return use.places
        raise NotExaminedError("the access tokens of this delivery were not looked for")

    def _token_use(self, delivery: ReceivedDelivery) -> TokenUse:
        return TokenUse(
            token=delivery.token,
            sequence=delivery.sequence,
            places=tuple(
                place
                for place, access_token in enumerate(self.issued)
                if any(access_token in value for _, value in delivery.headers)
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSecretGrant(OAuth2Deliveries):
    """Access tokens for a client identifier and a shared secret, with and without field_mapping."""

    @property
    def is_mapped(self) -> bool:
        """Whether the token server names the members of its answers by field_mapping."""
        return "field_mapping" in self.oauth2


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionGrant(OAuth2Deliveries):
    """Access tokens for an assertion that is signed with the signing_key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortLivedToken(OAuth2Deliveries):
    """A first access token that soon ends, and an event after its end."""

    @property
    def exchanges_after_end(self) -> tuple[Exchange | None, Exchange | None]:
        """The creation of the endpoint and the broadcast after the end of the token."""
        return self.exchange(AUTHORIZED), self.exchange(AFTER)

    def delivered_after_end(self, dialect: Dialect) -> Attempts:
        return self._delivered(AFTER, dialect)


@dataclass(frozen=True, slots=True, kw_only=True)
class RedirectedTokenUrl(OAuth2Deliveries):
    """A token URL that redirects to the receiver's token `aside`."""

    aside: str

    @property
    def redirected(self) -> Attempts:
        """What arrived where the redirect points."""
        return self.arrived_at(self.aside)


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
        """The header that deliveries are to carry, as masked: RFC 7617 without its encoding."""
        member = self.authentication["basic_auth"]
        return "Authorization", f"Basic {member['username']}:{member['password']}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCertificateDeliveries(AuthorizedDeliveries):
    """A client certificate; `fingerprint` is the SHA-256 of its DER form, in hex."""

    fingerprint: str
