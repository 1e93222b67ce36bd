"""Endpoints whose TLS certificate a sender must not accept (hygiene of section 6)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.observations.deliveries import Attempts, DeliveryObservation
from hookproof.spec.dialect.model import Dialect

# The destination at the receiver's own listener, whose certificate the target trusts.
TRUSTED: Final = "trusted"

EVENT: Final = "event"

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
class FaultyCertificates(DeliveryObservation):
    """One event to an endpoint with a trusted certificate and to others with a faulty one each.

    `handshakes` is how many TLS handshakes began with the listener of each faulty certificate since
    the first of these endpoints was created.
    """

    handshakes: Mapping[str, int]

    def trusted(self, dialect: Dialect) -> Attempts:
        """The deliveries over the trusted certificate."""
        return self._delivered(TRUSTED, dialect)

    def accepted(self, dialect: Dialect) -> Mapping[str, Attempts]:
        """The deliveries over each faulty certificate that was accepted."""
        delivered = {name: self._delivered(name, dialect) for name in CERTIFICATES}
        return {name: attempts for name, attempts in delivered.items() if attempts}

    def _delivered(self, name: str, dialect: Dialect) -> Attempts:
        return tuple(
            attempt
            for destination in self.destinations_named(name)
            for attempt in self.attempts_at(destination, EVENT, dialect)
        )
