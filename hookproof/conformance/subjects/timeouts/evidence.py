"""Endpoints that keep the service waiting (section 8)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.observations.deliveries import Attempts, DeliveryObservation
from hookproof.conformance.observations.destinations import Destination
from hookproof.spec.dialect.model import Dialect

# Destinations that do not answer, whose answer never ends, and that answer late but in time.
SILENT: Final = "silent"
ENDLESS: Final = "endless"
SLOW: Final = "slow"

# A destination that answers at once, beside others that may not be waited for at all.
PROMPT: Final = "prompt"

EVENT: Final = "event"
AGAIN: Final = "again"

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroTimeoutDeliveries(DeliveryObservation):
    """Two events to endpoints with an http_timeout of 0, and to one without that answers at once.

    `default_s` is the dialect's default, `slow_s` the shorter time after which an endpoint answers.
    One that never answers is there only if the default can be waited for.
    """

    slow_s: float
    default_s: float

    def prompt(self, dialect: Dialect) -> Attempts:
        """What arrived at the endpoint that answers at once."""
        return self._arrived(PROMPT, dialect)

    def slow(self, dialect: Dialect) -> Attempts:
        """What arrived at the endpoint that answers late."""
        return self._arrived(SLOW, dialect)

    def silent(self, dialect: Dialect) -> Attempts:
        """The attempts at the first event where nothing is answered."""
        return self._arrived(SILENT, dialect, EVENT)

    def _arrived(self, name: str, dialect: Dialect, *events: str) -> Attempts:
        return tuple(
            attempt
            for destination in self.destinations_named(name)
            for event in events or (EVENT, AGAIN)
            for attempt in self.attempts_at(destination, event, dialect)
        )
