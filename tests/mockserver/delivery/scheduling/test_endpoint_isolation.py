"""No endpoint delays another one, and pending deliveries need no memory of the engine."""

import asyncio
import logging
from collections.abc import Sequence

import pytest

from hookproof.mockserver.delivery.scheduling.attempt_limits import (
    ConcurrencyBounds,
    ConcurrencyLimit,
)
from hookproof.mockserver.delivery.scheduling.endpoint_queue import EndpointQueue
from hookproof.mockserver.delivery.store_port import DeliveryState, Record
from tests.mockserver.delivery.endpoints import (
    EndpointRequest,
    LoopbackAuthority,
    always_ok,
    answering,
    never_answers,
    reply,
    serving,
)
from tests.mockserver.delivery.engines import PROMPT, dialect, engine
from tests.mockserver.delivery.memory_store import MemoryStore, settings
from tests.mockserver.delivery.scenario import running


@pytest.mark.parametrize("hanging", [1, 40])
async def test_endpoints_that_hang_delay_no_other_endpoint(
    authority: LoopbackAuthority, hanging: int
) -> None:
    """They hang for a minute, and there are more of them than attempts may run at once."""
    store = MemoryStore()
    async with (
        serving(never_answers, authority.context()) as bad,
        serving(always_ok, authority.context()) as good,
        engine(
            store, authority.file, bounds=ConcurrencyBounds(young=8, patience_s=0.02)
        ) as running,
    ):
        store.on_accept = running.wake
        for number in range(hanging):
            store.endpoints[f"bad{number}"] = settings(f"bad{number}", bad.url, http_timeout_s=60)
            for _ in range(20):
                store.accept(f"bad{number}")
        store.endpoints["good"] = settings("good", good.url)
        healthy = [store.accept("good") for _ in range(200)]
        await store.until_final(*healthy)
        assert {store.states[delivery] for delivery in healthy} == {DeliveryState.DELIVERED}


async def test_a_failing_endpoint_delays_no_other_endpoint(authority: LoopbackAuthority) -> None:
    store = MemoryStore()
    slow = dialect(retry={"initial_s": 30, "jitter": 0})
    async with (
        serving(answering(reply(500)), authority.context()) as bad,
        serving(always_ok, authority.context()) as good,
        engine(store, authority.file, slow) as running,
    ):
        store.on_accept = running.wake
        store.endpoints["bad"] = settings("bad", bad.url)
        store.endpoints["good"] = settings("good", good.url)
        failing = [store.accept("bad") for _ in range(50)]
        healthy = [store.accept("good") for _ in range(50)]
        await store.until_final(*healthy)
        await store.until(lambda: all(delivery in store.outcomes for delivery in failing))
        assert len(bad.arrived) == 50


async def test_an_endpoint_that_answers_gets_more_attempts_at_once_up_to_its_bound(
    authority: LoopbackAuthority,
) -> None:
    requests = under_way = highest = 0
    release = asyncio.Event()

    async def counting(request: EndpointRequest, writer: asyncio.StreamWriter) -> None:
        nonlocal requests, under_way, highest
        requests += 1
        if requests > 30:
            under_way += 1
            highest = max(highest, under_way)
            if under_way == 5:
                release.set()
            await release.wait()
            under_way -= 1
        await always_ok(request, writer)

    async with running(authority, counting, bounds=ConcurrencyBounds(per_endpoint=5)) as (
        store,
        endpoint,
    ):
        store.endpoints["e"] = settings("e", endpoint.url)
        for _ in range(100):
            store.accept("e")
        await store.until_final()
        assert highest == 5
        assert endpoint.connections <= 6


async def test_a_pending_delivery_needs_no_task(authority: LoopbackAuthority) -> None:
    store = MemoryStore()
    async with (
        serving(never_answers, authority.context()) as bad,
        engine(store, authority.file) as running,
    ):
        store.endpoints["e"] = settings("e", bad.url, http_timeout_s=60)
        for _ in range(20_000):
            store.accept("e")
        running.wake(["e"])
        await bad.wait_for_requests(1)
        assert len(asyncio.all_tasks()) < 10


async def test_one_event_reaches_a_thousand_endpoints_over_few_connections(
    authority: LoopbackAuthority,
) -> None:
    store = MemoryStore()
    async with (
        serving(always_ok, authority.context()) as endpoint,
        engine(store, authority.file, bounds=ConcurrencyBounds(young=32, patience_s=5)) as running,
    ):
        for number in range(1000):
            store.endpoints[f"e{number}"] = settings(f"e{number}", f"{endpoint.url}/{number}")
            store.accept(f"e{number}")
        running.wake(store.waiting_endpoints())
        await store.until_final()
        assert len(endpoint.arrived) == 1000
        assert len({request.target for request in endpoint.arrived}) == 1000
        assert endpoint.connections <= 64


async def test_a_store_that_fails_pauses_one_queue_and_no_other(
    authority: LoopbackAuthority, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record that cannot be written leaves the delivery pending, so it is sent again."""
    monkeypatch.setattr("hookproof.mockserver.delivery.scheduling.dispatcher.STORE_PAUSE_S", 0.05)

    class FailingStore(MemoryStore):
        failures = 2

        def record(self, records: Sequence[Record]) -> None:
            if self.failures and any(record.delivery.endpoint_uid == "a" for record in records):
                self.failures -= len(records) == 1
                raise OSError("no space left on device")
            super().record(records)

    with caplog.at_level(logging.ERROR):
        async with running(authority, store=FailingStore()) as (store, endpoint):
            for uid in "ab":
                store.endpoints[uid] = settings(uid, f"{endpoint.url}/{uid}")
                store.accept(uid)
            await store.until_final()
            assert len(endpoint.requests_at("/a")) == 3
            assert len(endpoint.requests_at("/b")) == 1
    assert "no space left" in caplog.text


def test_young_attempts_stop_counting_and_the_total_waits_for_an_end() -> None:
    limit = ConcurrencyLimit(ConcurrencyBounds(young=2, patience_s=1.0, total=3))
    limit.acquire(1, 0.0)
    limit.acquire(2, 0.5)
    assert limit.wait_s(0.75) == 0.25
    assert limit.wait_s(1.0) == 0
    limit.acquire(3, 1.0)
    assert limit.is_crowded
    assert limit.wait_s(100.0) > 1e9
    limit.release(1)
    assert limit.wait_s(100.0) == 0


async def test_a_delivery_that_waits_for_its_retry_does_not_delay_a_new_one(
    authority: LoopbackAuthority,
) -> None:
    async with running(
        authority,
        answering(reply(500), reply(200)),
        dialect(retry={**PROMPT, "initial_s": 600, "maximum_s": 600}),
    ) as (store, endpoint):
        store.endpoints["e"] = settings("e", endpoint.url)
        first = store.accept("e")
        await store.until(lambda: first in store.outcomes)
        second = store.accept("e")
        await store.until_final(second)
        assert store.states[first] is DeliveryState.PENDING
        assert store.states[second] is DeliveryState.DELIVERED
        assert [outcome.status for outcome in store.outcomes[first]] == [500]


def test_a_queue_widens_with_every_answer_and_is_halved_by_every_attempt_without() -> None:
    queue = EndpointQueue("e")
    for _ in range(20):
        queue.adapt_width(answered=True, bound=9)
    assert queue.width == 9
    widths = []
    for _ in range(5):
        queue.adapt_width(answered=False, bound=9)
        widths.append(queue.width)
    assert widths == [4, 2, 1, 1, 1]
