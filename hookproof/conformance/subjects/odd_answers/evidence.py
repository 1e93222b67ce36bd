"""Endpoints with odd answers, and deliveries to another endpoint (hygiene of section 6)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.observations.deliveries import Attempts, DeliveryObservation
from hookproof.conformance.observations.destinations import Destination
from hookproof.spec.dialect.model import Dialect

# The destination that answers as usual.
HEALTHY: Final = "healthy"

# The others: the connection is reset in place of an answer, or closed within its body; interim
# responses come before an answer, or without end; a body is long, or becomes long when it is
# decompressed, or never ends.
RESET: Final = "reset"
CUT: Final = "cut"
INTERIM: Final = "interim responses"
ENDLESS_INTERIM: Final = "endless interim responses"
HUGE: Final = "huge body"
COMPRESSED: Final = "compressed body"
ENDLESS_BODY: Final = "endless body"
ODD: Final = (RESET, CUT, INTERIM, ENDLESS_INTERIM, HUGE, COMPRESSED, ENDLESS_BODY)

# The event that gets the odd answers, and those after it, which are all answered as usual.
EVENT: Final = "event"
AFTER: Final = ("after 1", "after 2", "after 3")


@dataclass(frozen=True, slots=True, kw_only=True)
class OddAnswers(DeliveryObservation):
    """One event that is answered oddly by some endpoints, and three events after it.

    `timeout_s` is the http_timeout of the endpoints whose answers never end. `retried_within_s` is
    how long after the answer a second attempt was waited for, None where nothing says when one is
    made.
    """

    timeout_s: float
    retried_within_s: float | None

    def answered(self, dialect: Dialect, name: str) -> tuple[Destination, Attempts] | None:
        """An endpoint and the attempts at the event, if any has arrived there."""
        for destination, _, attempts in self.arrived_events(
            self.destinations_named(name), self.events_named(EVENT), dialect
        ):
            return destination, attempts
        return None

    def odd(self, dialect: Dialect) -> Mapping[str, Attempts]:
        """The first attempt at each endpoint whose answer was odd."""
        arrived = {name: self.answered(dialect, name) for name in ODD}
        return {name: found[1][:1] for name, found in arrived.items() if found is not None}

    def healthy(self, dialect: Dialect, *names: str) -> Attempts:
        """What arrived of these events at the endpoint that answers as usual."""
        return tuple(
            attempt
            for _, _, attempts in self.arrived_events(
                self.destinations_named(HEALTHY), self.events_named(*names), dialect
            )
            for attempt in attempts
        )
