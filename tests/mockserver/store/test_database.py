"""The database: what it refuses, what survives a killed process, and what a failed write undoes."""

import asyncio
import os
import sqlite3
from pathlib import Path

import msgspec
import pytest

from hookproof.mockserver.store.database import IN_MEMORY, Database, UnusableDatabase
from hookproof.mockserver.store.deliveries import StoredCredentials
from tests.mockserver.running_server import run_server
from tests.mockserver.store.kill_during_deliveries import kill_during_bursts
from tests.mockserver.store.kill_during_writes import kill_during_writes


def open_file(path: Path, dialect: str = "reference") -> Database:
    return Database(str(path), dialect=dialect)


def test_a_schema_of_another_version_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "hookproof.db"
    open_file(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(UnusableDatabase, match="version 99") as caught:
        open_file(path)
    assert "\n" not in str(caught.value)


def test_a_database_of_another_dialect_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hookproof.db"
    open_file(path).close()
    with pytest.raises(UnusableDatabase, match="made for the dialect reference"):
        open_file(path, "contrary")


def test_a_file_that_is_not_a_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hookproof.db"
    path.write_text(
        "not a database, but long enough to be read as the header of one: SQLite looks at 100 bytes"
    )
    with pytest.raises(UnusableDatabase, match="cannot be used"):
        open_file(path)
    with pytest.raises(UnusableDatabase, match="cannot be used"):
        open_file(tmp_path / "no such folder" / "hookproof.db")


def test_a_database_in_use_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hookproof.db"
    first = open_file(path)
    try:
        with pytest.raises(UnusableDatabase, match="locked"):
            open_file(path)
    finally:
        first.close()


def test_unknown_members_of_a_certificate_do_not_prevent_deliveries() -> None:
    stored = b'{"mtls_client_cert":{"client_cert":"c","client_key":"k","note":{"valid":[1,null]}}}'
    certificate = msgspec.json.decode(stored, type=StoredCredentials).client_certificate
    assert certificate is not None
    assert (certificate.certificate, certificate.key) == ("c", "k")


async def test_writes_of_one_turn_are_committed_together_and_waited_for() -> None:
    database = Database(IN_MEMORY, dialect="reference")
    database.write("INSERT INTO facts VALUES ('a', '1')")
    first = database.pending
    database.write("INSERT INTO facts VALUES ('b', '2')")
    assert database.pending is first
    assert first is not None
    assert not first.done()
    await first
    assert database.pending is None
    database.close()


async def test_a_failed_write_undoes_the_turn_and_raises_for_all_that_await_it() -> None:
    database = Database(IN_MEMORY, dialect="reference")
    database.write("INSERT INTO facts VALUES ('a', '1')")
    waiting = database.pending
    assert waiting is not None
    database.roll_back(RuntimeError("no"))
    with pytest.raises(RuntimeError, match="no"):
        await waiting
    assert database.read("SELECT count(*) FROM facts WHERE name = 'a'").fetchone() == (0,)
    database.write("INSERT INTO facts VALUES ('c', '3')")
    database.commit()
    assert database.read("SELECT count(*) FROM facts WHERE name = 'c'").fetchone() == (1,)
    database.close()


async def test_what_was_stored_is_there_after_a_restart(tmp_path: Path) -> None:
    path = str(tmp_path / "hookproof.db")
    async with run_server(path=path) as server:
        endpoint = await server.create_endpoint(owner_id="o", is_disabled=True)
        link = await server.create_portal_link(name="link", owner_id="o")
        body = {"event_type": "t", "data": {}, "idempotency_key": "k"}
        event = (await server.call("createBroadcastEvent", body=body)).data
        before = await server.call("listPortalLinks")
    async with run_server(path=path) as server:
        fetched = await server.call("getEndpoint", target=endpoint["uid"])
        assert fetched.data["uid"] == endpoint["uid"]
        again = await server.call("createBroadcastEvent", body=body)
        assert again.data["is_duplicate_event"] is True
        assert again.data["uid"] != event["uid"]
        after = await server.call("listPortalLinks")
        assert after.text == before.text
        assert after.data["content"][0]["uid"] == link["uid"]


def test_nothing_acknowledged_is_lost_when_the_server_is_killed(tmp_path: Path) -> None:
    report = asyncio.run(kill_during_writes(tmp_path / "hookproof.db", cycles=3, seed=os.getpid()))
    assert report.lost == ()
    assert report.acknowledged > 0


def test_no_accepted_delivery_is_lost_when_the_server_is_killed_in_a_burst(tmp_path: Path) -> None:
    report = asyncio.run(
        kill_during_bursts(tmp_path, cycles=2, seed=os.getpid(), events=10, endpoints=20)
    )
    assert (report.lost, report.unexplained) == (0, 0), report
    assert report.accepted > 0
