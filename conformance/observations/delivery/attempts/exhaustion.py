"""Deliveries to an endpoint that always fails (sections 1, 3 and 6)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.deliveries import Attempts, DeliveryObservation
from hookproof.spec.dialect.model import Dialect

FAILING: Final = "failing"
LAST_EVENT: Final = "event"
BEFORE: Final = "before"
AFTER: Final = "after"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExhaustedDeliveries(DeliveryObservation):
    """Events to an endpoint that always fails, and the endpoint before and after the last one.

    `exhausted` is how many deliveries in a row were given up. `chat` is the receiver's token that
    stands for the chat channel of the endpoint.
    """

    chat: str
    exhausted: int

    @property
    def created(self) -> Exchange | None:
        return self.exchange(FAILING)

    @property
    def fetched_before(self) -> Exchange | None:
        """The endpoint before the last event was broadcast."""
        return self.exchange(BEFORE)

    @property
    def fetched_after(self) -> Exchange | None:
        """The endpoint after the last event was given up."""
        return self.exchange(AFTER)

    @property
    def messages(self) -> Attempts:
        """What arrived at the chat channel."""
        return self.arrived_at(self.chat)

    def last_attempts(self, dialect: Dialect) -> Iterator[Attempts]:
        """The attempts at the last event, if any has arrived."""
        last_events = self.events_named(LAST_EVENT)
        for _, _, attempts in self.arrived_events(self.destinations, last_events, dialect):
            yield attempts

    def ends_of_events(self, dialect: Dialect) -> Iterator[float]:
        """When the last attempt at each event arrived, on the monotonic clock in seconds."""
        for _, _, attempts in self.arrived_events(self.destinations, self.events, dialect):
            yield attempts[-1].arrived_monotonic
