"""Endpoints as a portal link and an event show them, beside what fetching them shows (2.6, 2.8)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.observations.answer import resources, shown
from hookproof.conformance.observations.deliveries import DeliveryObservation

FETCHED = "fetch"
SHOWN = "shows records"

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedAndShown:
    """An endpoint that was fetched, and a later answer with its record among others.

    `again` is its next retrieval, None if there is none.
    """

    fetched: Exchange
    answer: Exchange
    record: Record
    again: Exchange | None = None


def fetched_and_shown(observation: Observation, member: str) -> Iterator[FetchedAndShown]:
    """The endpoints that were fetched, where `member` of another resource then holds records.

    The URL, which no two of them share, tells a record without uid.
    """
    fetched: dict[str, Exchange] = {}
    for place, exchange in enumerate(observation.exchanges):
        if exchange.operation_id == "getEndpoint":
            fetched |= dict.fromkeys(_known_by(shown(exchange)), exchange)
        for holder in resources(exchange):
            records = holder.fields.get(member)
            for record in records if isinstance(records, list) else ():
                known_by = next(iter(_known_by(record)), None)
                if known_by in fetched:
                    later = observation.exchanges[place + 1 :]
                    yield FetchedAndShown(
                        fetched=fetched[known_by],
                        answer=exchange,
                        record=record,
                        again=next((one for one in later if _shows(one, known_by)), None),
                    )


def _shows(exchange: Exchange, known_by: str) -> bool:
    return exchange.operation_id == "getEndpoint" and known_by in _known_by(shown(exchange))


def _known_by(record: object) -> list[str]:
    """The uid and the URL of an endpoint, as far as a record shows them."""
    fields = record if isinstance(record, dict) else {}
    return [text for name in ("uid", "url") if isinstance(text := fields.get(name), str) and text]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsInPortalLink(Observation):
    """An endpoint with every plain field, fetched, and the portal link of its owner."""

    def fetched_and_shown(self) -> Iterator[FetchedAndShown]:
        """The endpoint beside its record in endpoints_metadata."""
        return fetched_and_shown(self, "endpoints_metadata")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsInEvent(DeliveryObservation):
    """An endpoint that was fetched, and an event that reaches it."""
