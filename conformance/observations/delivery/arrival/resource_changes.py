"""Changes of resources while nothing is broadcast (section 6)."""

from dataclasses import dataclass
from typing import Final

from hookproof.conformance.observations.deliveries import Attempts, DeliveryObservation
from hookproof.spec.dialect.model import Dialect

SENTINEL: Final = "sentinel"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceChanges(DeliveryObservation):
    """A new endpoint and the roll of its secret beside an endpoint that listens, then a sentinel.

    Nothing else was sent in the project.
    """

    def sentinels(self, dialect: Dialect) -> Attempts:
        """What arrived of the sentinel anywhere, so that silence means something."""
        return self.attempts_anywhere(dialect, *self.events_named(SENTINEL))
