"""A clock that is set while the server runs, or between two runs, delays and repeats nothing."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from hookproof.mockserver.randomness import steady_clock
from hookproof.mockserver.store.database import Database
from hookproof.mockserver.store.deliveries import put_times_right
from hookproof.spec.dialect.model import Dialect
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


def run_with_clock(
    authority: LoopbackAuthority,
    scenario: Callable[[Server, EndpointServer, AdjustableClock], Awaitable[None]],
    responder: Responder = always_ok,
    **options: Any,
) -> None:
    retry = {"attempts": 3, "initial_s": RETRY_S, "factor": 1, "maximum_s": RETRY_S, "jitter": 0}
    answers = dialect(retry=retry)

    def change(_: Dialect) -> Dialect:
        return answers

    async def run() -> None:
        clock = AdjustableClock()
        async with (
            serving(responder, authority.context()) as endpoint,
            run_server(change=change, ca_file=authority.file, clock=clock, **options) as server,
        ):
            await server.create_endpoint(url=f"{endpoint.url}/e")
            await scenario(server, endpoint, clock)

    asyncio.run(run())


@pytest.mark.parametrize("seconds", [*SET_BACK, -7200.0])
def test_deliveries_go_on_when_the_clock_is_set(
    authority: LoopbackAuthority, seconds: float
) -> None:
    async def scenario(server: Server, endpoint: EndpointServer, clock: AdjustableClock) -> None:
        await broadcast(server)
        await endpoint.wait_for_requests(1, 10)
        clock.ahead_s -= seconds
        await broadcast(server)
        await endpoint.wait_for_requests(2, 10)

    run_with_clock(authority, scenario)


@pytest.mark.parametrize("seconds", [*SET_BACK, -7200.0])
def test_a_retry_waits_as_long_as_before_when_the_clock_is_set(
    authority: LoopbackAuthority, seconds: float
) -> None:
    async def scenario(server: Server, endpoint: EndpointServer, clock: AdjustableClock) -> None:
        await broadcast(server)
        await endpoint.wait_for_requests(1, 10)
        clock.ahead_s -= seconds
        first, second = await endpoint.wait_for_requests(2, 10)
        assert second.at - first.at >= RETRY_S

    run_with_clock(authority, scenario, answering(reply(500), reply(200)))


@pytest.mark.parametrize("seconds", SET_BACK)
def test_a_server_that_starts_with_an_earlier_clock_goes_on_at_once(
    authority: LoopbackAuthority, tmp_path: Path, seconds: float
) -> None:
    path = str(tmp_path / "hookproof.db")

    async def leave_pending(
        server: Server, endpoint: EndpointServer, clock: AdjustableClock
    ) -> None:
        await broadcast(server)
        await endpoint.wait_for_requests(1, 10)

    async def go_on(server: Server, endpoint: EndpointServer, clock: AdjustableClock) -> None:
        await broadcast(server)
        # The endpoint of the first run is gone; that of this run is new and gets this event.
        await endpoint.wait_for_requests(1, 10)
        [arrived] = endpoint.arrived
        assert arrived.target == "/e"

    run_with_clock(authority, leave_pending, answering(reply(500)), path=path)
    real = time.time
    try:
        time.time = lambda: real() - seconds
        run_with_clock(authority, go_on, path=path)
    finally:
        time.time = real


def test_stored_times_ahead_of_the_clock_are_put_right(tmp_path: Path) -> None:
    now = 1_000.0

    async def run() -> None:
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
                database.write(
                    "INSERT INTO starts VALUES (1, ?, 2, ?)", (started_at, started_at + 60)
                )
        put_times_right(database, now)
        due = dict(database.read("SELECT id, due_at FROM deliveries").fetchall())
        assert due == {1: now, 2: now + 10, 3: 1_010.0, 4: 990.0}
        starts = database.read("SELECT started_at, counts_until FROM starts").fetchall()
        assert starts == [(990.0, 1_050.0), (now, now + 60)]
        visible = database.read("SELECT visible_from FROM endpoints ORDER BY seq").fetchall()
        assert visible == [(now,), (900.0,)]
        database.close()

    asyncio.run(run())


def test_a_steady_clock_begins_with_the_time_and_goes_on_evenly() -> None:
    wall, monotonic = [5_000.0], [10.0]
    steady = steady_clock(lambda: wall[0], lambda: monotonic[0])
    assert steady() == 5_000.0
    wall[0], monotonic[0] = 1.0, 12.5
    assert steady() == 5_002.5
