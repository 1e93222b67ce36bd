"""Kill the server while a burst of deliveries goes out, and look for those that it had accepted:
`burst.py [CYCLES]`.

Each cycle lets a server with `--db FILE` accept events that reach many endpoints over TLS, 5,000
deliveries in all, kills it (SIGKILL) at some arrival in the middle and starts it anew; at the end
nothing may be pending. Whatever was accepted has to arrive. What arrives twice is counted: a
duplicate is explained when one attempt more arrived than was written down, since that one was under
way when the server was killed. It tells its progress on standard error and ends with 1 if anything
is lost or a duplicate is not explained.
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

COMMAND = "from hookproof.mockserver.cli import serve; serve()"
HEADERS = {"Authorization": "Bearer demo-key"}
PROJECT = "/api/v1/projects/demo"
ENDPOINTS = 100
EVENTS = 50
READY_S = 180.0
DRAINED_S = 300.0
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
DEFAULT_CYCLES = 50
TOLD_EVERY = 5
FAILED = 1


class ArrivalCounts:
    """How often each event arrived at each endpoint's path, and a way to wait for so many more."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self._left = 0
        self._reached = asyncio.Event()

    def add(self, path: str, event: str) -> None:
        self.counts[path, event] += 1
        self._left -= 1
        if self._left <= 0:
            self._reached.set()

    async def more(self, count: int) -> None:
        """Wait for so many further arrivals."""
        self._left = count
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


async def survives(
    folder: Path,
    *,
    cycles: int,
    seed: int,
    events: int = EVENTS,
    endpoints: int = ENDPOINTS,
    tell: Callable[[str], object] = lambda _: None,
) -> DeliveryKillReport:
    """Run the cycles on a database in a folder and report what became of everything; `tell` hears
    of the progress.
    """
    rng = random.Random(seed)
    arrivals = ArrivalCounts()
    accepted: set[str] = set()
    path = folder / "hookproof.db"
    async with receiving(folder, arrivals) as (url, ca):
        async with serving(path, ca) as (_, ready):
            await create(ready["api"], url, endpoints)
        for cycle in range(cycles):
            async with serving(path, ca) as (process, ready):
                names = [f"{cycle}-{number}" for number in range(events)]
                burst = asyncio.create_task(broadcast(ready["api"], names, accepted))
                async with asyncio.timeout(DRAINED_S):
                    await arrivals.more(rng.randrange(1, events * endpoints))
                process.kill()
                await process.wait()
                await burst
            if (cycle + 1) % TOLD_EVERY == 0:
                tell(
                    f"{cycle + 1} of {cycles} kills, "
                    f"{len(accepted) * endpoints} deliveries accepted so far\n"
                )
        async with serving(path, ca) as (_, ready):
            await drained(ready["control"])
    return judged(path, cycles, endpoints, accepted, arrivals.counts)


@asynccontextmanager
async def receiving(folder: Path, arrivals: ArrivalCounts) -> AsyncIterator[tuple[str, Path]]:
    """A receiver over TLS; its URL and the file of its CA."""
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


@asynccontextmanager
async def serving(
    path: Path, ca: Path
) -> AsyncIterator[tuple[asyncio.subprocess.Process, dict[str, str]]]:
    """The server as a process, and the addresses that it announces."""
    options = ("--port", "0", "--db", str(path), "--ca", str(ca), "--json", "--until-stdin-closes")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        COMMAND,
        *options,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        yield process, json.loads(await asyncio.wait_for(process.stdout.readline(), READY_S))
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.communicate()


async def create(api: str, url: str, endpoints: int) -> None:
    async with aiohttp.ClientSession(api, headers=HEADERS) as session:
        for number in range(endpoints):
            body = {"name": "n", "url": f"{url}/{number}", "advanced_signatures": True}
            async with session.post(f"{PROJECT}/endpoints", json=body) as response:
                response.raise_for_status()


async def broadcast(api: str, names: list[str], accepted: set[str]) -> None:
    """Broadcast the events one after the other until the server is gone; those that were answered
    are accepted.
    """
    async with aiohttp.ClientSession(api, headers=HEADERS) as session:
        for name in names:
            body = {"event_type": "t", "data": {"event": name}}
            try:
                async with session.post(f"{PROJECT}/events/broadcast", json=body) as response:
                    response.raise_for_status()
            except (aiohttp.ClientError, ConnectionError):
                return
            accepted.add(name)


async def drained(control: str) -> None:
    """Wait until nothing is pending."""
    async with asyncio.timeout(DRAINED_S), aiohttp.ClientSession(control) as session:
        while await pending(session):  # noqa: ASYNC110  the server tells nobody
            await asyncio.sleep(0.05)


async def pending(session: aiohttp.ClientSession) -> bool:
    async with session.get("/metrics") as response:
        return 'hookproof_deliveries{state="pending"}' in await response.text()


def judged(
    path: Path, cycles: int, endpoints: int, accepted: set[str], arrivals: Counter[tuple[str, str]]
) -> DeliveryKillReport:
    """Hold what arrived against what was answered and against what the server wrote down."""
    wanted = [(f"/{number}", name) for name in accepted for number in range(endpoints)]
    twice = {key: count for key, count in arrivals.items() if count > 1}
    written = attempts(path)
    return DeliveryKillReport(
        cycles=cycles,
        accepted=len(wanted),
        lost=sum(arrivals[key] == 0 for key in wanted),
        duplicates=sum(count - 1 for count in twice.values()),
        unexplained=sum(
            max(0, count - written.get(key, 0) - cycles_of(key, cycles))
            for key, count in twice.items()
        ),
    )


def cycles_of(key: tuple[str, str], cycles: int) -> int:
    """How many kills a delivery may have met: those from its event's own cycle on."""
    return cycles - int(key[1].partition("-")[0])


def attempts(path: Path) -> dict[tuple[str, str], int]:
    """The attempts that are written down for each path and event."""
    query = """SELECT json_extract(endpoints.document, '$.url'),
            json_extract(events.payload, '$.event'), deliveries.attempts
        FROM deliveries JOIN events ON events.seq = deliveries.event
        JOIN endpoints ON endpoints.seq = deliveries.endpoint"""
    with closing(sqlite3.connect(path)) as connection:
        rows: list[Any] = connection.execute(query).fetchall()
    return {(f"/{url.rpartition('/')[2]}", event): count for url, event, count in rows}


def main() -> int:
    """Run as a script; the exit code is 0 if nothing was lost and every duplicate is explained."""
    cycles = int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_CYCLES
    with tempfile.TemporaryDirectory() as folder:
        report = asyncio.run(survives(Path(folder), cycles=cycles, seed=0, tell=sys.stderr.write))
    sys.stdout.write(f"{report}\n")
    return FAILED if report.lost or report.unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
