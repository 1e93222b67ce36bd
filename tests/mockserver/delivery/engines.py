"""Runs a delivery engine for a test: on the real clock, with a changed dialect, without leaks."""

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import hookproof.mockserver.delivery.engine
from hookproof.mockserver.delivery.engine import DeliveryEngine
from hookproof.mockserver.delivery.http_client.egress import EgressGuard, Resolve
from hookproof.mockserver.delivery.scheduling.attempt_limits import ConcurrencyBounds
from hookproof.mockserver.delivery.store_port import Clock
from hookproof.mockserver.store.database import Database
from hookproof.mockserver.store.deliveries import Deliveries
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect_mapping
from tests.mockserver.delivery.memory_store import MemoryStore

# Answers of a dialect that make retries follow soon.
PROMPT = {"initial_s": 0.01, "factor": 1, "maximum_s": 0.05, "jitter": 0}


def dialect(extends: str = "reference", **groups: Mapping[str, Any]) -> Dialect:
    """Return a shipped dialect with some answers changed, by group."""
    mapping = {"extends": extends, "name": "changed", "summary": "for one test", **groups}
    return load_dialect_mapping(mapping, "a test")


def runs_engine_code(task: "asyncio.Task[Any]") -> bool:
    code = getattr(task.get_coro(), "cr_code", None)
    return code is not None and Path(code.co_filename).is_relative_to(
        Path(hookproof.mockserver.delivery.engine.__file__).parent
    )


def engine_on(database: Database, answers: Dialect, ca_file: Path) -> DeliveryEngine:
    """An engine, not started yet, whose deliveries are in this database."""
    return DeliveryEngine(
        Deliveries(database, answers, time.time),
        answers,
        clock=time.time,
        rng=random.Random(7),
        ca_file=ca_file,
        egress=EgressGuard(),
        log=logging.getLogger("test.delivery"),
    )


@asynccontextmanager
async def engine(
    store: MemoryStore,
    ca_file: Path,
    answers: Dialect | None = None,
    *,
    clock: Clock = time.time,
    allow: tuple[str, ...] = (),
    resolve: Resolve | None = None,
    bounds: ConcurrencyBounds | None = None,
    answered_requests: Callable[[], int] = lambda: 0,
    grace_s: float = 0.0,
) -> AsyncIterator[DeliveryEngine]:
    """Run an engine; after it was stopped, none of its tasks may be left."""
    running = DeliveryEngine(
        store,
        answers or dialect(retry=PROMPT),
        clock=clock,
        rng=random.Random(7),
        ca_file=ca_file,
        egress=EgressGuard([ip_network(text) for text in allow], resolve),
        log=logging.getLogger("test.delivery"),
        bounds=bounds,
        answered_requests=answered_requests,
    )
    await running.start()
    try:
        yield running
    finally:
        await running.stop(grace_s)
        assert [task for task in asyncio.all_tasks() if runs_engine_code(task)] == []
