"""Deliveries that no longer fit in memory, in a temporary SQLite database.

The database disappears with the process, however the process ends: SQLite removes the file's name
as soon as it has opened it. Nothing is committed or synced, since only the connection that writes
the file reads it. SQLite keeps a few megabytes of pages in memory.
"""

import sqlite3
from collections.abc import Sequence
from typing import Final

import msgspec

from hookproof.receiver.inbox.arrival import Arrival

CACHE_KIB: Final = 8192
# The approximate size of a row and its index entry, without the delivery.
ROW_BYTES: Final = 48
PAGE_SIZE: Final = 256
PAGE_BYTES: Final = 4 * 2**20

SCHEMA: Final = f"""
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -{CACHE_KIB};
CREATE TABLE arrivals (
    place INTEGER PRIMARY KEY, token TEXT, sequence INTEGER,
    completed REAL, closed REAL, status INTEGER, arrival BLOB
);
CREATE INDEX by_token ON arrivals (token, sequence);
"""


class DiskOverflow:
    """The deliveries on disk, in the order in which they were moved there.

    Each has a `place` that is never used again, not even after `clear`.
    """

    def __init__(self) -> None:
        self._database = _new_database()
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(Arrival)
        self._next_place = 1
        self._oldest_place = 1
        self.bytes = 0

    def put(self, arrivals: Sequence[Arrival]) -> None:
        """Move arrivals to disk: set their places, and keep their bodies there alone."""
        for arrival in arrivals:
            arrival.place = self._next_place
            self._next_place += 1
            encoded = self._encoder.encode(arrival)
            row = (arrival.place, arrival.token, arrival.sequence, *_ending(arrival), encoded)
            self._database.execute("INSERT INTO arrivals VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            self.bytes += len(encoded) + ROW_BYTES
            arrival.body = b""

    def update(self, arrival: Arrival) -> None:
        """Note how an arrival ended, unless it has been dropped."""
        self._database.execute(
            "UPDATE arrivals SET completed = ?, closed = ?, status = ? WHERE place = ?",
            (*_ending(arrival), arrival.place),
        )

    def drop_oldest(self, count: int) -> list[tuple[str, int]]:
        """Drop at most `count` of the oldest; return their tokens and sequences, in order."""
        last = min(self._oldest_place + count, self._next_place)
        bounds = (self._oldest_place, last)
        selection = "FROM arrivals WHERE place >= ? AND place < ?"
        cursor = self._database.execute(
            f"SELECT token, sequence, length(arrival) {selection} ORDER BY place", bounds
        )
        rows = cursor.fetchall()
        self._database.execute(f"DELETE {selection}", bounds)
        self._oldest_place = last
        self.bytes -= sum(size + ROW_BYTES for _, _, size in rows)
        return [(token, sequence) for token, sequence, _ in rows]

    def read_after(self, token: str, sequence: int, limit: int = PAGE_SIZE) -> list[Arrival]:
        """Return a token's arrivals above a sequence, in order.

        At most `limit` of them, and no further one once they hold PAGE_BYTES.
        """
        arrivals: list[Arrival] = []
        held_bytes = 0
        rows = self._database.execute(
            "SELECT arrival, completed, closed, status FROM arrivals "
            "WHERE token = ? AND sequence > ? "
            "ORDER BY sequence LIMIT ?",
            (token, sequence, limit),
        )
        for encoded, *ending in rows:
            arrival = self._decoder.decode(encoded)
            arrival.completed_monotonic, arrival.closed_monotonic, arrival.status = ending
            arrivals.append(arrival)
            held_bytes += len(encoded)
            if held_bytes >= PAGE_BYTES:
                break
        return arrivals

    def clear(self) -> None:
        """Forget all in a moment: to delete gigabytes row by row takes seconds."""
        self._database.close()
        self._database = _new_database()
        self._oldest_place = self._next_place
        self.bytes = 0

    def close(self) -> None:
        """Close the database, which frees the disk space."""
        self._database.close()


def _new_database() -> sqlite3.Connection:
    database = sqlite3.connect("", isolation_level=None)
    database.executescript(SCHEMA)
    database.execute("BEGIN")
    return database


def _ending(arrival: Arrival) -> tuple[float | None, float | None, int | None]:
    """What is known of an arrival only after its request was kept."""
    return arrival.completed_monotonic, arrival.closed_monotonic, arrival.status
