"""Transitional: an observation without a type of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.conformance.observations.destinations import Destination, Event
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.dialect.model import Dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class Case(DeliveryObservation):
    """What one try of an experiment showed, with `facts` of any kind."""

    facts: Mapping[str, Any] = field(default_factory=dict)


def destinations(case: DeliveryObservation, *names: str) -> tuple[Destination, ...]:
    """Those of the given names if any."""
    return case.destinations_named(*names) if names else case.destinations


def events(case: DeliveryObservation, *names: str) -> tuple[Event, ...]:
    """Those of the given names if any."""
    return case.events_named(*names) if names else case.events


def deliveries_of(
    case: DeliveryObservation, destination: Destination, event: Event, dialect: Dialect
) -> tuple[ReceivedDelivery, ...]:
    """Every attempt to deliver the event to the destination."""
    return case.attempts(destination, event, dialect)
