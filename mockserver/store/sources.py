"""Sources (section 2.7). The API has no operation that creates one; the control listener has."""

from typing import Final

from hookproof.mockserver.store.database import Database

COLUMNS: Final = ("document",)


_INSERT: Final = (
    "INSERT INTO sources (uid, project, name, type, provider, document) VALUES (?, ?, ?, ?, ?, ?)"
)


class SourceTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        project: str,
        uid: str,
        *,
        name: str,
        type_: str | None,
        provider: str | None,
        document: bytes,
    ) -> None:
        """Store a source; `document` is the JSON object that responses show."""
        self._database.write(_INSERT, (uid, project, name, type_, provider, document))
