"""What every observation of deliveries holds: endpoints, events, and how they were signed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Self

from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.evidence import NotExaminedError, Observation
from hookproof.conformance.observations.destinations import Destination, Event, shows
from hookproof.conformance.observations.signature_reading import SignatureReading, read_signatures
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect

Attempts = tuple[ReceivedDelivery, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryObservation(Observation):
    """Events that were broadcast, the destinations that were to get them, and what arrived.

    Destinations stand in the order of their creation, events in that of their acceptance.
    `signatures` are the readings of all deliveries to destinations of which a secret is known.
    """

    destinations: tuple[Destination, ...] = ()
    events: tuple[Event, ...] = ()
    signatures: tuple[SignatureReading, ...] = ()

    def examined(self, dialect: Dialect) -> Self:
        """The observation with its signatures read."""
        return replace(
            self, signatures=read_signatures(self.destinations, self.deliveries, dialect)
        )

    def destinations_named(self, *names: str) -> tuple[Destination, ...]:
        """The destinations of these names, in order of creation."""
        return tuple(destination for destination in self.destinations if destination.name in names)

    def events_named(self, *names: str) -> tuple[Event, ...]:
        """The events of these names, in order of acceptance."""
        return tuple(event for event in self.events if event.name in names)

    def attempts(self, destination: Destination, event: Event, dialect: Dialect) -> Attempts:
        """Every attempt to deliver the event to the destination, in order of arrival."""
        return tuple(
            delivery
            for delivery in self.arrived_at(destination.token)
            if shows(delivery, event, dialect)
        )

    def attempts_at(self, destination: Destination, event_name: str, dialect: Dialect) -> Attempts:
        """Every attempt to deliver the events of this name to the destination."""
        return tuple(
            delivery
            for event in self.events_named(event_name)
            for delivery in self.attempts(destination, event, dialect)
        )

    def attempts_anywhere(self, dialect: Dialect, *events: Event) -> Attempts:
        """Every attempt to deliver these events, event by event and destination by destination."""
        return tuple(
            delivery
            for event in events
            for destination in self.destinations
            for delivery in self.attempts(destination, event, dialect)
        )

    def arrived_events(
        self, destinations: Iterable[Destination], events: Iterable[Event], dialect: Dialect
    ) -> Iterator[tuple[Destination, Event, Attempts]]:
        """Each of these destinations, each of these events that arrived there, and its attempts."""
        expected = tuple(events)
        for destination in destinations:
            for event in expected:
                attempts = self.attempts(destination, event, dialect)
                if attempts:
                    yield destination, event, attempts

    def signature(self, delivery: ReceivedDelivery, context: CheckContext) -> SignatureReading:
        """The reading of a delivery's signature; raises NotExaminedError if there is none."""
        context.require_same_signatures()
        for reading in self.signatures:
            if (reading.token, reading.sequence) == (delivery.token, delivery.sequence):
                return reading
        raise NotExaminedError("no secret of the endpoint is known, so no signature was read")


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedDeliveries(DeliveryObservation):
    """Deliveries to endpoints that keep their secrets, so that each has to be signed with them."""

    def signed_attempts(self, dialect: Dialect) -> tuple[tuple[Destination, Event, Attempts], ...]:
        """Each destination with a known secret, each event that arrived there, and its attempts."""
        keeping_their_secret = [
            destination
            for destination in self.destinations
            if destination.secret and not destination.rolls
        ]
        return tuple(self.arrived_events(keeping_their_secret, self.events, dialect))
