"""The engine on the real store when commits fail: nothing is lost."""

import sqlite3
from pathlib import Path

import pytest

from hookproof.mockserver.store.database import Database
from tests.mockserver.delivery.endpoints import LoopbackAuthority, always_ok, serving
from tests.mockserver.delivery.engines import PROMPT, dialect, engine_on
from tests.mockserver.store.file_store import (
    add_endpoint,
    add_events,
    open_database,
    wait_until_drained,
)


class FailingCommits:
    """Makes the next commits of a database fail."""

    def __init__(self, database: Database, failures: int) -> None:
        self.remaining = failures
        database._connection.set_authorizer(self._authorise)

    def _authorise(self, action: int, operation: str | None, *_: object) -> int:
        if action == sqlite3.SQLITE_TRANSACTION and operation == "COMMIT" and self.remaining:
            self.remaining -= 1
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK


@pytest.mark.parametrize(
    "limits", [{}, {"rate_limit": 1000, "rate_limit_duration": 1}], ids=["free", "limited"]
)
@pytest.mark.parametrize("failures", [1, 2, 9])
async def test_a_commit_that_fails_loses_no_delivery_and_needs_no_wake(
    authority: LoopbackAuthority,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    failures: int,
    limits: dict[str, int],
) -> None:
    monkeypatch.setattr("hookproof.mockserver.delivery.scheduling.dispatcher.STORE_PAUSE_S", 0.05)

    answers = dialect(retry=PROMPT)
    async with (
        serving(always_ok, authority.context()) as endpoint,
        open_database(tmp_path) as database,
    ):
        add_endpoint(database, endpoint.url, **limits)
        add_events(database, 5)
        commits = FailingCommits(database, failures)
        engine = engine_on(database, answers, authority.file)
        await engine.start()
        await wait_until_drained(database)
        await engine.stop(5.0)
        assert commits.remaining == 0
        assert {request.body for request in endpoint.arrived} == {
            b"%d" % number for number in range(5)
        }
        states = database.read("SELECT state, attempts FROM deliveries").fetchall()
        assert states == [("delivered", 1)] * 5
        [(delivered,)] = database.read("SELECT delivered FROM tallies").fetchall()
        assert delivered == 5
