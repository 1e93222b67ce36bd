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


class NewPortalLink(NamedTuple):
    """A portal link to be stored, with the members of PortalLinkRow and what it is found by."""

    uid: str
    project: str
    name: str
    owner_id: str | None
    listed: bytes | None
    document: bytes


class PortalLinkRow(NamedTuple):
    """A stored portal link; `listed` is a JSON array of uids, or None.

    `document` is a JSON object without the members about endpoints.
    """

    seq: int
    owner_id: str | None
    listed: bytes | None
    document: bytes


_INSERT: Final = (
    f"INSERT INTO portal_links ({', '.join(NewPortalLink._fields)}) VALUES (?, ?, ?, ?, ?, ?)"
)
_BY_UID: Final = (
    f"SELECT {', '.join(PortalLinkRow._fields)} FROM portal_links WHERE uid = ? AND project = ?"
)
_UPDATE: Final = (
    "UPDATE portal_links SET name = ?, owner_id = ?, listed = ?, document = ? WHERE seq = ?"
)


class PortalLinkTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, new: NewPortalLink) -> PortalLinkRow:
        seq = int(self._database.write(_INSERT, new).lastrowid or 0)
        return PortalLinkRow(seq, new.owner_id, new.listed, new.document)

    def find(self, project: str, uid: str) -> PortalLinkRow | None:
        row = self._database.read(_BY_UID, (uid, project)).fetchone()
        return None if row is None else PortalLinkRow._make(row)

    def replace(self, row: PortalLinkRow, *, name: str) -> None:
        """Store a changed portal link (section 4.6)."""
        self._database.write(_UPDATE, (name, row.owner_id, row.listed, row.document, row.seq))
