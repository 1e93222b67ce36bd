"""A store, an endpoint and a running engine, for the block of a test."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
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


@asynccontextmanager
async def running(
    authority: LoopbackAuthority,
    responder: Responder = always_ok,
    answers: Dialect | None = None,
    *,
    store: MemoryStore | None = None,
    **options: Any,
) -> AsyncIterator[tuple[MemoryStore, EndpointServer]]:
    """`options` are those of the engine. Accepted deliveries wake it."""
    memory = store or MemoryStore()
    async with (
        serving(responder, authority.context()) as endpoint,
        engine(memory, authority.file, answers, **options) as started,
    ):
        memory.on_accept = started.wake
        yield memory, endpoint


@asynccontextmanager
async def running_with_endpoint(
    authority: LoopbackAuthority,
    responder: Responder = always_ok,
    answers: Dialect | None = None,
    **options: Any,
) -> AsyncIterator[tuple[MemoryStore, EndpointServer]]:
    """As `running`, with a store that knows the endpoint as `e`, at /e."""
    async with running(authority, responder, answers, **options) as (store, endpoint):
        store.endpoints["e"] = settings("e", f"{endpoint.url}/e")
        yield store, endpoint
