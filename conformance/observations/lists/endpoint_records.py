"""Endpoints as a portal link and an event show them, beside what fetching them shows (2.6, 2.8)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.observations.answer import resources, shown_uid
from hookproof.conformance.observations.deliveries import DeliveryObservation

FETCHED = "fetch"
SHOWN = "shows records"
# The operations whose answer is an endpoint by itself.
ITSELF: Final = ("createEndpoint", "getEndpoint")

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTwice:
    """An answer that shows an endpoint, and a later one with a record of it among others."""

    first: Exchange
    answer: Exchange
    record: Record


def shown_twice(observation: Observation, member: str, *, role: str = "") -> Iterator[ShownTwice]:
    """The endpoints of which `member` of another resource holds records.

    Each is compared with the last answer before that is about itself alone, of this role if one is
    given.
    """
    known: dict[Any, Exchange] = {}
    for exchange in observation.exchanges:
        if exchange.operation_id in ITSELF and role in ("", exchange.role):
            known[shown_uid(exchange)] = exchange
        for holder in resources(exchange):
            records = holder.fields.get(member)
            for record in records if isinstance(records, list) else ():
                uid = record.get("uid") if isinstance(record, dict) else None
                if isinstance(uid, str) and uid in known:
                    yield ShownTwice(first=known[uid], answer=exchange, record=record)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsInPortalLink(Observation):
    """An endpoint with every plain field, fetched, and the portal link of its owner."""

    def fetched_and_shown(self) -> Iterator[ShownTwice]:
        """The endpoint beside its record in endpoints_metadata."""
        return shown_twice(self, "endpoints_metadata", role=FETCHED)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsInEvent(DeliveryObservation):
    """An endpoint that was fetched, and an event that reaches it."""
