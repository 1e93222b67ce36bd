"""Floods a server with hostile requests: `python -m tests.mockserver.api.request_flood [REQUESTS]`.

First thousands of connections are opened and left idle, with one ordinary client among them; then
the requests of `hostile_requests` are sent. Answers are counted by status. The exit code is 1 if a
status is 500 or above, an answer does not arrive in time, or memory grows.
"""

import asyncio
import random
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

import psutil

from tests.mockserver.api.hostile_requests import BROADCAST_PROJECT, KEY, PROJECT, HostileRequests
from tests.mockserver.server_process import server_process

CLIENTS: Final = 64
ANSWER_S: Final = 60.0
WARM_UP: Final = 5000
IDLE: Final = 10_000
CONNECTED_AT_ONCE: Final = 200
EXAMPLES: Final = 300
LARGEST_GROWTH: Final = 20 * 1024 * 1024
DEFAULT_REQUESTS: Final = 100_000
SERVER_ERROR: Final = 500
ORDINARY: Final = (
    b"GET /api/v1/projects/demo/sources HTTP/1.1\r\n"
    b"Host: x\r\nConnection: close\r\nAuthorization: Bearer %b\r\n\r\n" % KEY.encode()
)


@dataclass(slots=True)
class StatusCounts:
    """Answers by status (0: the connection was closed without one), and the number of late ones."""

    statuses: Counter[int] = field(default_factory=Counter)
    late: int = 0

    @property
    def total(self) -> int:
        return self.statuses.total() + self.late

    @property
    def is_acceptable(self) -> bool:
        """Whether every answer arrived in time and none has a status of 500 or above."""
        failed = {status for status in self.statuses if status >= SERVER_ERROR}
        # What names a version of HTTP that the server does not speak is refused so.
        return not self.late and failed <= {HTTPStatus.HTTP_VERSION_NOT_SUPPORTED}

    async def count(self, port: int, request: bytes) -> None:
        """Send one request on a connection of its own and count the answer."""
        try:
            async with asyncio.timeout(ANSWER_S):
                status = await _status(port, request)
            self.statuses[status] += 1
        except TimeoutError:
            self.late += 1


@asynccontextmanager
async def flooded_server(*, request_s: float) -> AsyncIterator[tuple[int, psutil.Process]]:
    """Start a server that waits `request_s` for a request to arrive; yield its port and process."""
    options = ["--request-timeout", str(request_s)]
    for project in (PROJECT, BROADCAST_PROJECT):
        options += ["--project", f"{project}={KEY}"]
    async with server_process(*options) as (process, addresses):
        yield int(addresses["api"].rpartition(":")[2]), psutil.Process(process.pid)


async def flood(requests: int, *, warm_up: int = WARM_UP) -> tuple[StatusCounts, int]:
    """Send hostile requests; return the answers and the growth of the server's memory in bytes.

    The growth is measured after the warm-up, whose answers are counted too.
    """
    hostile = await HostileRequests.generate(
        dialect="reference", examples=EXAMPLES if requests > WARM_UP else 3
    )
    counts = StatusCounts()
    # The server waits for the rest of an incomplete request until its time-out: keep that short.
    async with flooded_server(request_s=0.2) as (port, process):

        async def client(count: int, rng: random.Random) -> None:
            for _ in range(count):
                await counts.count(port, hostile.choose(rng))

        async def clients(count: int, phase: str) -> None:
            each = count // CLIENTS
            await asyncio.gather(
                *(client(each, random.Random(f"{phase} {n}")) for n in range(CLIENTS))
            )

        await clients(warm_up, "warm-up")
        before = process.memory_info().rss
        await clients(requests, "flood")
        return counts, process.memory_info().rss - before


async def idle(connections: int) -> tuple[StatusCounts, int]:
    """Open idle connections with an ordinary client among them.

    Returns the client's answers and the growth of the server's memory in bytes.
    """
    counts = StatusCounts()
    async with flooded_server(request_s=30.0) as (port, process):
        await counts.count(port, ORDINARY)
        before = process.memory_info().rss
        writers: list[asyncio.StreamWriter] = []
        try:
            while len(writers) < connections:
                batch = [
                    asyncio.open_connection("127.0.0.1", port) for _ in range(CONNECTED_AT_ONCE)
                ]
                writers += [writer for _, writer in await asyncio.gather(*batch)]
                await counts.count(port, ORDINARY)
            open_connections = len(process.net_connections())
        finally:
            for writer in writers:
                writer.close()
        growth = process.memory_info().rss - before
        sys.stdout.write(
            f"idle connections held by the server: {open_connections}, "
            f"{growth / len(writers) / 1024:.1f} KiB each\n"
        )
        for _ in range(CLIENTS):
            await counts.count(port, ORDINARY)
        return counts, process.memory_info().rss - before


async def _status(port: int, request: bytes) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        line = await reader.readline()
        while line.startswith(b"HTTP/1.1 100"):
            await reader.readline()
            line = await reader.readline()
        return int(line.split()[1]) if line.startswith(b"HTTP/") else 0
    except ConnectionError:
        return 0
    finally:
        writer.transport.abort()


def print_statuses(counts: StatusCounts) -> None:
    for status, count in sorted(counts.statuses.items()):
        sys.stdout.write(f"{status or 'closed':>6}: {count}\n")


def main() -> int:
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_REQUESTS
    idle_counts, _ = asyncio.run(idle(IDLE))
    print_statuses(idle_counts)
    flood_counts, growth = asyncio.run(flood(requests))
    print_statuses(flood_counts)
    late = idle_counts.late + flood_counts.late
    sys.stdout.write(f"late: {late}, memory grew by {growth / 2**20:.1f} MiB\n")
    acceptable = idle_counts.is_acceptable and flood_counts.is_acceptable
    return 0 if acceptable and growth <= LARGEST_GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
