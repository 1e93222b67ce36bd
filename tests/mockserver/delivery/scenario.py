"""Runs a scenario of a test: with a store, an endpoint and a running engine."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from hookproof.spec.dialect.model import Dialect
from tests.mockserver.delivery.endpoints import (
    EndpointServer,
    LoopbackAuthority,
    Responder,
    always_ok,
    serving,
)
from tests.mockserver.delivery.engines import engine
from tests.mockserver.delivery.memory_store import MemoryStore, settings

Scenario = Callable[[MemoryStore, EndpointServer], Awaitable[None]]


def run_scenario(
    authority: LoopbackAuthority,
    scenario: Scenario,
    responder: Responder = always_ok,
    answers: Dialect | None = None,
    *,
    store: MemoryStore | None = None,
    **options: Any,
) -> None:
    """Run a scenario; `options` are those of the engine. Accepted deliveries wake the engine."""
    memory = store or MemoryStore()

    async def run() -> None:
        async with (
            serving(responder, authority.context()) as endpoint,
            engine(memory, authority.file, answers, **options) as running,
        ):
            memory.on_accept = running.wake
            await scenario(memory, endpoint)

    asyncio.run(run())


def run_with_endpoint(
    authority: LoopbackAuthority,
    scenario: Scenario,
    responder: Responder = always_ok,
    answers: Dialect | None = None,
    **options: Any,
) -> None:
    """Run a scenario whose store knows the endpoint as `e`, at /e."""

    async def with_endpoint(store: MemoryStore, endpoint: EndpointServer) -> None:
        store.endpoints["e"] = settings("e", f"{endpoint.url}/e")
        await scenario(store, endpoint)

    run_scenario(authority, with_endpoint, responder, answers, **options)
