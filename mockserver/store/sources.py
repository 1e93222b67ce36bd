"""Sources (section 2.7): there is no operation that makes one, only the control listener does."""

from typing import Final

from hookproof.mockserver.store.database import Database

COLUMNS: Final = ("document",)


_INSERT: Final = (
    "INSERT INTO sources (uid, project, name, type, provider, document) VALUES (?, ?, ?, ?, ?, ?)"
)


class SourceTable:
    """The table of sources."""

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
