"""The rate limit of an endpoint, counted by the requests that arrive there (section 8)."""

import asyncio

import pytest

from hookproof.mockserver.delivery.store_port import DeliveryState, Failure
from tests.mockserver.delivery.endpoints import (
    EndpointRequest,
    LoopbackAuthority,
    Responder,
    always_ok,
    answering,
    reply,
    serving,
)
from tests.mockserver.delivery.engines import PROMPT, dialect, engine
from tests.mockserver.delivery.memory_store import MemoryStore, settings
from tests.mockserver.delivery.scenario import running

LIMIT = 4
# So long that its margin exceeds the time in which a busy machine reads a request.
WINDOW_S = 2.0


def overfull_spans(arrivals: list[float], limit: int, window_s: float) -> list[tuple[float, float]]:
    """Return the spans shorter than the window in which more than the limit arrived."""
    arrivals = sorted(arrivals)
    spans = zip(arrivals, arrivals[limit:], strict=False)
    return [(first, last) for first, last in spans if last - first < window_s]


async def answer_late(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(0.4)  # the time that a slow endpoint takes
    await always_ok(request, writer)


@pytest.mark.parametrize(
    "responder",
    [always_ok, answering(reply(500)), answer_late],
    ids=["answers", "fails", "answers late"],
)
async def test_in_no_window_more_arrive_than_the_limit_and_nothing_is_lost(
    authority: LoopbackAuthority, responder: Responder
) -> None:
    async with running(authority, responder, dialect(retry={**PROMPT, "attempts": 2})) as (
        store,
        endpoint,
    ):
        store.endpoints["e"] = settings("e", endpoint.url, rate_limit=LIMIT, rate_window_s=WINDOW_S)
        for _ in range(2 * LIMIT):
            store.accept("e")
        await store.until_final()
        attempts = [len(outcomes) for outcomes in store.outcomes.values()]
        assert len(attempts) == 2 * LIMIT
        assert len(endpoint.arrived) == sum(attempts)
        assert overfull_spans([request.at for request in endpoint.arrived], LIMIT, WINDOW_S) == []


async def test_the_limit_of_one_endpoint_does_not_delay_another(
    authority: LoopbackAuthority,
) -> None:
    async with running(authority) as (store, endpoint):
        store.endpoints["slow"] = settings("slow", endpoint.url, rate_limit=1, rate_window_s=3600)
        store.endpoints["free"] = settings("free", endpoint.url)
        first, *later = [store.accept("slow") for _ in range(50)]
        free = [store.accept("free") for _ in range(50)]
        await store.until_final(*free, first)
        assert {store.states[delivery] for delivery in later} == {DeliveryState.PENDING}


async def test_the_limit_holds_across_a_restart(authority: LoopbackAuthority) -> None:
    store = MemoryStore()
    async with serving(always_ok, authority.context()) as endpoint:
        store.endpoints["e"] = settings("e", endpoint.url, rate_limit=3, rate_window_s=WINDOW_S)
        for _ in range(6):
            store.accept("e")
        async with engine(store, authority.file):
            await endpoint.wait_for_requests(3)
        async with engine(store, authority.file):
            await store.until_final()
        assert overfull_spans([request.at for request in endpoint.arrived], 3, WINDOW_S) == []


async def test_starts_are_recorded_for_limited_endpoints_alone(
    authority: LoopbackAuthority,
) -> None:
    async with running(authority) as (store, endpoint):
        store.endpoints["limited"] = settings("limited", endpoint.url, rate_limit=5)
        store.endpoints["free"] = settings("free", endpoint.url)
        store.accept("limited")
        store.accept("free")
        await store.until_final()
        assert {uid: len(starts) for uid, starts in store.starts.items()} == {"limited": 1}


async def test_a_dialect_may_drop_deliveries_above_the_limit(authority: LoopbackAuthority) -> None:
    async with running(authority, answers=dialect(delivery={"excess": "dropped"})) as (
        store,
        endpoint,
    ):
        store.endpoints["e"] = settings("e", endpoint.url, rate_limit=4, rate_window_s=3600)
        deliveries = [store.accept("e") for _ in range(600)]
        await store.until_final()
        states = [store.states[delivery] for delivery in deliveries]
        assert states == [DeliveryState.DELIVERED] * 4 + [DeliveryState.DROPPED] * 596
        [outcome] = store.outcomes[deliveries[-1]]
        assert (outcome.number, outcome.failure) == (None, Failure.RATE_LIMIT)
