"""Whose turn it is."""

import asyncio

from hookproof.mockserver.delivery.scheduling.concurrency_limit import Bounds
from hookproof.mockserver.delivery.scheduling.endpoint_queue import Lane
from hookproof.mockserver.delivery.scheduling.ready_queue import Line
from tests.mockserver.delivery.endpoints import Authority, always_ok, serving
from tests.mockserver.delivery.engines import engine
from tests.mockserver.delivery.memory_store import MemoryStore, settings


def test_fresh_lanes_and_those_with_a_backlog_take_turns() -> None:
    line = Line()
    for uid in "abc":
        line.join(Lane(uid), fresh=False)
    for uid in "xy":
        line.join(Lane(uid), fresh=True)
    order = []
    while line:
        order.append(line.next().endpoint_uid)
    assert order == ["x", "a", "y", "b", "c"]


def test_a_lane_stands_in_the_line_once() -> None:
    line, lane = Line(), Lane("a")
    line.join(lane, fresh=False)
    line.join(lane, fresh=True)
    assert line.next() is lane
    assert not line


def test_a_quiet_endpoint_passes_by_hundreds_with_a_backlog(authority: Authority) -> None:
    async def run() -> None:
        store = MemoryStore()
        async with serving(always_ok, authority.context()) as sink:
            for uid in map(str, range(300)):
                store.endpoints[uid] = settings(uid, f"{sink.url}/crowd")
                for _ in range(3):
                    store.accept(uid)
            store.endpoints["quiet"] = settings("quiet", f"{sink.url}/quiet")
            async with engine(store, authority.file, bounds=Bounds(young=4)) as running:
                await sink.until(20)
                store.on_accept = running.wake
                before = len(sink.arrived)
                await store.until_final(store.accept("quiet"))
                assert len(sink.at("/crowd")) < before + 150
                await store.until_final()

    asyncio.run(run())
