"""More broadcasts than a rate limit allows (sections 2.3 and 8)."""

from dataclasses import dataclass
from typing import Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.deliveries import SignedDeliveries
from hookproof.conformance.observations.destinations import Destination, Event
from hookproof.conformance.observations.sentinel import SENTINEL, DeliveriesBeforeSentinel

# Destinations with the same limit. The last one always fails, so that its attempts count too.
ANSWERING: Final = ("limited", "limited as well")
FAILING: Final = "limited and failing"

# A destination with this limit that is rolled before the burst.
ROLLED: Final = "limited and rolled"
# A destination with a limit of one request in the same time.
LIMIT_OF_ONE: Final = "limit of 1"


UNLIMITED: Final = "without limit"
ZERO_LIMIT: Final = "limit of 0"
WITHOUT_DURATION: Final = "limited without duration"

# How the names of events begin that come when the burst is over, to show what an edge lets through.
LATER: Final = "later "


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimitBurst(SignedDeliveries, DeliveriesBeforeSentinel):
    """One event, another and a burst at later times in the same window, more than twice the limit
    in all; a sentinel when that has arrived.

    A limited destination may get `limit` requests in each `window_s` seconds, unless it has a limit
    of its own.
    """

    limit: int
    window_s: float

    @property
    def burst(self) -> tuple[Event, ...]:
        """The events up to the burst: what a limit holds back or drops."""
        return tuple(
            event
            for event in self.events
            if event.name != SENTINEL and not event.name.startswith(LATER)
        )

    @property
    def limited(self) -> tuple[Destination, ...]:
        """The destinations with a limit, whatever they answer."""
        return self.destinations_named(*ANSWERING, FAILING, ROLLED, LIMIT_OF_ONE)

    def limit_of(self, destination: Destination) -> int:
        """The limit of one of them."""
        return 1 if destination.name == LIMIT_OF_ONE else self.limit

    @property
    def limited_and_answering(self) -> tuple[Destination, ...]:
        """Those of them that answer with success."""
        return self.destinations_named(*ANSWERING)

    @property
    def unlimited(self) -> tuple[Destination, ...]:
        return self.destinations_named(UNLIMITED)

    @property
    def zero_limited(self) -> tuple[Destination, ...]:
        return self.destinations_named(ZERO_LIMIT)

    @property
    def limited_without_duration(self) -> tuple[Destination, ...]:
        return self.destinations_named(WITHOUT_DURATION)

    @property
    def created_without_duration(self) -> Exchange | None:
        """The creation of an endpoint with a rate_limit and no rate_limit_duration."""
        return self.exchange(WITHOUT_DURATION)
