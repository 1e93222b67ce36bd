"""The events that broadcasts are answered with, duplicates among them (sections 2.8, 4.8 and 6)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.observations.answer import has_value, items, shown
from hookproof.conformance.observations.roles import OneExchange
from hookproof.conformance.observations.succeeding_requests import SucceedingRequests

# The role of a broadcast whose idempotency_key no other request had: where even that is flagged,
# the flag says nothing of any other.
FRESH_KEY: Final = "fresh key"


def is_flagged(broadcast: Exchange | None) -> bool:
    """Whether the answer to a broadcast shows a duplicate."""
    return broadcast is not None and shown(broadcast).get("is_duplicate_event") is True


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedBroadcasts(Observation):
    """Broadcasts; an idempotency_key is new in the first broadcast that carries it."""

    @property
    def first_broadcasts(self) -> tuple[Exchange, ...]:
        """The broadcasts that do not repeat a key."""
        return tuple(
            exchange
            for exchange in (*self.all_exchanges("first"), *self.all_exchanges("create"))
            if exchange.operation_id == "createBroadcastEvent"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastAnswer(KeyedBroadcasts, SucceedingRequests):
    """One broadcast."""

    created = OneExchange("create")


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastWithField(BroadcastAnswer):
    """One broadcast with a field besides the required ones."""

    field: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastWithPayload(BroadcastAnswer):
    """One broadcast with an object of any kind as its data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastWithQuery(BroadcastAnswer):
    """One broadcast with query parameters in its URL, which the dialect has a use for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastWithTellingQuery(KeyedBroadcasts):
    """One broadcast with a query whose texts tell, which may be refused."""

    created = OneExchange("tried")


@dataclass(frozen=True, slots=True, kw_only=True)
class EventBesideSources(KeyedBroadcasts):
    """One broadcast after the list of sources, of which the event may name one."""

    created = OneExchange("create")

    def listed(self, uid: object) -> tuple[Exchange, Mapping[str, Any]] | None:
        """The source with this uid, and the page that shows it."""
        return next(
            (
                (page, source)
                for page in self.all_exchanges("inventory")
                for source in items(page)
                if has_value(uid) and source.get("uid") == uid
            ),
            None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastWithTellingTexts(BroadcastAnswer):
    """One broadcast whose texts change in whatever a service does to texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedKey(KeyedBroadcasts, SucceedingRequests):
    """A broadcast, and a second one with its idempotency_key."""

    first = OneExchange("first")
    again = OneExchange("again")


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicatesAtOnce(Observation):
    """Broadcasts with one idempotency_key that were sent at the same time."""


class EventDifference(StrEnum):
    """What makes broadcasts different events."""

    KEY = "other key"
    PROJECT = "same key in another project"
    NO_KEY = "no key"


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferentEvents(KeyedBroadcasts, SucceedingRequests):
    """Broadcasts that are not duplicates of each other, for this reason."""

    difference: EventDifference
