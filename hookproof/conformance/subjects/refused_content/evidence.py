"""Broadcasts and new endpoints that are to be refused for their content (section 7)."""

from collections.abc import Iterator
from dataclasses import dataclass

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.before_and_after import BeforeAndAfter
from hookproof.conformance.observations.deliveries import Attempts
from hookproof.conformance.observations.sentinel import DeliveriesBeforeSentinel
from hookproof.spec.dialect.model import Dialect

# The roles of what is to be refused, and of the broadcast that repeats an idempotency_key.
REFUSED_BROADCAST = "refused content"
SAME_KEY = "same key"
TRIED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastsWithRefusedContent(DeliveriesBeforeSentinel):
    """Broadcasts with a field of another type; then one with each idempotency_key of these that
    is right, and the sentinel.

    `markers` are those of the broadcasts that were to be refused, in their order.
    """

    markers: tuple[str, ...]

    def refused_and_repeated(self) -> Iterator[tuple[Exchange, Exchange]]:
        """Each of these broadcasts, with the right one of the same idempotency_key."""
        yield from zip(
            self.all_exchanges(REFUSED_BROADCAST), self.all_exchanges(SAME_KEY), strict=False
        )

    def deliveries_of_refused(
        self, dialect: Dialect
    ) -> Iterator[tuple[Exchange, Attempts, Attempts]]:
        """Each of these broadcasts, what arrived of it, and what arrived there of the sentinel."""
        for destination in self.destinations:
            sentinels = self.sentinels_at(destination, dialect)
            for marker, tried in zip(
                self.markers, self.all_exchanges(REFUSED_BROADCAST), strict=False
            ):
                arrived = tuple(
                    delivery
                    for delivery in self.arrived_at(destination.token)
                    if marker.encode() in delivery.body
                )
                yield tried, arrived, sentinels


@dataclass(frozen=True, slots=True, kw_only=True)
class WithRefusedContent(BeforeAndAfter):
    """Requests that are to be refused, and what they might have had an effect on."""

    @property
    def tried(self) -> tuple[Exchange, ...]:
        """The requests that are to be refused."""
        return self.all_exchanges(TRIED)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreationsWithRefusedContent(WithRefusedContent):
    """New endpoints of one owner, and a portal link of this owner, which has another endpoint
    already.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesWithRefusedContent(WithRefusedContent):
    """Changes of one resource, of which all but one field is right.

    `changed` names the field of the resource that would be another then.
    """

    changed: str
