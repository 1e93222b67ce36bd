"""Sources (section 2.7). The API has no operation that creates one; the control listener has."""

from typing import Final, NamedTuple

from hookproof.mockserver.store.database import Database

COLUMNS: Final = ("document",)


class NewSource(NamedTuple):
    """A source to be stored; `document` is the JSON object that responses show."""

    uid: str
    project: str
    name: str
    type: str | None
    provider: str | None
    document: bytes


class SourceRow(NamedTuple):
    """What an event shows of a stored source."""

    uid: str
    document: bytes


_INSERT: Final = f"INSERT INTO sources ({', '.join(NewSource._fields)}) VALUES (?, ?, ?, ?, ?, ?)"
_OLDEST: Final = "SELECT uid, document FROM sources WHERE project = ? ORDER BY seq LIMIT 1"


class SourceTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, source: NewSource) -> None:
        self._database.write(_INSERT, source)

    def find_oldest(self, project: str) -> SourceRow | None:
        row = self._database.read(_OLDEST, (project,)).fetchone()
        return None if row is None else SourceRow._make(row)
