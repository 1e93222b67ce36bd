"""`make backlog`: a million pending deliveries in a file, and what they cost in memory: `backlog.py [DELIVERIES]`.

A database with that many pending deliveries, 1,000 for each endpoint, is handed to the reference server. While it
drains them, another project's events go to an endpoint of their own: each has to arrive promptly. Printed are the
resident memory, how fast the backlog drains, and the time from acceptance to arrival for the others. It ends with 1 if
the memory grows by more than GROWTH_MB over that of an idle server or if an event is late.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from tests.bench.accepting import pending
from tests.bench.api import HEADERS, KEY, path
from tests.bench.deliveries import Sink, sinking
from tests.bench.machine import Request, call, mock_server, peak_mb, resident_mb
from tests.bench.sender import Bench
from tests.bench.sink import numbered

EACH: Final = 1000
GROWTH_MB: Final = 150.0
LATE_S: Final = 0.5
OTHER: Final = "other"
OTHERS: Final = 100
PAUSE_S: Final = 0.1
FIRST_OTHER: Final = 10**6
FAILED: Final = 1


async def stock(file: Path, sink: Sink, deliveries: int) -> None:
    """Write the backlog into a database file, as a server that was stopped would have left it."""
    bench = Bench(argparse.Namespace(db=str(file), url=sink.url, ca=sink.ca))
    for number in range(deliveries // EACH):
        bench.add_endpoint(number)
    for number in range(EACH):
        bench.accept(number)
        bench.commit()
    bench.close()


def others(api: str, sink: Sink) -> list[float]:
    """Seconds from acceptance to arrival of events of another project, sorted."""
    endpoint = json.dumps({"name": "other", "url": f"{sink.url}/other"}).encode()
    call(Request(url=f"{api}{path(OTHER, 'endpoints')}", headers=HEADERS, body=endpoint))
    accepted = {}
    for number in range(FIRST_OTHER, FIRST_OTHER + OTHERS):
        event = b'{"event_type":"order.paid","data":%b}' % numbered(number)
        accepted[number] = time.monotonic()
        call(Request(url=f"{api}{path(OTHER, 'events/broadcast')}", headers=HEADERS, body=event))
        time.sleep(PAUSE_S)
    arrived = {number: at for at, number in sink.arrivals()}
    return sorted(arrived.get(number, time.monotonic()) - at for number, at in accepted.items())


def idle_mb(ca: str) -> float:
    """The resident memory of a server that has nothing to do."""
    with mock_server("--project", f"{OTHER}={KEY}", "--ca", ca) as (_, pid):
        return resident_mb(pid)


def main() -> int:
    """Run as a script."""
    deliveries = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder, sinking(folder) as sink:
        file = Path(folder) / "backlog.db"
        asyncio.run(stock(file, sink, deliveries))
        idle = idle_mb(sink.ca)
        with mock_server("--project", f"{OTHER}={KEY}", "--ca", sink.ca, "--db", str(file)) as (ready, pid):
            at_first, first, began = resident_mb(pid), pending(ready["control"]), time.monotonic()
            late = others(ready["api"], sink)
            left, took = pending(ready["control"]), time.monotonic() - began
            highest = peak_mb(pid)
    print(f"{first:,} deliveries pending, file of {deliveries // EACH:,} endpoints")
    print(f"resident: idle server {idle:.0f} MB, at the start {at_first:.0f} MB, at most {highest:.0f} MB")
    print(f"drained meanwhile: {(first - left) / took:,.0f}/s")
    print(f"others, acceptance to arrival: p50 {late[len(late) // 2] * 1e3:.0f} ms, slowest {late[-1] * 1e3:.0f} ms")
    return FAILED if highest > idle + GROWTH_MB or late[-1] > LATE_S else 0


if __name__ == "__main__":
    sys.exit(main())
