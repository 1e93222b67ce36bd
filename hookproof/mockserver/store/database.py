"""The SQLite connection: its schema, and group commit.

All writes of one turn of the event loop form one transaction. A writer awaits `pending` before it
answers, so that nothing is acknowledged that a killed process could lose. Reads see writes
immediately; readers await `pending` too, so that nothing is shown that may still be lost. All
methods must be called in the event loop's thread.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

# What never changes is stored in its final form: `endpoints.document` is an endpoint as responses
# show it, credentials masked, without the members that have columns of their own. `credentials`
# holds the unmasked originals. What each delivery changes is in narrow tables, so that few bytes
# are written.
VERSION: Final = 4
DIALECT_KEY: Final = "dialect"
SEAL_KEY: Final = "cursor seal"

TABLES: Final = (
    "attempts",
    "starts",
    "deliveries",
    "events",
    "tallies",
    "endpoints",
    "portal_links",
    "sources",
)

SCHEMA: Final = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE endpoints (
        seq INTEGER PRIMARY KEY,
        uid TEXT NOT NULL UNIQUE,
        project TEXT NOT NULL,
        owner_id TEXT,
        active INTEGER NOT NULL,
        receives INTEGER NOT NULL,
        visible_from REAL NOT NULL,
        document BLOB NOT NULL,
        credentials BLOB,
        secrets BLOB NOT NULL,
        updated_at TEXT NOT NULL
    )""",
    """CREATE TABLE tallies (
        endpoint INTEGER PRIMARY KEY REFERENCES endpoints (seq),
        events INTEGER NOT NULL DEFAULT 0,
        delivered INTEGER NOT NULL DEFAULT 0,
        failed INTEGER NOT NULL DEFAULT 0,
        failed_in_a_row INTEGER NOT NULL DEFAULT 0
    )""",
    # Not a partial index: SQLite does not use one for `(project, owner_id) IN (SELECT ...)`.
    "CREATE INDEX endpoints_of_owner ON endpoints (project, owner_id)",
    "CREATE INDEX endpoints_that_receive ON endpoints (project) WHERE receives",
    """CREATE TABLE portal_links (
        seq INTEGER PRIMARY KEY,
        uid TEXT NOT NULL UNIQUE,
        project TEXT NOT NULL,
        name TEXT NOT NULL,
        owner_id TEXT,
        listed BLOB,
        document BLOB NOT NULL
    )""",
    # A covering index: a list reads the rows of a page from adjacent places.
    """CREATE INDEX portal_links_of_project
        ON portal_links (project, seq, owner_id, listed, document)""",
    "CREATE INDEX portal_links_by_name ON portal_links (project, name)",
    """CREATE TABLE sources (
        seq INTEGER PRIMARY KEY,
        uid TEXT NOT NULL UNIQUE,
        project TEXT NOT NULL,
        name TEXT NOT NULL,
        type TEXT,
        provider TEXT,
        document BLOB NOT NULL
    )""",
    "CREATE INDEX sources_of_project ON sources (project)",
    "CREATE INDEX sources_by_name ON sources (project, name)",
    """CREATE TABLE events (
        seq INTEGER PRIMARY KEY,
        uid TEXT NOT NULL UNIQUE,
        project TEXT NOT NULL,
        original_key TEXT,
        event_type TEXT NOT NULL,
        payload BLOB NOT NULL,
        headers BLOB NOT NULL,
        document BLOB NOT NULL
    )""",
    """CREATE UNIQUE INDEX events_by_key
        ON events (project, original_key) WHERE original_key IS NOT NULL""",
    # AUTOINCREMENT never reuses an id: an attempt may finish after a reset deleted its delivery.
    """CREATE TABLE deliveries (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        event INTEGER NOT NULL REFERENCES events (seq),
        endpoint INTEGER NOT NULL REFERENCES endpoints (seq),
        state TEXT NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        due_at REAL
    )""",
    "CREATE INDEX deliveries_pending ON deliveries (endpoint, due_at, id) WHERE due_at IS NOT NULL",
    """CREATE TABLE attempts (
        delivery INTEGER NOT NULL REFERENCES deliveries (id),
        earlier INTEGER NOT NULL,
        number INTEGER,
        started_at REAL NOT NULL,
        finished_at REAL NOT NULL,
        status INTEGER,
        failure TEXT,
        detail TEXT NOT NULL,
        PRIMARY KEY (delivery, earlier)
    ) WITHOUT ROWID""",
    """CREATE TABLE starts (
        endpoint INTEGER NOT NULL REFERENCES endpoints (seq),
        started_at REAL NOT NULL,
        delivery INTEGER NOT NULL REFERENCES deliveries (id),
        counts_until REAL NOT NULL,
        PRIMARY KEY (endpoint, started_at, delivery)
    ) WITHOUT ROWID""",
)


IN_MEMORY: Final = ":memory:"
_PAGE_BYTES: Final = 16384
# How long to wait for a database that another process has locked.
_BUSY_S: Final = 0.2
_SEAL_BYTES: Final = 32
# A temporary trigger belongs to this connection and is not stored in the file.
_CHANGE_TRIGGER: Final = """CREATE TEMP TRIGGER endpoint_change AFTER UPDATE ON main.endpoints
    BEGIN SELECT endpoint_changed(); END"""

Parameters = Sequence[Any] | dict[str, Any]


def _casefolded(text: str | None) -> str:
    return (text or "").casefold()


class UnusableDatabase(Exception):
    """A database file that this server cannot work with; the message is one line."""


class Database:
    """A connection whose writes are committed together, once in each turn of the event loop."""

    def __init__(self, path: str, *, dialect: str) -> None:
        """Open or create the database; raises UnusableDatabase.

        `endpoint_changes` grows whenever a stored endpoint changes, whichever statement changes it.
        """
        self.pending: asyncio.Future[None] | None = None
        self.endpoint_changes = 0
        try:
            self._connection = sqlite3.connect(
                path, isolation_level=None, cached_statements=256, timeout=_BUSY_S
            )
        except sqlite3.Error as problem:
            raise UnusableDatabase(f"{path} cannot be used as a database: {problem}") from None
        try:
            self._prepare(dialect)
        except (sqlite3.Error, UnusableDatabase) as problem:
            self._connection.close()
            raise UnusableDatabase(f"{path} cannot be used as a database: {problem}") from None
        self._connection.create_function("casefold", 1, _casefolded, deterministic=True)
        self._connection.create_function("endpoint_changed", 0, self._endpoint_changed)
        self._connection.execute(_CHANGE_TRIGGER)
        self.read = self._connection.execute

    def write(self, statement: str, parameters: Parameters = ()) -> sqlite3.Cursor:
        """Execute a statement in the transaction of this turn."""
        if self.pending is None:
            self._begin()
        return self._connection.execute(statement, parameters)

    def write_many(self, statement: str, rows: Sequence[Parameters]) -> None:
        """Execute a statement for each row in the transaction of this turn."""
        if self.pending is None:
            self._begin()
        self._connection.executemany(statement, rows)

    def commit(self) -> None:
        """Commit what is pending now rather than at the end of the turn.

        Raises sqlite3.Error if that fails: everything pending is then rolled back, and all that
        await it get the error.
        """
        pending, self.pending = self.pending, None
        if pending is None:
            return
        try:
            self._connection.execute("COMMIT")
        except sqlite3.Error as problem:
            self._undo(pending, problem)
            raise
        pending.set_result(None)

    @contextmanager
    def transaction(self) -> Iterator["Database"]:
        """Commit what is written inside, and what was pending before, or roll back all of it."""
        try:
            yield self
            self.commit()
        except Exception as problem:
            self.roll_back(problem)
            raise

    def roll_back(self, reason: Exception) -> None:
        """Undo everything that is pending; all that await it get the reason."""
        pending, self.pending = self.pending, None
        if pending is not None:
            self._undo(pending, reason)

    def cursor_seal(self, entropy: Callable[[int], bytes]) -> bytes:
        """Return the key that seals cursors; it stays the same as long as the database exists."""
        row = self.read("SELECT value FROM facts WHERE name = ?", (SEAL_KEY,)).fetchone()
        if row is None:
            row = (entropy(_SEAL_BYTES).hex(),)
            self._connection.execute("INSERT INTO facts VALUES (?, ?)", (SEAL_KEY, row[0]))
        return bytes.fromhex(row[0])

    def has_resources(self) -> bool:
        return any(
            self.read(f"SELECT EXISTS (SELECT 1 FROM {table})").fetchone()[0] for table in TABLES
        )

    def clear(self) -> None:
        """Delete every resource with all that belongs to it."""
        for table in TABLES:
            self.write(f"DELETE FROM {table}")
        self._endpoint_changed()

    def close(self) -> None:
        self._end_turn()
        self._connection.close()

    def _begin(self) -> None:
        loop = asyncio.get_running_loop()
        self._connection.execute("BEGIN IMMEDIATE")
        self.pending = loop.create_future()
        loop.call_soon(self._end_turn)

    def _end_turn(self) -> None:
        with suppress(sqlite3.Error):  # `pending` passes the error on to all that await it
            self.commit()

    def _undo(self, pending: "asyncio.Future[None]", reason: Exception) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._endpoint_changed()  # cached settings may be from the undone transaction
        pending.set_exception(reason)
        pending.exception()  # avoids asyncio's warning if nothing awaits it

    def _endpoint_changed(self) -> None:
        self.endpoint_changes += 1

    def _prepare(self, dialect: str) -> None:
        connection = self._connection
        # An endpoint takes about 2 kB, so that few fit on a page of the default size.
        connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("BEGIN IMMEDIATE")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        if version == 0 and empty:
            for statement in SCHEMA:
                connection.execute(statement)
            connection.execute("INSERT INTO facts VALUES (?, ?)", (DIALECT_KEY, dialect))
            connection.execute(f"PRAGMA user_version = {VERSION}")
        elif version != VERSION:
            raise UnusableDatabase(
                f"its schema has version {version}, but this server supports only {VERSION}; "
                "use a new file"
            )
        self._require_dialect(dialect)
        connection.execute("COMMIT")

    def _require_dialect(self, dialect: str) -> None:
        """Stored texts have the dialect's forms of identifiers, times and words."""
        (stored_dialect,) = self._connection.execute(
            "SELECT value FROM facts WHERE name = ?", (DIALECT_KEY,)
        ).fetchone()
        if stored_dialect != dialect:
            raise UnusableDatabase(
                f"it was made for the dialect {stored_dialect}, not {dialect}; use a new file"
            )
