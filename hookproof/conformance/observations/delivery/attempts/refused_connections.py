"""An endpoint whose port is closed at first, as that of a service that is being restarted."""

from dataclasses import dataclass
from typing import Final

from hookproof.conformance.observations.deliveries import Attempts, DeliveryObservation
from hookproof.spec.dialect.model import Dialect

# Destinations: one that fails once, and the one whose port is closed when the first event is
# broadcast.
BESIDE: Final = "beside it"
CLOSED: Final = "closed at first"
# The event that is broadcast while the port is closed, and the one when it is open.
EVENT: Final = "event"
OPENED: Final = "event at the open port"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedConnection(DeliveryObservation):
    """Two events: when the first one arrived at the endpoint beside it, a closed port was opened.

    `again_s` is how long after a failure the next attempt is due in the dialect, at the earliest.
    """

    again_s: float

    def arrived(self, name: str, event: str, dialect: Dialect) -> Attempts:
        """The attempts at an event of this name at a destination of this name."""
        return tuple(
            attempt
            for destination in self.destinations_named(name)
            for attempt in self.attempts_at(destination, event, dialect)
        )
