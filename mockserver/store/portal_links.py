"""Portal links (section 2.6).

`listed` holds the uids from the deprecated `endpoints` (section 9).
"""

from typing import Final, NamedTuple

from hookproof.mockserver.store.database import Database

# An owner without endpoints is read as NULL, so that most rows of a page need no further query.
_OWNER_OF_ENDPOINTS: Final = (
    "iif((project, owner_id) IN (SELECT project, owner_id FROM endpoints), owner_id, NULL)"
)
LISTED_COLUMNS: Final = (_OWNER_OF_ENDPOINTS, "listed", "document")


class PortalLinkRow(NamedTuple):
    """A stored portal link; `listed` is a JSON array of uids, or None.

    `document` is a JSON object without the members about endpoints.
    """

    seq: int
    owner_id: str | None
    listed: bytes | None
    document: bytes


_INSERT: Final = """INSERT INTO portal_links (uid, project, name, owner_id, listed, document)
    VALUES (?, ?, ?, ?, ?, ?)"""
_ONE: Final = (
    f"SELECT {', '.join(PortalLinkRow._fields)} FROM portal_links WHERE uid = ? AND project = ?"
)
_UPDATE: Final = (
    "UPDATE portal_links SET name = ?, owner_id = ?, listed = ?, document = ? WHERE seq = ?"
)


class PortalLinkTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        project: str,
        uid: str,
        *,
        name: str,
        owner_id: str | None,
        listed: bytes | None,
        document: bytes,
    ) -> PortalLinkRow:
        cursor = self._database.write(_INSERT, (uid, project, name, owner_id, listed, document))
        return PortalLinkRow(int(cursor.lastrowid or 0), owner_id, listed, document)

    def find(self, project: str, uid: str) -> PortalLinkRow | None:
        row = self._database.read(_ONE, (uid, project)).fetchone()
        return None if row is None else PortalLinkRow._make(row)

    def replace(self, row: PortalLinkRow, *, name: str) -> None:
        """Store a changed portal link (section 4.6)."""
        self._database.write(_UPDATE, (name, row.owner_id, row.listed, row.document, row.seq))
