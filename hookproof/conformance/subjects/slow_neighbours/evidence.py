"""Events to one endpoint, before and while others keep the service waiting (section 1)."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Final

from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.conformance.observations.destinations import Destination, Event, ended
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect

# The destination that answers at once, and those that do not answer, and whose answer never ends.
PROMPT: Final = "prompt"
SILENT: Final = "silent"
ENDLESS: Final = "endless"

# The events before the slow endpoints exist, the one that keeps them busy, and those after it.
BEFORE: Final = ("before 1", "before 2", "before 3", "before 4")
EVENT: Final = "event"
MEANWHILE: Final = ("meanwhile 1", "meanwhile 2", "meanwhile 3")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptDelivery:
    """The first attempt at an event at the endpoint that answers at once.

    `waited_s` is the time since the answer to the broadcast, in seconds.
    """

    destination: Destination
    event: Event
    attempt: ReceivedDelivery
    waited_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowNeighbours(DeliveryObservation):
    """Events to an endpoint that answers at once, before others beside it keep the service waiting
    and meanwhile.
    """

    def before(self, dialect: Dialect) -> tuple[PromptDelivery, ...]:
        """What arrived before there were slow endpoints."""
        return tuple(self._arrived(BEFORE, dialect))

    def meanwhile(self, dialect: Dialect) -> tuple[PromptDelivery, ...]:
        """What arrived of the events that were broadcast while a slow endpoint was waited for."""
        return tuple(
            delivered
            for delivered in self._arrived(MEANWHILE, dialect)
            if any(
                attempt.arrived_at <= self._answered_at(delivered.event) < _left_at(attempt)
                for attempt in self.waiting(dialect)
            )
        )

    def waiting(self, dialect: Dialect) -> tuple[ReceivedDelivery, ...]:
        """The attempts at the slow endpoints."""
        return tuple(
            attempt
            for destination in self.destinations_named(SILENT, ENDLESS)
            for attempt in self.attempts_at(destination, EVENT, dialect)
        )

    def _arrived(self, names: tuple[str, ...], dialect: Dialect) -> Iterator[PromptDelivery]:
        for destination, event, attempts in self.arrived_events(
            self.destinations_named(PROMPT), self.events_named(*names), dialect
        ):
            yield PromptDelivery(
                destination=destination,
                event=event,
                attempt=attempts[0],
                waited_s=attempts[0].arrived_at - self._answered_at(event),
            )

    def _answered_at(self, event: Event) -> float:
        exchange = self.exchange(event.name)
        return exchange.sent_at + exchange.duration_s if exchange else 0.0


def _left_at(attempt: ReceivedDelivery) -> float:
    """When the service gave the attempt up, in Unix seconds; infinite if it has not."""
    end = ended(attempt)
    return inf if end is None else attempt.arrived_at + end - attempt.arrived_monotonic
