"""Deliveries to endpoints with outgoing credentials (sections 2.3, 2.5 and 5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from hookproof.conformance.model.evidence import Exchange, NotExaminedError
from hookproof.conformance.model.tolerances import require_punctual
from hookproof.conformance.observations.deliveries import (
    STILL_ARRIVING,
    Attempts,
    DeliveryObservation,
)
from hookproof.conformance.observations.destinations import Destination
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect
from hookproof.target.masking.credential_names import readable_basic

# The endpoint with credentials. The plain one beside it shows that the service delivers at all.
AUTHORIZED: Final = "authorized"
PLAIN: Final = "plain"

# The header by which deliveries are to carry an API key.
KEY_HEADER: Final = "X-Destination-Key"

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
