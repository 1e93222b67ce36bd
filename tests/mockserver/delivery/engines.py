"""A delivery engine for a test: a dialect with a few answers changed, the real clock, and nothing
left behind.
"""

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
from hookproof.mockserver.delivery.scheduling.concurrency_limit import Bounds
from hookproof.mockserver.delivery.store_port import Clock
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect_mapping
from tests.mockserver.delivery.memory_store import MemoryStore

# Retry answers that let a test see several attempts soon.
PROMPT = {"initial_s": 0.01, "factor": 1, "maximum_s": 0.05, "jitter": 0}


def dialect(extends: str = "reference", **groups: Mapping[str, Any]) -> Dialect:
    """A shipped dialect with some answers changed, by group."""
    mapping = {"extends": extends, "name": "changed", "summary": "for one test", **groups}
    return load_dialect_mapping(mapping, "a test")


def of_the_engine(task: "asyncio.Task[Any]") -> bool:
    """Whether a task runs code of the engine."""
    code = getattr(task.get_coro(), "cr_code", None)
    return code is not None and Path(code.co_filename).is_relative_to(
        Path(hookproof.mockserver.delivery.engine.__file__).parent
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
    bounds: Bounds | None = None,
    answered: Callable[[], int] = lambda: 0,
    grace_s: float = 0.0,
) -> AsyncIterator[DeliveryEngine]:
    """A running engine; at the end it is stopped, and no task of it is left."""
    running = DeliveryEngine(
        store,
        answers or dialect(retry=PROMPT),
        clock=clock,
        rng=random.Random(7),
        ca_file=ca_file,
        egress=EgressGuard([ip_network(text) for text in allow], resolve),
        log=logging.getLogger("test.delivery"),
        bounds=bounds,
        answered=answered,
    )
    await running.start()
    try:
        yield running
    finally:
        await running.stop(grace_s)
        assert [task for task in asyncio.all_tasks() if of_the_engine(task)] == []
