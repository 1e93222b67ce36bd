"""The senders of the delivery benchmark, one run each: `python -m tests.bench.sender WORK --url URL
--ca FILE`.

`bare` is the yardstick: aiohttp's client in a loop, 64 at a time, with ready bytes and ready
headers. The others drive the whole engine on the store of the reference server. Each prints a JSON
line at its end: `began`, the monotonic second of its first acceptance, `cpu_s`, the processor
seconds that it used since, and for `steady` the seconds at which each numbered event was accepted.
"""

import argparse
import asyncio
import gc
import json
import logging
import random
import ssl
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import repeat
from typing import Any, Final

import aiohttp
import msgspec
import uvloop

from hookproof.mockserver.delivery.engine import DeliveryEngine
from hookproof.mockserver.delivery.http_client.egress import EgressGuard
from hookproof.mockserver.delivery.scheduling.concurrency_limit import ConcurrencyBounds
from hookproof.mockserver.store.database import IN_MEMORY, Database
from hookproof.mockserver.store.deliveries import Deliveries
from hookproof.mockserver.store.endpoints import (
    Endpoints,
    NewEndpoint,
    StoredSecret,
    encoded_secrets,
)
from hookproof.mockserver.store.events import Events, NewEvent
from hookproof.spec.dialect.reader import load_dialect
from tests.bench.sink import numbered

IN_FLIGHT: Final = 64
PROJECT: Final = "p"
CREATED: Final = "2027-01-15T08:00:00Z"
POLL_S: Final = 0.02
PENDING: Final = "SELECT EXISTS (SELECT 1 FROM deliveries WHERE due_at IS NOT NULL)"
# A rate limit that is kept in mind and never reached.
FREE: Final = 1_000_000


class ExperimentContext:
    """An engine and its store, with endpoints and events as the API would have put them there."""

    def __init__(self, options: argparse.Namespace) -> None:
        dialect = load_dialect("reference")
        self._database = Database(options.db or IN_MEMORY, dialect=dialect.name)
        self._endpoints = Endpoints(self._database)
        self._events = Events(self._database)
        self._url = options.url
        self.engine = DeliveryEngine(
            Deliveries(self._database, dialect, time.time),
            dialect,
            clock=time.time,
            rng=random.Random(1),
            ca_file=options.ca,
            egress=EgressGuard(),
            log=logging.getLogger(__name__),
            bounds=ConcurrencyBounds(young=IN_FLIGHT),
        )

    def add_endpoint(self, number: int, **limits: int) -> None:
        """An endpoint of about 1.4 kB."""
        uid = f"endpoint-{number:09}"
        document = {
            "uid": uid,
            "project_id": PROJECT,
            "name": "an endpoint",
            "description": "Receives what happens to orders, and is described at some length here. "
            * 14,
            "url": f"{self._url}/{number}",
            "content_type": "application/json",
            "advanced_signatures": True,
            "http_timeout": 10,
            **limits,
        }
        secret = StoredSecret(
            uid="s", value="whsec_the-secret-of-an-endpoint", created_at=CREATED, updated_at=CREATED
        )
        self._endpoints.add(
            NewEndpoint(
                uid=uid,
                project=PROJECT,
                owner_id=None,
                active=True,
                receives=True,
                visible_from=0.0,
                document=msgspec.json.encode(document),
                credentials=None,
                secrets=encoded_secrets([secret]),
                updated_at=CREATED,
            )
        )

    def accept(self, number: int) -> list[str]:
        """Store an event; the uids of the endpoints that it reaches, which the caller lets the
        engine know.
        """
        now = time.time()
        reached = self._endpoints.reached(PROJECT, now=now, without_owner=True)
        event = NewEvent(
            uid=f"event-{number:09}",
            project=PROJECT,
            original_key=None,
            event_type="order.paid",
            payload=numbered(number),
            headers=b"{}",
            document=b"{}",
        )
        self._events.add(event, reached=reached, now=now)
        return [endpoint.uid for endpoint in reached]

    async def drained(self) -> None:
        """Wait until nothing is pending."""
        while self._database.read(PENDING).fetchone()[0]:  # noqa: ASYNC110  the store tells nobody
            await asyncio.sleep(POLL_S)

    def commit(self) -> None:
        """Write what was accepted."""
        self._database.commit()

    def close(self) -> None:
        """Let go of the store."""
        self._database.close()


@asynccontextmanager
async def bench_of(
    options: argparse.Namespace, endpoints: int, **limits: int
) -> AsyncIterator[ExperimentContext]:
    """A bench with its endpoints, for as long as it is needed."""
    bench = ExperimentContext(options)
    for number in range(endpoints):
        bench.add_endpoint(number, **limits)
    try:
        yield bench
    finally:
        await bench.engine.stop(1.0)
        bench.close()


def settle() -> None:
    """What the server does at its start: leave what lives for ever out of garbage collection."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


async def bare(options: argparse.Namespace) -> dict[str, Any]:
    """Ready bytes with ready headers, and nothing else."""
    context = ssl.create_default_context(cafile=options.ca)
    headers = {
        "Content-Type": "application/json",
        "X-Webhook-Event-Id": "event-000000001",
        "X-Webhook-Attempt": "1",
        "X-Webhook-Signature": f"t=1800000000,v1={'0' * 64}",
        "User-Agent": "hookproof",
    }
    body, jobs = numbered(1), iter(repeat(None, options.count))
    settle()
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=IN_FLIGHT, ssl=context)
    ) as session:

        async def post() -> None:
            for _ in jobs:
                async with session.post(f"{options.url}/0", data=body, headers=headers) as response:
                    await response.read()

        began, used = time.monotonic(), time.process_time()
        await asyncio.gather(*(post() for _ in range(IN_FLIGHT)))
    return {"began": began, "cpu_s": time.process_time() - used}


async def one(options: argparse.Namespace) -> dict[str, Any]:
    """A backlog of events for one endpoint, whose rate limit is reckoned with and never reached."""
    async with bench_of(options, 1, rate_limit=FREE, rate_limit_duration=1) as bench:
        for number in range(options.count):
            bench.accept(number)
        settle()
        await bench.engine.start()
        began, used = time.monotonic(), time.process_time()
        await bench.drained()
    return {"began": began, "cpu_s": time.process_time() - used}


async def fan_out(options: argparse.Namespace) -> dict[str, Any]:
    """One event to many endpoints, after another one that has opened the connections."""
    async with bench_of(options, options.count, rate_limit=FREE, rate_limit_duration=1) as bench:
        await bench.engine.start()
        settle()
        for number in range(2):
            began, used = time.monotonic(), time.process_time()
            bench.engine.wake(bench.accept(number))
            await bench.drained()
    return {"began": began, "cpu_s": time.process_time() - used}


async def steady(options: argparse.Namespace) -> dict[str, Any]:
    """Events to one endpoint at `--rate` a second."""
    accepted = []
    async with bench_of(options, 1, rate_limit=FREE, rate_limit_duration=1) as bench:
        await bench.engine.start()
        settle()
        began, used = time.monotonic(), time.process_time()
        for number in range(options.count):
            # Also when it is late: each request to an API has a turn of the event loop of its own.
            await asyncio.sleep(max(0.0, began + number / options.rate - time.monotonic()))
            accepted.append(time.monotonic())
            bench.engine.wake(bench.accept(number))
        await bench.drained()
    return {"began": began, "cpu_s": time.process_time() - used, "accepted": accepted}


async def paced(options: argparse.Namespace) -> dict[str, Any]:
    """An endpoint of 50 requests a second with more than it can take."""
    async with bench_of(options, 1, rate_limit=50, rate_limit_duration=1) as bench:
        for number in range(options.count):
            bench.accept(number)
        settle()
        began, used = time.monotonic(), time.process_time()
        await bench.engine.start()
        await asyncio.sleep(options.seconds)
    return {"began": began, "cpu_s": time.process_time() - used}


WORKS: Final[dict[str, Callable[[argparse.Namespace], Awaitable[dict[str, Any]]]]] = {
    "bare": bare,
    "one": one,
    "fan-out": fan_out,
    "steady": steady,
    "paced": paced,
}


def main() -> None:
    """Run as a script."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", choices=WORKS)
    parser.add_argument("--url", required=True)
    parser.add_argument("--ca", required=True)
    parser.add_argument("--db", help="keep the store in this file")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--rate", type=float, default=1000.0)
    parser.add_argument("--seconds", type=float, default=31.0)
    options = parser.parse_args()

    async def run() -> dict[str, Any]:
        return await WORKS[options.work](options)

    sys.stdout.write(json.dumps(uvloop.run(run())) + "\n")


if __name__ == "__main__":
    main()
