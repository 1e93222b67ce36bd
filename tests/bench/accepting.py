"""How far a fan-out slows down the accepting of events: the reference server, driven by wrk beside
its deliveries.
"""

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from http import HTTPStatus
from http.client import HTTPConnection
from typing import Final
from urllib.parse import urlsplit

from tests.bench.api import BROADCAST, HEADERS, KEY, path
from tests.bench.machine import Request, call, mock_server, rate
from tests.bench.sink import numbered

ROUNDS: Final = 5
MEASURED_S: Final = 2
ANSWER_S: Final = 30.0
DRAIN_S: Final = 120.0
POLL_S: Final = 0.2
FAN: Final = "fan"
QUIET: Final = "quiet"
# Broadcasts in a row, so that their deliveries outlast the measurement.
FANS: Final = 3


def slowdown(url: str, ca: str, endpoints: int) -> Iterator[tuple[float, float]]:
    """Events a second that a project without endpoints accepts: before, and while another one's
    broadcasts go out.

    One pair for each round, since the speed of a shared machine varies between them.
    """
    projects = [option for name in (FAN, QUIET) for option in ("--project", f"{name}={KEY}")]
    with mock_server(*projects, "--ca", ca) as (ready, _):
        api, control = ready["api"], ready["control"]
        fill(api, FAN, url, endpoints, rate_limit=1000, rate_limit_duration=1)
        quiet = Request(
            url=f"{api}{path(QUIET, 'events/broadcast')}", headers=HEADERS, body=BROADCAST
        )
        event = b'{"event_type":"order.paid","data":%b}' % numbered(0)
        fan_out = Request(url=f"{api}{path(FAN, 'events/broadcast')}", headers=HEADERS, body=event)
        rate(quiet, seconds=1)
        for _ in range(ROUNDS):
            before = rate(quiet, seconds=MEASURED_S)
            for _ in range(FANS):
                call(fan_out)
            meanwhile = rate(quiet, seconds=MEASURED_S)
            if not pending(control):
                raise SystemExit("the fan-out was over before the accepting was measured")
            yield before, meanwhile
            drain(control)


def drain(control: str) -> None:
    """Wait until no delivery is pending."""
    deadline = time.monotonic() + DRAIN_S
    while left := pending(control):
        if time.monotonic() > deadline:
            raise SystemExit(f"{left} deliveries of the fan-out are pending after {DRAIN_S:.0f} s")
        time.sleep(POLL_S)


def fill(api: str, project: str, url: str, endpoints: int, **limits: int) -> None:
    """Create the endpoints of a project, over one kept connection."""
    bodies = (
        {"name": "an endpoint", "url": f"{url}/{number}", **limits} for number in range(endpoints)
    )
    post(api, path(project, "endpoints"), (json.dumps(body).encode() for body in bodies))


def post(api: str, target: str, bodies: Iterable[bytes]) -> None:
    """Post one body after the other over one kept connection; each has to be answered with 201
    Created.
    """
    with closing(HTTPConnection(urlsplit(api).netloc, timeout=ANSWER_S)) as connection:
        for body in bodies:
            connection.request("POST", target, body, HEADERS)
            answer = connection.getresponse()
            answer.read()
            if answer.status != HTTPStatus.CREATED:
                raise SystemExit(f"{target} was answered with {answer.status}")


def pending(control: str) -> int:
    """How many deliveries are pending."""
    text = call(Request(url=f"{control}/metrics", headers={})).decode()
    lines = [
        line
        for line in text.splitlines()
        if line.startswith('hookproof_deliveries{state="pending"}')
    ]
    return int(float(lines[0].split()[-1])) if lines else 0
