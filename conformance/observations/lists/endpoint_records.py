"""Endpoints as a portal link and an event show them, beside what fetching them shows (2.6, 2.8)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.observations.answer import resources, shown, shown_uid
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
    fetched: dict[Any, Exchange] = {}
    uids: dict[Any, Any] = {}
    for place, exchange in enumerate(observation.exchanges):
        if exchange.operation_id == "getEndpoint":
            fetched[shown_uid(exchange)] = exchange
            uids[str(shown(exchange).get("url"))] = shown_uid(exchange)
        later = {
            shown_uid(one): one
            for one in reversed(observation.exchanges[place + 1 :])
            if one.operation_id == "getEndpoint"
        }
        for holder in resources(exchange):
            records = holder.fields.get(member)
            for record in records if isinstance(records, list) else ():
                uid = _uid_of(record, uids)
                if uid in fetched:
                    yield FetchedAndShown(
                        fetched=fetched[uid], answer=exchange, record=record, again=later.get(uid)
                    )


def _uid_of(record: object, uids: Mapping[Any, Any]) -> str | None:
    """The uid of a record, or the one of the endpoint with its URL; None if neither is known."""
    if not isinstance(record, dict):
        return None
    uid, url = record.get("uid"), record.get("url")
    if isinstance(uid, str):
        return uid
    known = uids.get(url) if isinstance(url, str) else None
    return known if isinstance(known, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsInPortalLink(Observation):
    """An endpoint with every plain field, fetched, and the portal link of its owner."""

    def fetched_and_shown(self) -> Iterator[FetchedAndShown]:
        """The endpoint beside its record in endpoints_metadata."""
        return fetched_and_shown(self, "endpoints_metadata")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsInEvent(DeliveryObservation):
    """An endpoint that was fetched, and an event that reaches it."""
