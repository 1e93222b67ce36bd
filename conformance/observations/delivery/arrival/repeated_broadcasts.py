"""The same broadcast twice (section 4.8)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.deliveries import Attempts, SignedDeliveries
from hookproof.conformance.observations.destinations import Destination
from hookproof.conformance.observations.sentinel import DeliveriesBeforeSentinel
from hookproof.spec.dialect.model import Dialect

FIRST: Final = "first"
SECOND: Final = "second"
ORIGINAL: Final = "original"
DUPLICATE: Final = "duplicate"


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
