"""Flood a server with hostile requests and look at how it bears it: `flood.py [REQUESTS]`.

Each request is one of the hostile kinds below with random bytes changed, cut out or doubled. It counts answers by
status; a status from 500 up, an answer that does not come in time, or memory that grows ends it with 1.
"""

import asyncio
import json
import random
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

import psutil

CLIENTS: Final = 64
ANSWER_S: Final = 8.0
WARM_UP: Final = 5000
LARGEST_GROWTH: Final = 20 * 1024 * 1024
DEFAULT_REQUESTS: Final = 100_000
FAULTS: Final = 500
COMMAND: Final = "from mockserver.cli import serve; serve()"

ENDPOINTS: Final = b"/api/v1/projects/demo/endpoints"
PATHS: Final = (
    ENDPOINTS,
    ENDPOINTS + b"/x/expire_secret",
    b"/api/v1/projects/demo/portal-links/x",
    b"/api/v1/projects/demo/portal-links?perPage=9&sort=ASC&next_page_cursor=abc",
    b"/api/v1/projects/demo/sources?type=%ff&provider=%00",
    b"/api/v1/projects/demo/events/broadcast",
    b"/api/v1/projects/%2e%2e/demo/..%2Fsources",
    b"/../../etc/passwd",
    b"//",
    b"*",
)
METHODS: Final = (b"GET", b"POST", b"PUT", b"DELETE", b"HEAD", b"OPTIONS", b"TRACE", b"PATCH", b"CONNECT", b"BREW")
BODIES: Final = (
    b"",
    b"{",
    b"[" * 10_000 + b"]" * 10_000,
    b'{"a":' * 10_000,
    b'{"name": "x", "url": "https://a.invalid/", "rate_limit": 1e999}',
    b'{"name": "x", "url": "https://a.invalid/", "rate_limit": 123456789012345678901234567890}',
    b'{"name": "x", "url": "https://a.invalid/", "name": "y"}',
    b'{"name": "\\ud800", "url": "https://a.invalid/"}',
    b'{"name": "\\u0000", "url": "https://a.invalid/"}',
    b'{"name": "x", "url": "http://a.invalid/"}',
    b'{"event_type": 1, "data": {}, "custom_headers": {"a\\r\\nb": "c"}}',
    b"\xff\xfe{\x00}\x00",
    b'{"name": "' + b"x" * 100_000 + b'", "url": 1}',
    b"9" * 10_000,
)
HEADERS: Final = (
    b"Content-Type: application/json",
    b"Content-Type: text/plain",
    b"Content-Type: application/json; charset=utf-16",
    b"Content-Encoding: gzip",
    b"Transfer-Encoding: chunked",
    b"Expect: 100-continue",
    b"X-HTTP-Method-Override: DELETE",
    b"Upgrade: websocket\r\nConnection: Upgrade",
    b"Cookie: " + b"c=d; " * 500,
    b"X: " + b"y" * 20_000,
    b"Bad Header: x",
    b"Content-Length: 99999999999",
    b"Content-Length: -1",
)


@dataclass(slots=True)
class Tally:
    """Answers by status (0: the connection was closed without one), and how many did not come in time."""

    statuses: Counter[int] = field(default_factory=Counter)
    late: int = 0

    @property
    def total(self) -> int:
        return self.statuses.total() + self.late


def hostile(rng: random.Random) -> bytes:
    """One request; what it does not spoil on purpose is in order, so that it gets past the first check."""
    body = rng.choice(BODIES)
    headers = [b"Host: x", b"Connection: close", b"Authorization: Bearer demo-key"]
    headers += rng.sample(HEADERS, rng.choice((0, 0, 1, 2)))
    if rng.random() < 0.7:
        headers += [b"Content-Type: application/json", b"Content-Length: %d" % len(body)]
    request = b"%b %b HTTP/1.1\r\n%b\r\n\r\n" % (rng.choice(METHODS), rng.choice(PATHS), b"\r\n".join(headers))
    request += body
    if rng.random() < 0.5:
        place = rng.randrange(len(request))
        end = min(len(request), place + rng.choice((0, 1, 4)))
        request = request[:place] + rng.choice((b"", b"\x00", b"\xff", rng.randbytes(3))) + request[end:]
    return request


async def client(port: int, tally: Tally, requests: int, rng: random.Random) -> None:
    """Send hostile requests, each on a connection of its own."""
    for _ in range(requests):
        try:
            async with asyncio.timeout(ANSWER_S):
                tally.statuses[await _status(port, hostile(rng))] += 1
        except TimeoutError:
            tally.late += 1


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


async def flood(requests: int) -> tuple[Tally, int]:
    """The answers, and by how many bytes the server's memory grew."""
    # A request that the server waits for in vain costs this time-out, so it is a short one.
    arguments = ("-c", COMMAND, "--port", "0", "--json", "--until-stdin-closes", "--request-timeout", "0.2")
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    port = int(json.loads(await process.stdout.readline())["api"].rpartition(":")[2])
    memory = psutil.Process(process.pid)
    tally = Tally()
    before = 0
    for count in (WARM_UP, requests):
        before = before or memory.memory_info().rss if count != WARM_UP else 0
        each = count // CLIENTS
        await asyncio.gather(*(client(port, tally, each, random.Random(f"{count} {n}")) for n in range(CLIENTS)))
    growth = memory.memory_info().rss - before
    process.terminate()
    await process.communicate()
    return tally, growth


def main() -> int:
    """Run as a script."""
    tally, growth = asyncio.run(flood(int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_REQUESTS))
    for status, count in sorted(tally.statuses.items()):
        sys.stdout.write(f"{status or 'closed':>6}: {count}\n")
    sys.stdout.write(f"late: {tally.late}, memory grew by {growth / 2**20:.1f} MiB\n")
    failed = tally.late or growth > LARGEST_GROWTH or any(status >= FAULTS for status in tally.statuses)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
