"""Endpoints whose TLS certificate a sender must not accept (hygiene of section 6)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from hookproof.conformance.observations.deliveries import Attempts, DeliveryObservation
from hookproof.spec.dialect.model import Dialect

# The destination at the receiver's own listener, whose certificate the target trusts.
TRUSTED: Final = "trusted"

# The name of the destination at the receiver's own listener whose token URL has a certificate.
WITH_OAUTH2: Final = "token URL {}"

# The destination where no TLS is spoken, by the receiver's name for that.
NO_TLS: Final = "no_tls"

EVENT: Final = "event"

# What the receiver's name for its second listener with the same fault ends with: token URLs are
# there, so that a handshake shows what was to be requested.
SECOND: Final = "_2"

# What is wrong with the certificates, by the receiver's name for it, which is also the name of the
# destination.
CERTIFICATES: Final[Mapping[str, str]] = {
    "expired": "has expired",
    "not_yet_valid": "is not valid yet",
    "wrong_host": "is for another host",
    "self_signed": "is signed by itself",
    "unknown_authority": "is of an authority that is not trusted",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsDeliveries(DeliveryObservation):
    """One event to an endpoint with a trusted certificate and to others without."""

    def trusted(self, dialect: Dialect) -> Attempts:
        """The deliveries over the trusted certificate."""
        return self._delivered(TRUSTED, dialect)

    def _delivered(self, name: str, dialect: Dialect) -> Attempts:
        return tuple(
            attempt
            for destination in self.destinations_named(name)
            for attempt in self.attempts_at(destination, EVENT, dialect)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultyCertificates(TlsDeliveries):
    """One event to an endpoint with a trusted certificate and to others with a faulty one each.

    `handshakes` is how many TLS handshakes began with the listener of each faulty certificate since
    the first of these endpoints was created. `token_servers` are the receiver's tokens behind the
    token URLs of endpoints with oauth2, by the same names; `token_handshakes` are the handshakes
    with those of faulty certificates, which have listeners of their own.
    """

    handshakes: Mapping[str, int]
    token_servers: Mapping[str, str] = field(default_factory=dict)
    token_handshakes: Mapping[str, int] = field(default_factory=dict)

    def token_requests(self) -> Mapping[str, Attempts]:
        """What arrived at the token URLs, by what is wrong with their certificates."""
        return {name: self.arrived_at(token) for name, token in self.token_servers.items()}

    def accepted(self, dialect: Dialect) -> Mapping[str, Attempts]:
        """The deliveries over each faulty certificate that was accepted."""
        delivered = {name: self._delivered(name, dialect) for name in CERTIFICATES}
        return {name: attempts for name, attempts in delivered.items() if attempts}


@dataclass(frozen=True, slots=True, kw_only=True)
class WithoutTls(TlsDeliveries):
    """One event to an endpoint with a trusted certificate, and to one where no TLS is spoken.

    `connections` is how many connections were made to its port, `tries` how many of them since
    the event was broadcast. `is_tried_again` is whether another attempt was waited for, as the
    dialect decides when it comes.
    """

    connections: int
    tries: int = 0
    is_tried_again: bool = False

    def in_clear(self, dialect: Dialect) -> Attempts:
        """The deliveries where no TLS is spoken."""
        return self._delivered(NO_TLS, dialect)
