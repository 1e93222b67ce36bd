"""Endpoint queues take turns, and idle ones are reported once, after their delay."""

import asyncio

from hookproof.mockserver.delivery.scheduling.attempt_limits import ConcurrencyBounds
from hookproof.mockserver.delivery.scheduling.endpoint_queue import (
    EndpointQueue,
    IdleQueues,
    ReadyQueue,
)
from tests.mockserver.delivery.endpoints import LoopbackAuthority, always_ok, serving
from tests.mockserver.delivery.engines import engine
from tests.mockserver.delivery.memory_store import MemoryStore, settings
from tests.mockserver.polling import poll_until


def test_fresh_queues_and_those_with_a_backlog_alternate() -> None:
    ready = ReadyQueue()
    for uid in "abc":
        ready.add(EndpointQueue(uid), fresh=False)
    for uid in "xy":
        ready.add(EndpointQueue(uid), fresh=True)
    order = []
    while ready:
        order.append(ready.pop().endpoint_uid)
    assert order == ["x", "a", "y", "b", "c"]


def test_a_queue_waits_once() -> None:
    ready, queue = ReadyQueue(), EndpointQueue("a")
    ready.add(queue, fresh=False)
    ready.add(queue, fresh=True)
    assert ready.pop() is queue
    assert not ready


async def test_a_quiet_endpoint_does_not_wait_for_hundreds_with_a_backlog(
    authority: LoopbackAuthority,
) -> None:
    store = MemoryStore()
    async with serving(always_ok, authority.context()) as endpoint:
        for uid in map(str, range(300)):
            store.endpoints[uid] = settings(uid, f"{endpoint.url}/crowd")
            for _ in range(3):
                store.accept(uid)
        store.endpoints["quiet"] = settings("quiet", f"{endpoint.url}/quiet")
        async with engine(store, authority.file, bounds=ConcurrencyBounds(young=4)) as running:
            await endpoint.wait_for_requests(20)
            store.on_accept = running.wake
            before = len(endpoint.arrived)
            await store.until_final(store.accept("quiet"))
            assert len(endpoint.requests_at("/crowd")) < before + 150
            await store.until_final()


async def test_a_queue_is_reported_once_and_not_before_its_delay_is_over() -> None:
    loop = asyncio.get_running_loop()
    reported: list[tuple[str, float]] = []
    finished = asyncio.Event()

    def report(queue: EndpointQueue) -> None:
        reported.append((queue.endpoint_uid, loop.time()))
        if queue.endpoint_uid == "late":
            finished.set()

    idle, early, late = IdleQueues(report), EndpointQueue("early"), EndpointQueue("late")
    started = loop.time()
    idle.add(late, 0.3)
    for _ in range(2):
        idle.add(early, 0.1)
    async with asyncio.timeout(60):
        await finished.wait()
    (early_uid, early_at), (late_uid, late_at) = reported
    assert (early_uid, late_uid) == ("early", "late")
    assert early_at - started >= 0.1
    assert late_at - started >= 0.3
    assert not early.in_idle_queues


async def test_a_queue_may_be_added_again_when_it_is_reported() -> None:
    reports = 0
    finished = asyncio.Event()

    def report(queue: EndpointQueue) -> None:
        nonlocal reports
        reports += 1
        if reports < 3:
            idle.add(queue, 0.0)
        else:
            finished.set()

    idle = IdleQueues(report)
    idle.add(EndpointQueue("a"), 0.0)
    async with asyncio.timeout(60):
        await finished.wait()


async def test_no_queue_is_reported_after_clear() -> None:
    loop = asyncio.get_running_loop()
    reported: list[str] = []
    errors: list[object] = []
    later = asyncio.Event()

    def report(queue: EndpointQueue) -> None:
        reported.append(queue.endpoint_uid)
        if queue.endpoint_uid == "later":
            later.set()

    loop.set_exception_handler(lambda _, error: errors.append(error))
    idle = IdleQueues(report)
    idle.add(EndpointQueue("cleared"), 0.0)
    idle.clear()
    idle.add(EndpointQueue("later"), 0.1)
    async with asyncio.timeout(60):
        await later.wait()
    assert reported == ["later"]
    assert not errors


async def test_the_engine_removes_a_queue_when_its_rate_limit_counts_nothing_and_creates_it_again(
    authority: LoopbackAuthority,
) -> None:
    store = MemoryStore()
    async with (
        serving(always_ok, authority.context()) as endpoint,
        engine(store, authority.file) as running,
    ):
        store.on_accept = running.wake
        store.endpoints["e"] = settings("e", endpoint.url, rate_limit=2, rate_window_s=1)
        queues = running._dispatcher._queues

        async def no_queue_left() -> bool:
            return not queues

        for _ in range(2):
            for _ in range(3):
                store.accept("e")
                await store.until_final()
                assert list(queues) == ["e"]
            await poll_until(no_queue_left)
