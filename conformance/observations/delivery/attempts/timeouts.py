"""Endpoints that keep the service waiting (section 8)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.model.tolerances import EARLY_S
from hookproof.conformance.observations.deliveries import Attempts, DeliveryObservation
from hookproof.conformance.observations.destinations import Destination, ended
from hookproof.spec.dialect.model import Dialect

# Destinations that do not answer, whose answer never ends, and that answer late but in time.
SILENT: Final = "silent"
ENDLESS: Final = "endless"
SLOW: Final = "slow"

EVENT: Final = "event"

Waiting = Iterator[tuple[Destination, Attempts]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointTimeout(DeliveryObservation):
    """One event to endpoints that are to be waited for `timeout_s` seconds and not longer."""

    timeout_s: float

    def silent(self, dialect: Dialect) -> Waiting:
        """The endpoint that does not answer and the attempts at the event, if any has arrived."""
        return self._attempted(SILENT, dialect)

    def endless(self, dialect: Dialect) -> Waiting:
        """The endpoint whose answer never ends and the attempts at the event."""
        return self._attempted(ENDLESS, dialect)

    def _attempted(self, name: str, dialect: Dialect) -> Waiting:
        for destination, _, attempts in self.arrived_events(
            self.destinations_named(name), self.events_named(EVENT), dialect
        ):
            yield destination, attempts


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenTimeout(EndpointTimeout):
    """One event to endpoints that were created with an http_timeout.

    The one that answers after `slow_s` seconds has an http_timeout of `patient_s`.
    """

    slow_s: float
    patient_s: float

    def slow(self, dialect: Dialect) -> Waiting:
        """The endpoint that answers late but in time and the attempts at the event."""
        return self._attempted(SLOW, dialect)


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultTimeout(EndpointTimeout):
    """One event to an endpoint without http_timeout."""


def waited_s(attempts: Attempts, timeout_s: float) -> float | None:
    """From the first arrival until the service left or tried again, in seconds; None if it did
    neither.

    An attempt that comes before the time is over is a double, and does not show that the first one
    was given up.
    """
    first, *further = attempts
    ends = [ended(first)] + [
        attempt.arrived_monotonic
        for attempt in further
        if attempt.arrived_monotonic - first.arrived_monotonic >= timeout_s - EARLY_S
    ]
    known = [end for end in ends if end is not None]
    return min(known) - first.arrived_monotonic if known else None
