"""One broadcast to endpoints of every kind, and changes while nothing is broadcast (sections 1,
2.8, 3, 4.1, 4.8 and 6).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.observations.deliveries import DeliveryObservation, SignedDeliveries
from hookproof.conformance.observations.destinations import Destination, Event
from hookproof.conformance.observations.sentinel import DeliveriesBeforeSentinel
from hookproof.spec.dialect.model import Dialect

EVENT: Final = "event"

# Destinations that answer with success at once, whatever the dialect.
HEALTHY: Final = "healthy"
SAME_OWNER: Final = "of the same owner"
ENABLED: Final = "enabled by hand"

# Destinations that a service may reach late or never: while one of them does not answer, its other
# deliveries have to wait.
FAILING: Final = "failing"
HANGING: Final = "hanging"
GONE: Final = "gone"

DISABLED: Final = "disabled"
WITHOUT_OWNER: Final = (
    "without owner",
    "also without owner",
    "without owner either",
    "last without owner",
)

EVENT_HERE: Final = "event here"
EVENT_THERE: Final = "event there"


@dataclass(frozen=True, slots=True, kw_only=True)
class FanOut(SignedDeliveries, DeliveriesBeforeSentinel):
    """Events to endpoints of which some are not to get them."""

    @property
    def first_events(self) -> tuple[Event, ...]:
        """The events that every endpoint can be reached by.

        A later event may have to wait until an endpoint has answered.
        """
        return self.events_named(EVENT, EVENT_HERE, EVENT_THERE)

    @property
    def prompt(self) -> tuple[Destination, ...]:
        """The endpoints that answer, so that a service reaches them without delay."""
        return tuple(
            destination
            for destination in self.destinations
            if destination.name not in (FAILING, HANGING, GONE)
        )

    def answering(self, event: Event) -> tuple[Destination, ...]:
        """The endpoints that keep no delivery of this event waiting, whatever the dialect."""
        return self.prompt if event in self.first_events else ()

    def pending_events(
        self, dialect: Dialect, among: Iterable[Destination] | None = None
    ) -> frozenset[Event]:
        """The events that may still have been on their way when the observation ended.

        An endpoint that keeps the service waiting does not show how far it is behind elsewhere.
        """
        places = self.prompt if among is None else among
        return DeliveryObservation.pending_events(self, dialect, places)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneProjectFanOut(FanOut):
    """An event and a sentinel to endpoints of one project.

    They answer, fail, hang, are gone, are disabled, or have no owner.
    """

    @property
    def event(self) -> tuple[Event, ...]:
        """The first event, if it was accepted."""
        return self.events_named(EVENT)

    @property
    def healthy(self) -> tuple[Destination, ...]:
        """The endpoints that answer with success at once, whatever the dialect."""
        return self.destinations_named(HEALTHY, SAME_OWNER, ENABLED)

    def answering(self, event: Event) -> tuple[Destination, ...]:
        """The endpoints that keep no delivery of this event waiting, whatever the dialect."""
        return FanOut.answering(self, event) or self.healthy

    @property
    def failing(self) -> tuple[Destination, ...]:
        """The endpoints that fail, hang or are gone."""
        return self.destinations_named(FAILING, HANGING, GONE)

    @property
    def enabled(self) -> tuple[Destination, ...]:
        """The endpoint that was created with is_disabled false."""
        return self.destinations_named(ENABLED)

    @property
    def disabled(self) -> tuple[Destination, ...]:
        """The endpoint that was created with is_disabled true."""
        return self.destinations_named(DISABLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManyEndpointsFanOut(FanOut):
    """An event to more endpoints of one owner than a page of a list holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoProjectFanOut(FanOut):
    """An event in each of two projects, each of which has an endpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceChanges(DeliveriesBeforeSentinel):
    """A new endpoint and the roll of its secret beside an endpoint that listens, then a sentinel.

    Nothing else was sent in the project but marked events.
    """
