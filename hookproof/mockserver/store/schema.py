"""The tables. A resource is stored as the JSON that the API shows, with columns for queries.

What never changes is stored in its final form: `endpoints.document` is an endpoint as responses
show it, credentials masked, without the members that have columns of their own. `credentials` holds
the unmasked originals. What each delivery changes is in narrow tables, so that few bytes are
written.
"""

from typing import Final

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
