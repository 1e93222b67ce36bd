"""`make backlog`: a million pending deliveries in a file, and what they cost in memory: `backlog.py
[DELIVERIES]`.

The reference server accepts events that reach 10,000 endpoints each, through its API, while every
endpoint hangs. It is stopped, the endpoints recover, and a new server takes the file over. While
that drains the backlog, another project's events go to an endpoint of their own, on a sink of its
own: each has to arrive promptly. Printed are how long the backlog took to come about, the resident
memory, how fast it drains, and the time from acceptance to arrival for the others. It ends with 1
if the memory grows by more than GROWTH_MB over that of an idle server or if an event is late.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.bench.accepting import fill, pending, post
from tests.bench.api import KEY, path
from tests.bench.deliveries import Sink, sinking
from tests.bench.machine import mock_server, peak_mb, resident_mb
from tests.bench.sink import numbered

EACH: Final = 100
# The http_timeout of the endpoints: an attempt at one that hangs lasts about as long as the
# filling.
HANGS_S: Final = 60

GROWTH_MB: Final = 150.0
LATE_S: Final = 0.5
CROWD: Final = "crowd"
OTHER: Final = "other"
OTHERS: Final = 100
PAUSE_S: Final = 0.1
FIRST_OTHER: Final = 10**6
FAILED: Final = 1


def event(number: int) -> bytes:
    """The body that broadcasts a numbered event."""
    return b'{"event_type":"order.paid","data":%b}' % numbered(number)


def options(ca: Path) -> list[str]:
    """How each server is started: with the certificate authorities in this file."""
    projects = [option for name in (CROWD, OTHER) for option in ("--project", f"{name}={KEY}")]
    return [*projects, "--ca", str(ca)]


def stock(started: Sequence[str], sink: Sink, endpoints: int) -> float:
    """Let a server accept the backlog; the seconds that the events took."""
    sink.hold()
    with mock_server(*started) as (ready, _):
        fill(ready["api"], CROWD, sink.url, endpoints, http_timeout=HANGS_S)
        began = time.monotonic()
        post(ready["api"], path(CROWD, "events/broadcast"), map(event, range(EACH)))
        took = time.monotonic() - began
    sink.go()
    return took


def others(api: str, sink: Sink) -> list[float]:
    """Seconds from acceptance to arrival of events of another project, sorted."""
    fill(api, OTHER, sink.url, 1)
    accepted = {}
    for number in range(FIRST_OTHER, FIRST_OTHER + OTHERS):
        accepted[number] = time.monotonic()
        post(api, path(OTHER, "events/broadcast"), [event(number)])
        time.sleep(PAUSE_S)
    arrived = {number: at for at, number in sink.arrivals()}
    return sorted(arrived.get(number, time.monotonic()) - at for number, at in accepted.items())


def idle_mb(started: Sequence[str]) -> float:
    """The resident memory of a server that has nothing to do."""
    with mock_server(*started) as (_, pid):
        return resident_mb(pid)


@contextmanager
def two_sinks(folder: Path) -> Iterator[tuple[Sink, Sink, Path]]:
    """A sink for the crowd, one for the others, and a file with the certificate authorities of
    both.
    """
    places = [folder / name for name in (CROWD, OTHER)]
    for place in places:
        place.mkdir()
    with sinking(str(places[0])) as crowd, sinking(str(places[1])) as other:
        both = folder / "ca.pem"
        both.write_text(Path(crowd.ca).read_text() + Path(other.ca).read_text())
        yield crowd, other, both


def main() -> int:
    """Run as a script."""
    deliveries = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    endpoints = deliveries // EACH
    with tempfile.TemporaryDirectory() as folder, two_sinks(Path(folder)) as (crowd, other, ca):
        durable = [*options(ca), "--db", f"{folder}/backlog.db"]
        accepting_s = stock(durable, crowd, endpoints)
        print(
            f"{EACH} events for {endpoints:,} endpoints that hang, accepted in {accepting_s:.0f} s",
            flush=True,
        )
        idle = idle_mb(options(ca))
        with mock_server(*durable) as (ready, pid):
            at_first, first, began = resident_mb(pid), pending(ready["control"]), time.monotonic()
            late = others(ready["api"], other)
            left, took = pending(ready["control"]), time.monotonic() - began
            highest = peak_mb(pid)
    print(f"{first:,} deliveries pending")
    print(
        f"resident: idle server {idle:.0f} MB, at the start {at_first:.0f} MB, at most {highest:.0f} MB"
    )
    print(f"drained meanwhile: {(first - left) / took:,.0f}/s")
    print(
        f"others, acceptance to arrival: p50 {late[len(late) // 2] * 1e3:.0f} ms, slowest {late[-1] * 1e3:.0f} ms"
    )
    return FAILED if highest > idle + GROWTH_MB or late[-1] > LATE_S else 0


if __name__ == "__main__":
    sys.exit(main())
