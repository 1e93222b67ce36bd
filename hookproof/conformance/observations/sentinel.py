"""Sentinels: events that are broadcast last, so that silence before them means something."""

from dataclasses import dataclass
from typing import Final

from hookproof.conformance.observations.deliveries import Attempts, DeliveryObservation
from hookproof.conformance.observations.destinations import Destination
from hookproof.spec.dialect.model import Dialect

SENTINEL: Final = "sentinel"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveriesBeforeSentinel(DeliveryObservation):
    """Events of which some are not to arrive, and the sentinel, which is.

    Where the sentinel has arrived, deliveries went out, and what is missing was not sent.
    """

    def sentinels(self, dialect: Dialect) -> Attempts:
        """What arrived of the sentinel anywhere."""
        return self.attempts_anywhere(dialect, *self.events_named(SENTINEL))

    def sentinels_at(self, destination: Destination, dialect: Dialect) -> Attempts:
        """What arrived of the sentinel at this destination."""
        return self.attempts_at(destination, SENTINEL, dialect)
