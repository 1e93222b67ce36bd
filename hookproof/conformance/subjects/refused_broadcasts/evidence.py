"""Broadcasts that were to be refused for their key (section 5)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.deliveries import Attempts
from hookproof.conformance.observations.sentinel import DeliveriesBeforeSentinel
from hookproof.spec.dialect.model import Dialect

REFUSED: Final = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedBroadcasts(DeliveriesBeforeSentinel):
    """Broadcasts with keys that are not valid, and a later event with the right one, the sentinel.

    `markers` are those of the broadcasts that were to be refused, in their order.
    """

    markers: tuple[str, ...]

    def deliveries_of_refused(
        self, dialect: Dialect
    ) -> Iterator[tuple[Exchange, Attempts, Attempts]]:
        """Each of these broadcasts, what arrived of it, and what arrived there of the sentinel."""
        for destination in self.destinations:
            sentinels = self.sentinels_at(destination, dialect)
            for marker, broadcast in zip(self.markers, self.all_exchanges(REFUSED), strict=False):
                arrived = tuple(
                    delivery
                    for delivery in self.arrived_at(destination.token)
                    if marker.encode() in delivery.body
                )
                yield broadcast, arrived, sentinels
