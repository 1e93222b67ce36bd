"""The server's store in a file, with endpoints and events as the API would have stored them."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from hookproof.mockserver.store.database import Database
from hookproof.mockserver.store.endpoints import (
    EndpointTable,
    NewEndpoint,
    StoredSecret,
    encode_secrets,
)
from hookproof.mockserver.store.events import EventTable, NewEvent
from tests.mockserver.polling import poll_until

PENDING = "SELECT EXISTS (SELECT 1 FROM deliveries WHERE due_at IS NOT NULL)"


@asynccontextmanager
async def open_database(path: Path) -> AsyncIterator[Database]:
    """Open a database in a folder, for a dialect named "changed"."""
    database = Database(str(path / "hookproof.db"), dialect="changed")
    try:
        yield database
    finally:
        database.close()


def add_endpoint(database: Database, url: str, uid: str = "e", **limits: int) -> int:
    """Store an endpoint of the project p; return its seq."""
    document = {
        "url": url,
        "content_type": "application/json",
        "advanced_signatures": False,
        "http_timeout": 60,
        "rate_limit_duration": 1,
        **limits,
    }
    secret = StoredSecret(uid="s", value="hush", created_at="", updated_at="")
    return EndpointTable(database).add(
        NewEndpoint(
            uid=uid,
            project="p",
            owner_id=None,
            active=True,
            receives=True,
            visible_from=0.0,
            document=msgspec.json.encode(document),
            credentials=None,
            secrets=encode_secrets([secret]),
            updated_at="",
        )
    )


def add_events(database: Database, count: int) -> None:
    """Store events that reach every endpoint of the project p."""
    endpoints = EndpointTable(database).find_reached("p", now=time.time(), without_owner=True)
    for number in range(count):
        event = NewEvent(
            uid=f"event-{number}",
            project="p",
            original_key=None,
            event_type="t",
            payload=b"%d" % number,
            headers=b"{}",
            document=b"{}",
        )
        EventTable(database).add(event, reached=endpoints, now=time.time())
    database.commit()


async def wait_until_drained(database: Database) -> None:
    """Wait until no delivery is pending."""

    async def drained() -> bool:
        return not database.read(PENDING).fetchone()[0]

    await poll_until(drained)
