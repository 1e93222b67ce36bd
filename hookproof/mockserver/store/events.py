"""Events, and one delivery for each endpoint that an event reaches (sections 2.8 and 4.8)."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from hookproof.mockserver.delivery.store_port import DeliveryState
from hookproof.mockserver.store.database import Database
from hookproof.mockserver.store.endpoints import EndpointRow


class NewEvent(NamedTuple):
    """An event to be stored.

    `original_key` is the idempotency key of an event that is not a duplicate, `payload` the
    verbatim JSON text of `data`; `headers` and `document` are JSON objects.
    """

    uid: str
    project: str
    original_key: str | None
    event_type: str
    payload: bytes
    headers: bytes
    document: bytes


class EventRow(NamedTuple):
    """What a response needs of a stored event."""

    payload: bytes
    document: bytes


_INSERT: Final = f"INSERT INTO events ({', '.join(NewEvent._fields)}) VALUES (?, ?, ?, ?, ?, ?, ?)"
_ORIGINAL: Final = "SELECT payload, document FROM events WHERE project = ? AND original_key = ?"
_DELIVER: Final = """INSERT INTO deliveries (event, endpoint, state, due_at)
    SELECT ?, value, ?, ? FROM json_each(?) ORDER BY key"""
_COUNT: Final = (
    "UPDATE tallies SET events = events + 1 WHERE endpoint IN (SELECT value FROM json_each(?))"
)


class EventTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    def find_original(self, project: str, key: str) -> EventRow | None:
        """Return the first event of a project with this idempotency key (section 2.8)."""
        row = self._database.read(_ORIGINAL, (project, key)).fetchone()
        return None if row is None else EventRow._make(row)

    def add(self, event: NewEvent, *, reached: Sequence[EndpointRow], now: float) -> None:
        """Store an event and a delivery for each endpoint it reaches; count it for them."""
        seq = self._database.write(_INSERT, event).lastrowid
        if reached:
            endpoints = msgspec.json.encode([endpoint.seq for endpoint in reached]).decode()
            self._database.write(_DELIVER, (seq, DeliveryState.PENDING.value, now, endpoints))
            self._database.write(_COUNT, (endpoints,))
