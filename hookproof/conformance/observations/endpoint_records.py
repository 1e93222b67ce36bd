"""Endpoints as a portal link and an event show them, beside what fetching them shows (2.6, 2.8)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.observations.answer import Kind, resources, shown, shown_uid
from hookproof.conformance.observations.deliveries import DeliveryObservation

FETCHED = "fetch"
SHOWN = "shows records"
ONE_OF_MANY = "one of many"

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

    The URL, which no two of them share, tells a record without the uid of any of them.
    """
    fetched: dict[str, Exchange] = {}
    for place, exchange in enumerate(observation.exchanges):
        if exchange.operation_id == "getEndpoint":
            fetched |= dict.fromkeys(_known_by(shown(exchange)), exchange)
        for holder in resources(exchange):
            records = holder.fields.get(member)
            records = records if isinstance(records, list) else []
            names = {name for record in records for name in _known_by(record)}
            for record in records:
                known_by = next((name for name in _known_by(record) if name in fetched), None)
                if known_by is None:
                    continue
                if known_by == record.get("uid") or shown_uid(fetched[known_by]) not in names:
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
class ManyInPortalLink(Observation):
    """The creations of more endpoints of one owner than a page of a list holds, and the portal link
    of that owner in the answers of all three operations that show one.
    """

    link_uid: str

    @property
    def created(self) -> tuple[Exchange, ...]:
        """The creations that were accepted and show the uid."""
        creations = self.all_exchanges(ONE_OF_MANY)
        return tuple(each for each in creations if shown_uid(each) is not None)

    def links(self) -> Iterator[tuple[Exchange, Record]]:
        """Each answer with the portal link that it shows."""
        for answer in self.all_exchanges(SHOWN):
            for part in resources(answer):
                if part.kind is Kind.PORTAL_LINK and part.text("uid") == self.link_uid:
                    yield answer, part.fields


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsInEvent(DeliveryObservation):
    """An endpoint that was fetched, and an event that reaches it."""
