"""Endpoints and their secrets (sections 2.3 and 2.4)."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from hookproof.mockserver.store.database import Database


class StoredSecret(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A secret as it is stored: times in the dialect's form.

    `ends` is the unix second at which it stops signing.
    """

    uid: str
    value: str
    created_at: str
    updated_at: str
    expires_at: str | None = None
    ends: float | None = None


class NewEndpoint(NamedTuple):
    """An endpoint to be stored.

    `document` (masked) and `credentials` (unmasked) are JSON objects.
    """

    uid: str
    project: str
    owner_id: str | None
    active: bool
    receives: bool
    visible_from: float
    document: bytes
    credentials: bytes | None
    secrets: bytes
    updated_at: str


class EndpointRow(NamedTuple):
    """What responses need of a stored endpoint."""

    seq: int
    uid: str
    owner_id: str | None
    active: int
    document: bytes
    secrets: bytes
    updated_at: str
    events: int
    delivered: int
    failed: int


_COLUMNS: Final = (
    "seq, uid, owner_id, active, document, secrets, updated_at, events, delivered, failed"
)
_INSERT: Final = f"""INSERT INTO endpoints ({", ".join(NewEndpoint._fields)})
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_TALLIED: Final = "JOIN tallies ON tallies.endpoint = endpoints.seq"
_TALLY: Final = "INSERT INTO tallies (endpoint) VALUES (?)"
_BY_UID: Final = f"SELECT {_COLUMNS} FROM endpoints {_TALLIED} WHERE uid = ? AND project = ?"
_OWNED: Final = f"""SELECT {_COLUMNS} FROM endpoints INDEXED BY endpoints_of_owner {_TALLIED}
    WHERE project = ? AND owner_id IN (SELECT value FROM json_each(?)) ORDER BY seq"""
_LISTED: Final = f"""SELECT {_COLUMNS} FROM endpoints {_TALLIED}
    WHERE uid IN (SELECT value FROM json_each(?)) AND project = ? ORDER BY seq"""
_REACHED: Final = f"""SELECT {_COLUMNS} FROM endpoints {_TALLIED}
    WHERE project = ? AND receives AND visible_from <= ? AND (? OR owner_id IS NOT NULL)
    ORDER BY seq"""
_ROLL: Final = "UPDATE endpoints SET secrets = ?, updated_at = ? WHERE seq = ?"

_decode_secrets: Final = msgspec.json.Decoder(list[StoredSecret]).decode
_encode: Final = msgspec.json.encode


def encode_secrets(secrets: Sequence[StoredSecret]) -> bytes:
    """Return the stored form of an endpoint's secrets, oldest first."""
    return _encode(secrets)


def decode_secrets(stored: bytes) -> list[StoredSecret]:
    """Return the secrets of an endpoint, oldest first."""
    return _decode_secrets(stored)


class EndpointTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, endpoint: NewEndpoint) -> int:
        """Store an endpoint and return its seq, its place in the order of creation."""
        seq = int(self._database.write(_INSERT, endpoint).lastrowid or 0)
        self._database.write(_TALLY, (seq,))
        return seq

    def find(self, project: str, uid: str) -> EndpointRow | None:
        row = self._database.read(_BY_UID, (uid, project)).fetchone()
        return None if row is None else EndpointRow._make(row)

    def find_owned(self, project: str, owners: Iterable[str]) -> list[EndpointRow]:
        """Return the endpoints of these owners, in order of creation (section 2.6)."""
        return self._all(_OWNED, (project, _encode(list(owners)).decode()))

    def find_listed(self, project: str, uids: Iterable[str]) -> list[EndpointRow]:
        """Return the endpoints of the project among these uids, in order of creation."""
        return self._all(_LISTED, (_encode(list(uids)).decode(), project))

    def find_reached(self, project: str, *, now: float, without_owner: bool) -> list[EndpointRow]:
        """Return the endpoints that a broadcast reaches now (section 4.8)."""
        return self._all(_REACHED, (project, now, without_owner))

    def roll(self, seq: int, secrets: Sequence[StoredSecret], *, updated_at: str) -> None:
        """Replace the secrets of an endpoint (section 4.3)."""
        self._database.write(_ROLL, (encode_secrets(secrets), updated_at, seq))

    def _all(self, statement: str, parameters: tuple[object, ...]) -> list[EndpointRow]:
        return [EndpointRow._make(row) for row in self._database.read(statement, parameters)]
