"""The senders of the delivery benchmark: `python -m tests.bench.sender WORK --url URL --ca FILE`.

`bare` is the baseline: the client of aiohttp in a loop, 64 requests at a time, with prepared bytes
and headers. The others run the whole engine on the store of the reference server. Each prints a
JSON line at its end: `began`, the monotonic second of the first acceptance; `cpu_s`, the processor
seconds used since; and for `steady` the seconds at which each numbered event was accepted.
"""

import argparse
import asyncio
import cProfile
import gc
import json
import logging
import random
import ssl
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from itertools import repeat
from typing import Any, Final

import aiohttp
import msgspec
import uvloop

from hookproof.mockserver.delivery.engine import DeliveryEngine
from hookproof.mockserver.delivery.http_client.egress import EgressGuard
from hookproof.mockserver.delivery.scheduling.attempt_limits import ConcurrencyBounds
from hookproof.mockserver.store.database import IN_MEMORY, Database
from hookproof.mockserver.store.deliveries import Deliveries
from hookproof.mockserver.store.endpoints import (
    EndpointTable,
    NewEndpoint,
    StoredSecret,
    encode_secrets,
)
from hookproof.mockserver.store.events import EventTable, NewEvent
from hookproof.spec.dialect.reader import load_dialect
from tests.bench.sink import numbered_body

IN_FLIGHT: Final = 64
PROJECT: Final = "p"
CREATED: Final = "2027-01-15T08:00:00Z"
POLL_S: Final = 0.02
DELIVERED_WITHIN_S: Final = 600.0
PENDING: Final = "SELECT EXISTS (SELECT 1 FROM deliveries WHERE due_at IS NOT NULL)"
# A rate limit that is checked and never reached.
UNREACHED_LIMIT: Final = 1_000_000


class StoredWorkload:
    """An engine and its store, with endpoints and events as the API stores them."""

    def __init__(self, options: argparse.Namespace) -> None:
        dialect = load_dialect("reference")
        self._database = Database(options.db or IN_MEMORY, dialect=dialect.name)
        self._endpoints = EndpointTable(self._database)
        self._events = EventTable(self._database)
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
        """Store an endpoint of about 1.4 kB."""
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
                secrets=encode_secrets([secret]),
                updated_at=CREATED,
            )
        )

    def accept(self, number: int) -> list[str]:
        """Store an event and return the uids of the endpoints that it reaches."""
        now = time.time()
        reached = self._endpoints.find_reached(PROJECT, now=now, without_owner=True)
        event = NewEvent(
            uid=f"event-{number:09}",
            project=PROJECT,
            original_key=None,
            event_type="order.paid",
            payload=numbered_body(number),
            headers=b"{}",
            document=b"{}",
        )
        self._events.add(event, reached=reached, now=now)
        return [endpoint.uid for endpoint in reached]

    async def wait_until_delivered(self) -> None:
        """Poll the store, which has no event for it, until no delivery is pending."""
        deadline = time.monotonic() + DELIVERED_WITHIN_S
        while self._database.read(PENDING).fetchone()[0]:
            if time.monotonic() > deadline:
                raise SystemExit(f"deliveries are pending after {DELIVERED_WITHIN_S:.0f} s")
            await asyncio.sleep(POLL_S)

    def close(self) -> None:
        self._database.close()


@asynccontextmanager
async def open_workload(
    options: argparse.Namespace, endpoints: int, **limits: int
) -> AsyncIterator[StoredWorkload]:
    """Open a workload with its endpoints; it is stopped and closed at the end."""
    workload = StoredWorkload(options)
    for number in range(endpoints):
        workload.add_endpoint(number, **limits)
    try:
        yield workload
    finally:
        await workload.engine.stop(1.0)
        workload.close()


def freeze_garbage_collection() -> None:
    """Exclude long-lived objects from garbage collection, as the server does at its start."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


async def bare(options: argparse.Namespace) -> dict[str, Any]:
    """Post prepared bytes with prepared headers, and nothing else."""
    context = ssl.create_default_context(cafile=options.ca)
    headers = {
        "Content-Type": "application/json",
        "X-Webhook-Event-Id": "event-000000001",
        "X-Webhook-Attempt": "1",
        "X-Webhook-Signature": f"t=1800000000,v1={'0' * 64}",
        "User-Agent": "hookproof",
    }
    body, jobs = numbered_body(1), iter(repeat(None, options.count))
    freeze_garbage_collection()
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


async def backlog(options: argparse.Namespace) -> dict[str, Any]:
    """Deliver a backlog to one endpoint, whose rate limit is checked and never reached."""
    async with open_workload(
        options, 1, rate_limit=UNREACHED_LIMIT, rate_limit_duration=1
    ) as workload:
        for number in range(options.count):
            workload.accept(number)
        freeze_garbage_collection()
        await workload.engine.start()
        began, used = time.monotonic(), time.process_time()
        with cProfile.Profile() if options.profile else nullcontext() as profile:
            await workload.wait_until_delivered()
    if profile is not None:
        profile.dump_stats(options.profile)
    return {"began": began, "cpu_s": time.process_time() - used}


async def fan_out(options: argparse.Namespace) -> dict[str, Any]:
    """Deliver one event to many endpoints, after another one that opened the connections."""
    async with open_workload(
        options, options.count, rate_limit=UNREACHED_LIMIT, rate_limit_duration=1
    ) as workload:
        await workload.engine.start()
        freeze_garbage_collection()
        for number in range(2):
            began, used = time.monotonic(), time.process_time()
            workload.engine.wake(workload.accept(number))
            await workload.wait_until_delivered()
    return {"began": began, "cpu_s": time.process_time() - used}


async def steady(options: argparse.Namespace) -> dict[str, Any]:
    """Accept events for one endpoint at `--rate` per second."""
    accepted = []
    async with open_workload(
        options, 1, rate_limit=UNREACHED_LIMIT, rate_limit_duration=1
    ) as workload:
        await workload.engine.start()
        freeze_garbage_collection()
        began, used = time.monotonic(), time.process_time()
        for number in range(options.count):
            # Paces the load. Also when it is late: each API request has its own turn of the loop.
            await asyncio.sleep(max(0.0, began + number / options.rate - time.monotonic()))
            accepted.append(time.monotonic())
            workload.engine.wake(workload.accept(number))
        await workload.wait_until_delivered()
    return {"began": began, "cpu_s": time.process_time() - used, "accepted": accepted}


async def paced(options: argparse.Namespace) -> dict[str, Any]:
    """Deliver a backlog to an endpoint that is limited to 50 requests per second."""
    async with open_workload(options, 1, rate_limit=50, rate_limit_duration=1) as workload:
        for number in range(options.count):
            workload.accept(number)
        freeze_garbage_collection()
        began, used = time.monotonic(), time.process_time()
        await workload.engine.start()
        await asyncio.sleep(options.seconds)  # the time that is measured
    return {"began": began, "cpu_s": time.process_time() - used}


WORKLOADS: Final[dict[str, Callable[[argparse.Namespace], Awaitable[dict[str, Any]]]]] = {
    "bare": bare,
    "one": backlog,
    "fan-out": fan_out,
    "steady": steady,
    "paced": paced,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", choices=WORKLOADS)
    parser.add_argument("--url", required=True)
    parser.add_argument("--ca", required=True)
    parser.add_argument("--db", help="keep the store in this file")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--rate", type=float, default=1000.0)
    parser.add_argument("--seconds", type=float, default=31.0)
    parser.add_argument("--profile", help="write what cProfile sees of the work `one` to this file")
    options = parser.parse_args()

    async def run() -> dict[str, Any]:
        return await WORKLOADS[options.work](options)

    sys.stdout.write(json.dumps(uvloop.run(run())) + "\n")


if __name__ == "__main__":
    main()
