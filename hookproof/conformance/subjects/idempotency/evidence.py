"""The same broadcast twice (section 4.8)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import refused
from hookproof.conformance.observations.deliveries import Arrivals, Attempts, SignedDeliveries
from hookproof.conformance.observations.destinations import Destination
from hookproof.conformance.observations.sentinel import DeliveriesBeforeSentinel
from hookproof.spec.dialect.model import Dialect

FIRST: Final = "first"
SECOND: Final = "second"
ORIGINAL: Final = "original"
DUPLICATE: Final = "duplicate"

# The events of two projects, of which the second has an endpoint: its events have the keys of the
# first, or keys of their own.
THERE: Final = "there"
USED: Final = ("key used here", "another key used here")
SAME_KEY: Final = ("same key there", "another same key there")
OWN_KEY: Final = ("own key there", "another own key there")


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateBroadcast(SignedDeliveries, DeliveriesBeforeSentinel):
    """An event that was broadcast twice with one idempotency_key, and a later one, the sentinel."""

    @property
    def broadcasts(self) -> tuple[Exchange | None, Exchange | None]:
        """The original and the duplicate."""
        return self.exchange(ORIGINAL), self.exchange(DUPLICATE)

    def deliveries_of_original(
        self, dialect: Dialect
    ) -> Iterator[tuple[Destination, Attempts, Attempts]]:
        """What arrived of the event at each destination, and what arrived there of the sentinel."""
        for destination in self.destinations:
            sentinels = self.sentinels_at(destination, dialect)
            for original in self.events_named(ORIGINAL):
                yield destination, self.attempts(destination, original, dialect), sentinels


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedBroadcast(SignedDeliveries):
    """An event that was broadcast twice without an idempotency_key.

    Where the dialect requires a key (`key_required`), nothing was broadcast.
    """

    key_required: bool = False

    @property
    def broadcasts(self) -> tuple[Exchange | None, Exchange | None]:
        return self.exchange(FIRST), self.exchange(SECOND)

    def deliveries_of_both(self, dialect: Dialect) -> Iterator[Attempts]:
        """What arrived of them at each destination."""
        for destination in self.destinations:
            for first in self.events_named(FIRST):
                yield self.attempts(destination, first, dialect)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysOfTwoProjects(SignedDeliveries):
    """Events of one project, and events of another with the same keys and with keys of their own,
    which has an endpoint.
    """

    def own_keys_there(self, dialect: Dialect) -> Attempts:
        """The first delivery of each event of the second project with a key of its own; empty
        unless all arrived, and nothing of the first project, which may be the same by another name.
        """
        there = self.destinations_named(THERE)
        used, own = self.events_named(*USED), self.events_named(*OWN_KEY)
        arrived = [attempts[0] for _, _, attempts in self.arrived_events(there, own, dialect)]
        astray = any(self.arrived_events(there, used, dialect))
        return tuple(arrived) if len(arrived) == len(OWN_KEY) and not astray else ()

    def same_keys_there(self, dialect: Dialect) -> Arrivals:
        """The second project's endpoint with each of its events that has a key of the first."""
        for event in self.events_named(*SAME_KEY):
            yield from self.attempts_at_each(self.destinations_named(THERE), event, dialect)

    @property
    def refused_there(self) -> tuple[Exchange, ...]:
        """The broadcasts of the second project that were refused and have a key of the first."""
        return tuple(each for each in self.exchanges if each.role in SAME_KEY and refused(each))
