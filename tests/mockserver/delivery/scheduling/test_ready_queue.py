"""The order in which endpoint queues take turns."""

from hookproof.mockserver.delivery.scheduling.attempt_limits import ConcurrencyBounds
from hookproof.mockserver.delivery.scheduling.endpoint_queue import EndpointQueue, ReadyQueue
from tests.mockserver.delivery.endpoints import LoopbackAuthority, always_ok, serving
from tests.mockserver.delivery.engines import engine
from tests.mockserver.delivery.memory_store import MemoryStore, settings


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
