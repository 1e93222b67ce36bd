"""The delivery journal: deliveries with their attempts, for people and tests."""

from collections import defaultdict
from typing import Any, Final

from hookproof.mockserver.store.database import Database

_COLUMNS: Final = {
    "id": "deliveries.id",
    "project": "events.project",
    "event": "events.uid",
    "event_type": "events.event_type",
    "endpoint": "endpoints.uid",
    "state": "deliveries.state",
    "due_at": "deliveries.due_at",
}
DELIVERY_FIELDS: Final = tuple(_COLUMNS)
_MAX_ENTRIES: Final = 5000
_DELIVERIES: Final = f"""SELECT {", ".join(_COLUMNS.values())} FROM deliveries
    JOIN events ON events.seq = deliveries.event
    JOIN endpoints ON endpoints.seq = deliveries.endpoint"""
_ATTEMPT_FIELDS: Final = ("number", "started_at", "finished_at", "status", "failure", "detail")
_ATTEMPTS: Final = f"""SELECT delivery, {", ".join(_ATTEMPT_FIELDS)} FROM attempts
    WHERE delivery BETWEEN ? AND ? ORDER BY delivery, earlier"""
_STATES: Final = "SELECT state, count(*) FROM deliveries GROUP BY state"


class DeliveryJournal:
    def __init__(self, database: Database) -> None:
        self._database = database

    def entries(self, filters: dict[str, str]) -> list[dict[str, Any]]:
        """Return the latest deliveries that match, with their attempts, oldest first."""
        terms = " AND ".join(f"CAST({_COLUMNS[name]} AS TEXT) = ?" for name in filters) or "TRUE"
        statement = f"{_DELIVERIES} WHERE {terms} ORDER BY deliveries.id DESC LIMIT {_MAX_ENTRIES}"
        rows = self._database.read(statement, tuple(filters.values())).fetchall()[::-1]
        if not rows:
            return []
        attempts = defaultdict(list)
        for delivery, *values in self._database.read(_ATTEMPTS, (rows[0][0], rows[-1][0])):
            attempts[delivery].append(dict(zip(_ATTEMPT_FIELDS, values, strict=True)))
        return [
            {**dict(zip(_COLUMNS, row, strict=True)), "attempts": attempts[row[0]]} for row in rows
        ]

    def counts(self) -> dict[str, int]:
        """Return the number of deliveries by state."""
        return dict(self._database.read(_STATES))
