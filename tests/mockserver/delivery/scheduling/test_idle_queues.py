"""Lanes that rest: each is looked at once when its rest is over, none too early, and none after all
were sent away.
"""

import asyncio

from hookproof.mockserver.delivery.scheduling.endpoint_queue import Lane
from hookproof.mockserver.delivery.scheduling.idle_queues import Resting
from tests.mockserver.delivery.endpoints import Authority, always_ok, serving
from tests.mockserver.delivery.engines import engine
from tests.mockserver.delivery.memory_store import MemoryStore, settings


def test_a_lane_is_looked_at_once_and_not_before_its_rest_is_over() -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        looked: list[tuple[str, float]] = []
        over = asyncio.Event()

        def look(lane: Lane) -> None:
            looked.append((lane.endpoint_uid, loop.time()))
            if lane.endpoint_uid == "late":
                over.set()

        resting, early, late = Resting(look), Lane("early"), Lane("late")
        began = loop.time()
        resting.add(late, 0.3)
        for _ in range(2):
            resting.add(early, 0.1)
        async with asyncio.timeout(60):
            await over.wait()
        assert [uid for uid, _ in looked] == ["early", "late"]
        assert [at - began >= rest for (_, at), rest in zip(looked, (0.1, 0.3), strict=True)] == [
            True,
            True,
        ]
        assert not early.resting

    asyncio.run(run())


def test_a_lane_may_rest_again_as_it_is_looked_at() -> None:
    async def run() -> None:
        looks = 0
        over = asyncio.Event()

        def look(lane: Lane) -> None:
            nonlocal looks
            looks += 1
            if looks < 3:
                resting.add(lane, 0.0)
            else:
                over.set()

        resting = Resting(look)
        resting.add(Lane("a"), 0.0)
        async with asyncio.timeout(60):
            await over.wait()

    asyncio.run(run())


def test_nobody_is_looked_at_after_all_were_sent_away() -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        looked: list[Lane] = []
        faults: list[object] = []
        loop.set_exception_handler(lambda _, fault: faults.append(fault))
        resting, later = Resting(looked.append), asyncio.Event()
        resting.add(Lane("a"), 0.0)
        resting.clear()
        loop.call_later(0.2, later.set)
        await later.wait()
        assert not looked
        assert not faults

    asyncio.run(run())


def test_the_engine_forgets_an_endpoint_whose_rate_limit_is_empty_and_takes_it_up_again(
    authority: Authority,
) -> None:
    async def run() -> None:
        store = MemoryStore()
        async with (
            serving(always_ok, authority.context()) as endpoint,
            engine(store, authority.file) as running,
        ):
            store.on_accept = running.wake
            store.endpoints["e"] = settings("e", endpoint.url, rate_limit=2, rate_window_s=1)
            lanes = running._dispatcher._lanes
            for _ in range(2):
                for _ in range(3):
                    store.accept("e")
                    await store.until_final()
                    assert list(lanes) == ["e"]
                async with asyncio.timeout(60):
                    while lanes:  # noqa: ASYNC110  the engine tells nobody
                        await asyncio.sleep(0.01)

    asyncio.run(run())
