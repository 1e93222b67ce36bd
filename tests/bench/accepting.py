"""How much a fan-out slows down the API: events accepted per second during deliveries."""

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from http import HTTPStatus
from http.client import HTTPConnection
from typing import Final
from urllib.parse import urlsplit

from tests.bench.api import BROADCAST, HEADERS, KEY, path
from tests.bench.machine import WrkRequest, call, mock_server, requests_per_second
from tests.bench.sink import numbered_body

ROUNDS: Final = 5
MEASURED_S: Final = 2
RESPONSE_S: Final = 30.0
DRAIN_S: Final = 120.0
# How often the server is asked what is pending; it does not report the end by itself.
POLL_S: Final = 0.2
BUSY: Final = "fan"
QUIET: Final = "quiet"
# So many broadcasts at once that their deliveries outlast the measurement.
BROADCASTS: Final = 3


def slowdown(url: str, ca: str, endpoints: int) -> Iterator[tuple[float, float]]:
    """Yield the events per second that a project without endpoints accepts.

    One pair per round, because the speed of a shared machine varies: before, and while broadcasts
    of another project are delivered.
    """
    projects = [option for name in (BUSY, QUIET) for option in ("--project", f"{name}={KEY}")]
    with mock_server(*projects, "--ca", ca) as (ready, _):
        api, control = ready["api"], ready["control"]
        fill(api, BUSY, url, endpoints, rate_limit=1000, rate_limit_duration=1)
        quiet = WrkRequest(
            url=f"{api}{path(QUIET, 'events/broadcast')}", headers=HEADERS, body=BROADCAST
        )
        event = b'{"event_type":"order.paid","data":%b}' % numbered_body(0)
        fan_out = WrkRequest(
            url=f"{api}{path(BUSY, 'events/broadcast')}", headers=HEADERS, body=event
        )
        requests_per_second(quiet, seconds=1)
        for _ in range(ROUNDS):
            before = requests_per_second(quiet, seconds=MEASURED_S)
            for _ in range(BROADCASTS):
                call(fan_out)
            meanwhile = requests_per_second(quiet, seconds=MEASURED_S)
            if not pending_deliveries(control):
                raise SystemExit("the fan-out ended before the measurement did")
            yield before, meanwhile
            drain(control)


def drain(control: str) -> None:
    """Poll the server until it has no pending deliveries, for at most DRAIN_S."""
    deadline = time.monotonic() + DRAIN_S
    while left := pending_deliveries(control):
        if time.monotonic() > deadline:
            raise SystemExit(f"{left} deliveries of the fan-out are pending after {DRAIN_S:.0f} s")
        time.sleep(POLL_S)


def fill(api: str, project: str, url: str, endpoints: int, **limits: int) -> None:
    """Create the endpoints of a project over one connection."""
    bodies = (
        {"name": "an endpoint", "url": f"{url}/{number}", **limits} for number in range(endpoints)
    )
    post(api, path(project, "endpoints"), (json.dumps(body).encode() for body in bodies))


def post(api: str, target: str, bodies: Iterable[bytes]) -> None:
    """Post bodies over one connection; every response has to be 201 Created."""
    with closing(HTTPConnection(urlsplit(api).netloc, timeout=RESPONSE_S)) as connection:
        for body in bodies:
            connection.request("POST", target, body, HEADERS)
            response = connection.getresponse()
            response.read()
            if response.status != HTTPStatus.CREATED:
                raise SystemExit(f"{target} was answered with {response.status}")


def pending_deliveries(control: str) -> int:
    text = call(WrkRequest(url=f"{control}/metrics", headers={})).decode()
    lines = [
        line
        for line in text.splitlines()
        if line.startswith('hookproof_deliveries{state="pending"}')
    ]
    return int(float(lines[0].split()[-1])) if lines else 0
