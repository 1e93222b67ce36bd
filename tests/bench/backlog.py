"""Measures the memory that a million pending deliveries in a database file need.

`python -m tests.bench.backlog [DELIVERIES]`, or `make backlog`. The reference server accepts events
that reach 10,000 endpoints each, while every endpoint hangs. It is stopped, the endpoints recover,
and a new server opens the file. While that delivers the backlog, events of another project go to a
separate endpoint on a separate sink: each has to arrive promptly. It prints the time to build up
the backlog, the resident memory, the rate of delivery, and the time from acceptance to arrival of
the other project's events. The exit code is 1 if the memory exceeds that of an idle server by more
than GROWTH_MB or if an event is late.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.bench.accepting import fill, pending_deliveries, post
from tests.bench.api import KEY, path
from tests.bench.deliveries import SinkProcess, running_sink
from tests.bench.machine import mock_server, peak_mb, resident_mb
from tests.bench.sink import numbered_body

EACH: Final = 100
# The http_timeout of the endpoints: a hanging attempt lasts about as long as it takes to build up
# the backlog.
HANGS_S: Final = 60

GROWTH_MB: Final = 150.0
LATE_S: Final = 0.5
BACKLOG: Final = "backlog"
OTHER: Final = "other"
OTHERS: Final = 100
# Paces the other project's events, so that each finds the backlog as it is.
PAUSE_S: Final = 0.1
FIRST_OTHER: Final = 10**6
FAILED: Final = 1


def event(number: int) -> bytes:
    """Return the body of a broadcast with a number."""
    return b'{"event_type":"order.paid","data":%b}' % numbered_body(number)


def options(ca: Path) -> list[str]:
    """Return the options of each server; `ca` is a file of certificate authorities."""
    projects = [option for name in (BACKLOG, OTHER) for option in ("--project", f"{name}={KEY}")]
    return [*projects, "--ca", str(ca)]


def build_backlog(options_of_server: Sequence[str], sink: SinkProcess, endpoints: int) -> float:
    """Let a server accept the events while the sink hangs; return the seconds until then."""
    sink.hold()
    with mock_server(*options_of_server) as (ready, _):
        fill(ready["api"], BACKLOG, sink.url, endpoints, http_timeout=HANGS_S)
        began = time.monotonic()
        post(ready["api"], path(BACKLOG, "events/broadcast"), map(event, range(EACH)))
        accepting_s = time.monotonic() - began
    sink.go()
    return accepting_s


def measure_others(api: str, sink: SinkProcess) -> list[float]:
    """Return the seconds from acceptance to arrival of the other project's events, sorted."""
    fill(api, OTHER, sink.url, 1)
    accepted = {}
    for number in range(FIRST_OTHER, FIRST_OTHER + OTHERS):
        accepted[number] = time.monotonic()
        post(api, path(OTHER, "events/broadcast"), [event(number)])
        time.sleep(PAUSE_S)
    arrived = {number: at for at, number in sink.arrivals()}
    return sorted(arrived.get(number, time.monotonic()) - at for number, at in accepted.items())


def idle_mb(options_of_server: Sequence[str]) -> float:
    with mock_server(*options_of_server) as (_, pid):
        return resident_mb(pid)


@contextmanager
def two_sinks(folder: Path) -> Iterator[tuple[SinkProcess, SinkProcess, Path]]:
    """Run a sink for the backlog and one for the other project.

    Yields both, and a file with the certificate authorities of both.
    """
    folders = [folder / name for name in (BACKLOG, OTHER)]
    for sink_folder in folders:
        sink_folder.mkdir()
    with running_sink(str(folders[0])) as backlog, running_sink(str(folders[1])) as other:
        both = folder / "ca.pem"
        both.write_text(Path(backlog.ca).read_text() + Path(other.ca).read_text())
        yield backlog, other, both


def main() -> int:
    deliveries = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    endpoints = deliveries // EACH
    with tempfile.TemporaryDirectory() as folder, two_sinks(Path(folder)) as (backlog, other, ca):
        durable = [*options(ca), "--db", f"{folder}/backlog.db"]
        accepting_s = build_backlog(durable, backlog, endpoints)
        print(
            f"{EACH} events for {endpoints:,} endpoints that hang, accepted in {accepting_s:.0f} s",
            flush=True,
        )
        idle = idle_mb(options(ca))
        with mock_server(*durable) as (ready, pid):
            at_first, first = resident_mb(pid), pending_deliveries(ready["control"])
            began = time.monotonic()
            delays = measure_others(ready["api"], other)
            left, seconds = pending_deliveries(ready["control"]), time.monotonic() - began
            highest = peak_mb(pid)
    print(f"{first:,} deliveries pending")
    print(
        f"resident: idle server {idle:.0f} MB, at the start {at_first:.0f} MB,"
        f" at most {highest:.0f} MB"
    )
    print(f"delivered meanwhile: {(first - left) / seconds:,.0f}/s")
    print(
        f"other project, acceptance to arrival: p50 {delays[len(delays) // 2] * 1e3:.0f} ms,"
        f" slowest {delays[-1] * 1e3:.0f} ms"
    )
    return FAILED if highest > idle + GROWTH_MB or delays[-1] > LATE_S else 0


if __name__ == "__main__":
    sys.exit(main())
