"""Floods a server with hostile requests: `python -m tests.mockserver.api.request_flood [REQUESTS]`.

First thousands of connections are opened and left idle, with one ordinary client among them; then
the requests of `hostile_requests` are sent. Answers are counted by status. The exit code is 1 if a
status is 500 or above, an answer does not arrive in time, or memory grows.
"""

import asyncio
import json
import random
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import psutil

from tests.mockserver.api.hostile_requests import KEY, PROJECTS, HostileRequests

CLIENTS: Final = 64
ANSWER_S: Final = 60.0
WARM_UP: Final = 5000
IDLE: Final = 10_000
OPENED_AT_ONCE: Final = 200
EXAMPLES: Final = 300
LARGEST_GROWTH: Final = 20 * 1024 * 1024
DEFAULT_REQUESTS: Final = 100_000
FAULTS: Final = 500
COMMAND: Final = "from hookproof.mockserver.cli import serve; serve()"
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
        return not self.late and all(status < FAULTS for status in self.statuses)

    async def count(self, port: int, request: bytes) -> None:
        """Send one request on a connection of its own and count the answer."""
        try:
            async with asyncio.timeout(ANSWER_S):
                self.statuses[await _status(port, request)] += 1
        except TimeoutError:
            self.late += 1


@asynccontextmanager
async def flooded_server(*, request_s: float) -> AsyncIterator[tuple[int, psutil.Process]]:
    """Start a server that waits `request_s` for a request to arrive; yield its port and process."""
    arguments = [
        "-c",
        COMMAND,
        "--port",
        "0",
        "--json",
        "--until-stdin-closes",
        "--request-timeout",
        str(request_s),
    ]
    for project in PROJECTS:
        arguments += ["--project", f"{project}={KEY}"]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        yield (
            int(json.loads(await process.stdout.readline())["api"].rpartition(":")[2]),
            psutil.Process(process.pid),
        )
    finally:
        process.terminate()
        await process.communicate()


async def flood(requests: int) -> tuple[StatusCounts, int]:
    """Send hostile requests; return the answers and the growth of the server's memory in bytes."""
    hostile = await HostileRequests.generate(
        dialect="reference", examples=EXAMPLES if requests > WARM_UP else 3
    )
    tally = StatusCounts()
    # The server waits for the rest of an incomplete request until its time-out: keep that short.
    async with flooded_server(request_s=0.2) as (port, process):

        async def client(count: int, rng: random.Random) -> None:
            for _ in range(count):
                await tally.count(port, hostile.choose(rng))

        async def clients(count: int, phase: str) -> None:
            each = count // CLIENTS
            await asyncio.gather(
                *(client(each, random.Random(f"{phase} {n}")) for n in range(CLIENTS))
            )

        await clients(WARM_UP, "warm-up")
        before = process.memory_info().rss
        await clients(requests, "flood")
        return tally, process.memory_info().rss - before


async def idle(connections: int) -> tuple[StatusCounts, int]:
    """Open idle connections with an ordinary client among them.

    Returns the client's answers and the growth of the server's memory in bytes.
    """
    tally = StatusCounts()
    async with flooded_server(request_s=30.0) as (port, process):
        await tally.count(port, ORDINARY)
        before = process.memory_info().rss
        waiting = []
        try:
            while len(waiting) < connections:
                opened = (asyncio.open_connection("127.0.0.1", port) for _ in range(OPENED_AT_ONCE))
                waiting += [writer for _, writer in await asyncio.gather(*opened)]
                await tally.count(port, ORDINARY)
            held = len(process.net_connections())
        finally:
            for writer in waiting:
                writer.close()
        sys.stdout.write(f"idle connections held by the server: {held}, ")
        sys.stdout.write(
            f"{(process.memory_info().rss - before) / len(waiting) / 1024:.1f} KiB each\n"
        )
        for _ in range(CLIENTS):
            await tally.count(port, ORDINARY)
        return tally, process.memory_info().rss - before


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


def print_statuses(tally: StatusCounts) -> None:
    for status, count in sorted(tally.statuses.items()):
        sys.stdout.write(f"{status or 'closed':>6}: {count}\n")


def main() -> int:
    beside, _ = asyncio.run(idle(IDLE))
    print_statuses(beside)
    tally, growth = asyncio.run(flood(int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_REQUESTS))
    print_statuses(tally)
    sys.stdout.write(f"late: {beside.late + tally.late}, memory grew by {growth / 2**20:.1f} MiB\n")
    return 0 if beside.is_acceptable and tally.is_acceptable and growth <= LARGEST_GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
