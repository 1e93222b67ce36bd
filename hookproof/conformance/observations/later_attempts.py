"""Further attempts up to the last, and deliveries after a roll (sections 1, 2.5, 4.3, 6 and 8)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hookproof.conformance.observations.deliveries import (
    Attempts,
    DeliveryObservation,
    SignedDeliveries,
)
from hookproof.conformance.observations.destinations import Destination
from hookproof.spec.dialect.model import Dialect

EVENT: Final = "event"
# The event that is broadcast when the secrets have been rolled.
AFTER_ROLL: Final = "after the roll"
# The event that is broadcast when the access token of the one before has ended.
AFTER_END: Final = "after the end of the token"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterAttempts(SignedDeliveries):
    """Events to endpoints with credentials, which get several attempts each or are rolled between
    the events.

    `awaited` is how many attempts at each event were waited for; None if none was to be counted.
    """

    awaited: int | None = None

    def in_order(self, destination: Destination, dialect: Dialect) -> Attempts:
        """Every attempt at any of the events at a destination, in order of arrival."""
        attempts = {
            delivery
            for event in self.events
            for delivery in self.attempts(destination, event, dialect)
        }
        return tuple(
            delivery for delivery in self.arrived_at(destination.token) if delivery in attempts
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterSilence(DeliveryObservation):
    """One event to endpoints that answer with an error at first and are silent then.

    `silent_at` is the number of the attempt that is not answered, by the name of the destination;
    it is waited for `timeout_s` seconds and not longer.
    """

    timeout_s: float
    silent_at: Mapping[str, int] = field(default_factory=dict)

    def silent(self, dialect: Dialect) -> Iterator[tuple[Destination, Attempts]]:
        """Each destination with the attempts from the one on that is not answered."""
        for name, number in self.silent_at.items():
            for destination, _, attempts in self.arrived_events(
                self.destinations_named(name), self.events, dialect
            ):
                if len(attempts) >= number:
                    yield destination, attempts[number - 1 :]


def authentication_of(destination: Destination) -> dict[str, Any]:
    """The authentication that a destination was created with, empty if there is none."""
    authentication = destination.settings.get("authentication")
    return authentication if isinstance(authentication, dict) else {}
