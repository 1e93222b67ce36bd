"""Deliveries that no longer fit in memory: a temporary SQLite database, gone with the process
however that ends.

Nothing is ever committed or synced, since nobody reads the file but the connection that writes it.
SQLite itself keeps a few megabytes of pages in memory and removes the file's name as soon as it has
opened it.
"""

import sqlite3
from collections.abc import Sequence
from typing import Final

import msgspec

from hookproof.receiver.inbox.arrival import Arrival

CACHE_KIB: Final = 8192
# About what a row and its index entry take beside the delivery.
ROW_BYTES: Final = 48
PAGE: Final = 256

SCHEMA: Final = f"""
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -{CACHE_KIB};
CREATE TABLE spilled (place INTEGER PRIMARY KEY, token TEXT, sequence INTEGER, arrival BLOB);
CREATE INDEX by_token ON spilled (token, sequence);
"""


class Spill:
    """The deliveries on disk, in the order in which they were put there.

    Each has a `place`, which no other ever gets, not even after `clear`.
    """

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.executescript(SCHEMA)
        self._database.execute("BEGIN")
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(Arrival)
        self._next_place = 1
        self._oldest_place = 1
        self.bytes = 0

    def put(self, arrivals: Sequence[Arrival]) -> None:
        """Move these to disk; each is given its place."""
        for arrival in arrivals:
            arrival.place = self._next_place
            self._next_place += 1
        rows = [(one.place, one.token, one.sequence, self._encoder.encode(one)) for one in arrivals]
        self._database.executemany("INSERT INTO spilled VALUES (?, ?, ?, ?)", rows)
        self.bytes += sum(len(row[3]) + ROW_BYTES for row in rows)

    def amend(self, arrival: Arrival) -> None:
        """Write an arrival again that changed since it was put here, unless it is gone by now."""
        (before,) = self._database.execute(
            "SELECT total(length(arrival)) FROM spilled WHERE place = ?", (arrival.place,)
        ).fetchone()
        written = self._encoder.encode(arrival)
        if before:
            self._database.execute(
                "UPDATE spilled SET arrival = ? WHERE place = ?", (written, arrival.place)
            )
            self.bytes += len(written) - int(before)

    def drop_oldest(self, most: int) -> list[tuple[str, int]]:
        """Forget the oldest, at most so many; their tokens and sequences, in order."""
        last = min(self._oldest_place + most, self._next_place)
        gone = (self._oldest_place, last)
        chosen = "FROM spilled WHERE place >= ? AND place < ?"
        found = self._database.execute(
            f"SELECT token, sequence, length(arrival) {chosen} ORDER BY place", gone
        )
        rows = found.fetchall()
        self._database.execute(f"DELETE {chosen}", gone)
        self._oldest_place = last
        self.bytes -= sum(size + ROW_BYTES for _, _, size in rows)
        return [(token, sequence) for token, sequence, _ in rows]

    def after(self, token: str, sequence: int, most: int = PAGE) -> list[Arrival]:
        """A token's arrivals above a sequence, in order, at most so many of them."""
        rows = self._database.execute(
            "SELECT arrival FROM spilled WHERE token = ? AND sequence > ? ORDER BY sequence LIMIT ?",
            (token, sequence, most),
        )
        return [self._decoder.decode(row[0]) for row in rows]

    def clear(self) -> None:
        """Forget everything."""
        self._database.execute("DELETE FROM spilled")
        self._oldest_place = self._next_place
        self.bytes = 0

    def close(self) -> None:
        """Give the disk space back."""
        self._database.close()
