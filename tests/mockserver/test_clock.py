"""A clock that is set while the server runs, or between two runs, delays and repeats nothing."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hookproof.mockserver.randomness import steady_clock
from hookproof.mockserver.store.database import Database
from hookproof.mockserver.store.deliveries import put_times_right
from tests.mockserver.delivery.endpoints import (
    EndpointServer,
    LoopbackAuthority,
    Responder,
    always_ok,
    answering,
    reply,
    serving,
)
from tests.mockserver.delivery.engines import dialect
from tests.mockserver.running_server import Server, run_server

SET_BACK = [20.0, 7200.0]
RETRY_S = 0.3


class AdjustableClock:
    """The time, and by how much this clock was set forth."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead_s


async def broadcast(server: Server) -> None:
    response = await server.call(
        "createBroadcastEvent", body={"event_type": "a.b", "data": {}, "idempotency_key": ""}
    )
    assert response.status < 300, response


@asynccontextmanager
async def running_with_clock(
    authority: LoopbackAuthority, responder: Responder = always_ok, **options: Any
) -> AsyncIterator[tuple[Server, EndpointServer, AdjustableClock]]:
    retry = {"attempts": 3, "initial_s": RETRY_S, "factor": 1, "maximum_s": RETRY_S, "jitter": 0}
    answers, clock = dialect(retry=retry), AdjustableClock()
    async with (
        serving(responder, authority.context()) as endpoint,
        run_server(
            change=lambda _: answers, ca_file=authority.file, clock=clock, **options
        ) as server,
    ):
        await server.create_endpoint(url=f"{endpoint.url}/e")
        yield server, endpoint, clock


@pytest.mark.parametrize("seconds", [*SET_BACK, -7200.0])
async def test_deliveries_go_on_when_the_clock_is_set(
    authority: LoopbackAuthority, seconds: float
) -> None:
    async with running_with_clock(authority) as (server, endpoint, clock):
        await broadcast(server)
        await endpoint.wait_for_requests(1, 10)
        clock.ahead_s -= seconds
        await broadcast(server)
        await endpoint.wait_for_requests(2, 10)


@pytest.mark.parametrize("seconds", [*SET_BACK, -7200.0])
async def test_a_retry_waits_as_long_as_before_when_the_clock_is_set(
    authority: LoopbackAuthority, seconds: float
) -> None:
    async with running_with_clock(authority, answering(reply(500), reply(200))) as (
        server,
        endpoint,
        clock,
    ):
        await broadcast(server)
        await endpoint.wait_for_requests(1, 10)
        clock.ahead_s -= seconds
        first, second = await endpoint.wait_for_requests(2, 10)
        assert second.at - first.at >= RETRY_S


@pytest.mark.parametrize("seconds", SET_BACK)
async def test_a_server_that_starts_with_an_earlier_clock_goes_on_at_once(
    authority: LoopbackAuthority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    path = str(tmp_path / "hookproof.db")
    async with running_with_clock(authority, answering(reply(500)), path=path) as running:
        server, endpoint, _ = running
        await broadcast(server)
        await endpoint.wait_for_requests(1, 10)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - seconds)
    async with running_with_clock(authority, path=path) as (server, endpoint, _):
        await broadcast(server)
        # The endpoint of the first run is gone; that of this run is new and gets this event.
        await endpoint.wait_for_requests(1, 10)
        [arrived] = endpoint.arrived
        assert arrived.target == "/e"


async def test_stored_times_ahead_of_the_clock_are_put_right(tmp_path: Path) -> None:
    now = 1_000.0

    database = Database(str(tmp_path / "times.db"), dialect="d")
    with database.transaction():
        database.write("PRAGMA foreign_keys = OFF")
        for seq, visible in ((1, 5_000.0), (2, 900.0)):
            database.write(
                "INSERT INTO endpoints VALUES (?, ?, 'p', NULL, 1, 1, ?, '', NULL, '', '')",
                (seq, f"e{seq}", visible),
            )
        for number, due_at, attempts in (
            (1, 5_000.0, 0),  # not attempted yet: due at once
            (2, 5_010.0, 1),  # to wait ten seconds after an attempt
            (3, 1_010.0, 1),  # waits rightly
            (4, 990.0, 1),  # overdue
        ):
            database.write(
                "INSERT INTO deliveries VALUES (?, 1, 1, 'pending', ?, ?)",
                (number, attempts, due_at),
            )
        for number, finished_at in ((2, 5_000.0), (3, 995.0), (4, 980.0)):
            database.write(
                "INSERT INTO attempts VALUES (?, 0, 1, ?, ?, 500, NULL, '')",
                (number, finished_at - 1, finished_at),
            )
        for started_at in (990.0, 5_000.0, 5_001.0):
            database.write("INSERT INTO starts VALUES (1, ?, 2, ?)", (started_at, started_at + 60))
    put_times_right(database, now)
    due = dict(database.read("SELECT id, due_at FROM deliveries").fetchall())
    assert due == {1: now, 2: now + 10, 3: 1_010.0, 4: 990.0}
    starts = database.read("SELECT started_at, counts_until FROM starts").fetchall()
    assert starts == [(990.0, 1_050.0), (now, now + 60)]
    visible = database.read("SELECT visible_from FROM endpoints ORDER BY seq").fetchall()
    assert visible == [(now,), (900.0,)]
    database.close()


def test_a_steady_clock_begins_with_the_time_and_goes_on_evenly() -> None:
    wall, monotonic = [5_000.0], [10.0]
    steady = steady_clock(lambda: wall[0], lambda: monotonic[0])
    assert steady() == 5_000.0
    wall[0], monotonic[0] = 1.0, 12.5
    assert steady() == 5_002.5
