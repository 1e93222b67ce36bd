"""Endpoints as a portal link and an event show them, beside what fetching them shows (2.6, 2.8)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.observations.answer import shown
from hookproof.conformance.observations.deliveries import DeliveryObservation

FETCHED = "fetch"
SHOWN = "shows records"

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedAndShown:
    """An endpoint that was fetched, and the answer with its record among others."""

    fetched: Exchange
    answer: Exchange
    record: Record


def fetched_and_shown(observation: Observation, member: str) -> Iterator[FetchedAndShown]:
    """The endpoints that were fetched and whose record is in `member` of another resource."""
    for fetched in observation.all_exchanges(FETCHED):
        uid = shown(fetched).get("uid")
        for answer in observation.all_exchanges(SHOWN):
            records = shown(answer).get(member)
            for record in records if isinstance(records, list) and uid else ():
                if isinstance(record, dict) and record.get("uid") == uid:
                    yield FetchedAndShown(fetched=fetched, answer=answer, record=record)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsInPortalLink(Observation):
    """An endpoint with every plain field, fetched, and the portal link of its owner."""

    def fetched_and_shown(self) -> Iterator[FetchedAndShown]:
        """The endpoint beside its record in endpoints_metadata."""
        return fetched_and_shown(self, "endpoints_metadata")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsInEvent(DeliveryObservation):
    """An endpoint that was fetched, and an event that reaches it."""

    def fetched_and_shown(self) -> Iterator[FetchedAndShown]:
        """The endpoint beside its record in endpoint_metadata."""
        return fetched_and_shown(self, "endpoint_metadata")
