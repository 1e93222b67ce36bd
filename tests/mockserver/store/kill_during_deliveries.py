"""Kills the server during bursts of deliveries and looks for what it had accepted.

Run it as `python -m tests.mockserver.store.kill_during_deliveries [CYCLES]`. In each cycle a server
with `--db FILE` accepts events that reach many endpoints over TLS, 5,000 deliveries in all, and is
killed (SIGKILL) at a random arrival. At the end nothing may be pending and whatever was accepted
has to have arrived. A duplicate is explained if one more attempt arrived than was recorded: that
one was in progress when the server was killed. Progress goes to standard error. The exit code is 1
if a delivery is lost or a duplicate is not explained.
"""

import asyncio
import json
import random
import sqlite3
import ssl
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import aiohttp
import trustme

from tests.mockserver.polling import poll_until
from tests.mockserver.server_process import server_process

HEADERS = {"Authorization": "Bearer demo-key"}
PROJECT = "/api/v1/projects/demo"
ENDPOINTS = 100
EVENTS = 50
DRAINED_S = 300.0
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
DEFAULT_CYCLES = 50
REPORT_EVERY = 5
FAILED = 1


class ArrivalCounts:
    """How often each event arrived at each endpoint's path."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self._remaining = 0
        self._reached = asyncio.Event()

    def add(self, path: str, event: str) -> None:
        self.counts[path, event] += 1
        self._remaining -= 1
        if self._remaining <= 0:
            self._reached.set()

    async def wait_for_more(self, count: int) -> None:
        """Wait for so many further arrivals."""
        self._remaining = count
        self._reached.clear()
        await self._reached.wait()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryKillReport:
    """The sums over all cycles; `unexplained` are duplicates that no kill explains."""

    cycles: int
    accepted: int
    lost: int
    duplicates: int
    unexplained: int

    def __str__(self) -> str:
        return (
            f"{self.cycles} kills during bursts: {self.accepted} deliveries accepted, "
            f"{self.lost} lost, {self.duplicates} arrived twice, "
            f"of which {self.duplicates - self.unexplained} were under way when killed"
        )


class CountingReceiver(asyncio.Protocol):
    """Answers 200 to every request and counts it by path and event."""

    def __init__(self, arrivals: ArrivalCounts) -> None:
        self._arrivals = arrivals
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, _, body = self._data.partition(b"\r\n\r\n")
        if body.endswith(b"}"):
            self._arrivals.add(head.split(b" ", 2)[1].decode(), json.loads(body)["event"])
            self._data = b""
            self._transport.write(OK)


async def kill_during_bursts(
    folder: Path,
    *,
    cycles: int,
    seed: int,
    events: int = EVENTS,
    endpoints: int = ENDPOINTS,
    report_progress: Callable[[str], object] = lambda _: None,
) -> DeliveryKillReport:
    """Run the cycles on a database in a folder and report what was lost or duplicated."""
    rng = random.Random(seed)
    arrivals = ArrivalCounts()
    accepted: set[str] = set()
    path = folder / "hookproof.db"
    async with receiving(folder, arrivals) as (url, ca):
        options = ("--db", str(path), "--ca", str(ca))
        async with server_process(*options) as (_, addresses):
            await create_endpoints(addresses["api"], url, endpoints)
        for cycle in range(cycles):
            async with server_process(*options) as (process, addresses):
                names = [f"{cycle}-{number}" for number in range(events)]
                burst = asyncio.create_task(broadcast(addresses["api"], names, accepted))
                async with asyncio.timeout(DRAINED_S):
                    await arrivals.wait_for_more(rng.randrange(1, events * endpoints))
                process.kill()
                await process.wait()
                await burst
            if (cycle + 1) % REPORT_EVERY == 0:
                report_progress(
                    f"{cycle + 1} of {cycles} kills, "
                    f"{len(accepted) * endpoints} deliveries accepted so far\n"
                )
        async with server_process(*options) as (_, addresses):
            await wait_until_drained(addresses["control"])
    return compare_with_records(path, cycles, endpoints, accepted, arrivals.counts)


@asynccontextmanager
async def receiving(folder: Path, arrivals: ArrivalCounts) -> AsyncIterator[tuple[str, Path]]:
    """Run a receiver over TLS; yield its URL and the file of its CA."""
    authority, ca = trustme.CA(), folder / "ca.pem"
    authority.cert_pem.write_to_path(str(ca))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: CountingReceiver(arrivals), "127.0.0.1", 0, ssl=context
    )
    try:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}", ca
    finally:
        server.close()


async def create_endpoints(api: str, url: str, endpoints: int) -> None:
    async with aiohttp.ClientSession(api, headers=HEADERS) as session:
        for number in range(endpoints):
            body = {"name": "n", "url": f"{url}/{number}", "advanced_signatures": True}
            async with session.post(f"{PROJECT}/endpoints", json=body) as response:
                response.raise_for_status()


async def broadcast(api: str, names: list[str], accepted: set[str]) -> None:
    """Broadcast events until the server is killed; add those answered to `accepted`."""
    async with aiohttp.ClientSession(api, headers=HEADERS) as session:
        for name in names:
            body = {"event_type": "t", "data": {"event": name}}
            try:
                async with session.post(f"{PROJECT}/events/broadcast", json=body) as response:
                    response.raise_for_status()
            except (aiohttp.ClientError, ConnectionError):
                return
            accepted.add(name)


async def wait_until_drained(control: str) -> None:
    """Wait until no delivery is pending."""
    async with aiohttp.ClientSession(control) as session:

        async def drained() -> bool:
            async with session.get("/metrics") as response:
                return 'hookproof_deliveries{state="pending"}' not in await response.text()

        await poll_until(drained, DRAINED_S)


def compare_with_records(
    path: Path, cycles: int, endpoints: int, accepted: set[str], arrivals: Counter[tuple[str, str]]
) -> DeliveryKillReport:
    """Compare what arrived with what was answered and with what the server recorded."""
    expected = [(f"/{number}", name) for name in accepted for number in range(endpoints)]
    repeated = {key: count for key, count in arrivals.items() if count > 1}
    attempts = read_attempts(path)
    return DeliveryKillReport(
        cycles=cycles,
        accepted=len(expected),
        lost=sum(arrivals[key] == 0 for key in expected),
        duplicates=sum(count - 1 for count in repeated.values()),
        unexplained=sum(
            max(0, count - attempts.get(key, 0) - possible_kills(key, cycles))
            for key, count in repeated.items()
        ),
    )


def possible_kills(key: tuple[str, str], cycles: int) -> int:
    """Return how many kills a delivery may have met: those from its event's cycle on."""
    return cycles - int(key[1].partition("-")[0])


def read_attempts(path: Path) -> dict[tuple[str, str], int]:
    """Read the recorded attempts by path and event."""
    query = """SELECT json_extract(endpoints.document, '$.url'),
            json_extract(events.payload, '$.event'), deliveries.attempts
        FROM deliveries JOIN events ON events.seq = deliveries.event
        JOIN endpoints ON endpoints.seq = deliveries.endpoint"""
    with closing(sqlite3.connect(path)) as connection:
        rows: list[Any] = connection.execute(query).fetchall()
    return {(f"/{url.rpartition('/')[2]}", event): count for url, event, count in rows}


def main() -> int:
    """Return 0 if nothing was lost and every duplicate is explained."""
    cycles = int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_CYCLES
    with tempfile.TemporaryDirectory() as folder:
        report = asyncio.run(
            kill_during_bursts(
                Path(folder), cycles=cycles, seed=0, report_progress=sys.stderr.write
            )
        )
    sys.stdout.write(f"{report}\n")
    return FAILED if report.lost or report.unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
