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

UNLIMITED: Final = "without limit"
ZERO_LIMIT: Final = "limit of 0"
WITHOUT_DURATION: Final = "limited without duration"


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimitBurst(SignedDeliveries, DeliveriesBeforeSentinel):
    """One event, later in the same window a burst of more than twice the limit, and a sentinel when
    that has arrived.

    A limited destination may get `limit` requests in each `window_s` seconds.
    """

    limit: int
    window_s: float

    @property
    def burst(self) -> tuple[Event, ...]:
        """The first event and those of the burst."""
        return tuple(event for event in self.events if event.name != SENTINEL)

    @property
    def limited(self) -> tuple[Destination, ...]:
        """The destinations with the limit, whatever they answer."""
        return self.destinations_named(*ANSWERING, FAILING)

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
    def created_without_duration(self) -> Exchange | None:
        """The creation of an endpoint with a rate_limit and no rate_limit_duration."""
        return self.exchange(WITHOUT_DURATION)
