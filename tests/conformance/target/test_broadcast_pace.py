"""Fewer broadcasts are under way while the target answers slowly, and always one."""

import asyncio

from hookproof.conformance.target.pacing import MOST_AT_ONCE, BroadcastPace


def pace_after(*took_s: float) -> BroadcastPace:
    pace = BroadcastPace()
    for each in took_s:
        pace.note_answer(each)
    return pace


def test_each_late_answer_halves_how_many_may_be_under_way() -> None:
    assert pace_after(0.01, 0.4).at_once == MOST_AT_ONCE
    assert pace_after(0.01, 0.6).at_once == MOST_AT_ONCE // 2
    assert pace_after(0.01, *[0.6] * 20).at_once == 1


def test_each_other_answer_allows_one_more() -> None:
    assert pace_after(0.01, *[0.6] * 20, 0.02, 0.02).at_once == 3
    assert pace_after(0.01, 0.6, *[0.02] * 99).at_once == MOST_AT_ONCE


def test_a_far_target_is_late_where_it_takes_many_times_as_long_as_at_its_best() -> None:
    assert pace_after(*[0.6] * 20).at_once == MOST_AT_ONCE
    assert pace_after(0.6, 6.1).at_once == MOST_AT_ONCE // 2


def test_a_broadcast_waits_while_as_many_are_under_way_as_may_be() -> None:
    async def broadcasts() -> None:
        pace = pace_after(0.01, *[0.6] * 20)
        begun, ends = ([asyncio.Event() for _ in range(3)] for _ in range(2))

        async def broadcast(number: int) -> None:
            async with pace.turn():
                begun[number].set()
                await ends[number].wait()

        def have_begun() -> list[bool]:
            return [each.is_set() for each in begun]

        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            for number in range(3):
                group.create_task(broadcast(number))
            await begun[0].wait()
            assert have_begun() == [True, False, False]
            pace.note_answer(0.02)
            await begun[1].wait()
            assert have_begun() == [True, True, False]
            ends[0].set()
            await begun[2].wait()
            ends[1].set()
            ends[2].set()

    asyncio.run(broadcasts())
