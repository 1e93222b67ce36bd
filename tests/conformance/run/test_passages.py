"""Which broadcasts wait for which experiments in the same project."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace

from hookproof.conformance.model.experiment_registry import Sharing
from hookproof.conformance.run.schedule import Passages
from hookproof.conformance.target.definition import Project
from tests.conformance.run.test_schedule import projects, schedule

MARKER = b"event-of-this-run"
(PROJECT,) = projects(1)
# First, beside others, early and first again.
NAMES = "abhij"


def run(test: Callable[[Passages], Coroutine[None, None, None]], names: str = NAMES) -> None:
    async def with_passages() -> None:
        await test(Passages(schedule(1, names=names), [PROJECT], MARKER))

    asyncio.run(with_passages())


async def waits(passage: Awaitable[None]) -> asyncio.Task[None] | None:
    """The task that waits to pass, or None if it has passed."""
    task = asyncio.ensure_future(passage)
    await asyncio.sleep(0)
    if task.done():
        return None
    return task  # type: ignore[return-value]


def test_broadcasts_wait_in_the_projects_of_those_that_go_first() -> None:
    async def with_two_projects() -> list[str]:
        passages, passed = Passages(schedule(2), projects(2), MARKER), list[str]()

        async def broadcast(project: Project) -> None:
            await passages.passed("c", project, MARKER)
            passed.append(project.id)

        waiting = [asyncio.create_task(broadcast(project)) for project in projects(3)]
        await asyncio.wait(waiting[1:])
        assert not waiting[0].done()
        passages.release("b")
        await asyncio.sleep(0)
        assert not waiting[0].done()
        passages.release("a")
        await waiting[0]
        assert passages.interrupted == set()
        return passed

    assert asyncio.run(with_two_projects()) == ["p2", "p3", "p1"]


def test_those_that_go_first_and_the_loud_ones_wait_for_nobody() -> None:
    async def test(passages: Passages) -> None:
        assert await waits(passages.passed("b", PROJECT, b"")) is None
        assert await waits(passages.passed("a", PROJECT, b"")) is None
        assert await waits(passages.passed("i", PROJECT, b"")) is None

    run(test)


def test_marked_broadcasts_may_pass_before_the_others() -> None:
    async def test(passages: Passages) -> None:
        unmarked = await waits(passages.passed("j", PROJECT, b'{"data": {}}'))
        marked = await waits(passages.passed("j", PROJECT, b'{"data": "%s-1"}' % MARKER))
        assert marked
        assert unmarked
        passages.release("a", only_marked=True)
        await marked
        assert not unmarked.done()
        passages.release("a")
        await unmarked

    run(test, "aj")


def test_early_broadcasts_wait_for_nothing_and_others_for_all_that_go_first() -> None:
    async def test(passages: Passages) -> None:
        assert await waits(passages.passed("h", PROJECT, b"")) is None
        other = await waits(passages.passed("j", PROJECT, b""))
        assert other
        passages.release("a")
        await asyncio.sleep(0)
        assert not other.done()
        passages.release("i")
        await other

    run(test)


def test_others_begin_when_the_early_ones_have_broadcast_which_wait_from_then_on() -> None:
    async def test(passages: Passages) -> None:
        passages.release("a")
        goes_first = await waits(passages.others_passed("i", PROJECT))
        other = await waits(passages.others_passed("j", PROJECT))
        assert goes_first
        assert other
        assert await waits(passages.passed("h", PROJECT, b"")) is None
        passages.release("h")
        await goes_first
        assert not other.done()
        passages.release("i", only_marked=True)
        await other
        later = await waits(passages.passed("h", PROJECT, b""))
        assert later
        passages.release("i")
        await later

    run(test)


def test_early_ones_wait_for_those_that_have_fewer_endpoints_for_their_broadcasts() -> None:
    async def test() -> None:
        planned = schedule(1, names="hj")
        weights = {"h": (3, 9), "j": (1, 30)}
        early = [
            replace(each, endpoints=weights[each.name][0], broadcasts=weights[each.name][1])
            for each in planned.experiments
        ]
        sharing = dict.fromkeys(weights, Sharing.EARLY)
        planned = replace(planned, experiments=tuple(early), sharing=sharing)
        passages = Passages(planned, [PROJECT], MARKER)
        assert await waits(passages.others_passed("j", PROJECT)) is None
        heavier = await waits(passages.others_passed("h", PROJECT))
        assert heavier
        passages.release("j")
        await heavier

    asyncio.run(test())


def test_early_ones_that_take_too_long_are_like_the_others() -> None:
    async def test(passages: Passages) -> None:
        passages.release("a")
        passages.release_early(PROJECT)
        assert await waits(passages.others_passed("i", PROJECT)) is None
        waiting = await waits(passages.passed("h", PROJECT, b""))
        assert waiting
        assert passages.interrupted == set()
        waiting.cancel()

    run(test)


def test_what_is_released_in_one_project_is_held_back_in_others() -> None:
    async def with_two_projects() -> None:
        passages = Passages(schedule(2, names="acj"), [here, there], MARKER)
        assert await waits(passages.passed("c", here, b""))
        passages.release_all(there)
        still = await waits(passages.passed("c", here, b""))
        assert still
        passages.release_all(here)
        await still
        assert passages.interrupted == {"a"}

    here, there = projects(2)
    asyncio.run(with_two_projects())


def test_broadcasts_that_waited_too_long_pass_and_interrupt_those_that_went_first() -> None:
    async def test(passages: Passages) -> None:
        passages.release_all(PROJECT)
        await passages.passed("j", PROJECT, b"")
        await passages.others_passed("j", PROJECT)
        assert passages.interrupted == {"a", "i"}

    run(test)


def test_what_is_generated_waits_for_nobody_until_others_have_begun() -> None:
    async def test() -> None:
        planned = schedule(1, names=NAMES)
        generated = [replace(each, generates=each.name == "j") for each in planned.experiments]
        passages = Passages(replace(planned, experiments=tuple(generated)), [PROJECT], MARKER)
        assert not passages.others_receive(PROJECT)
        assert await waits(passages.passed("j", PROJECT, b"")) is None
        passages.note_receivers(PROJECT)
        assert passages.others_receive(PROJECT)
        task = await waits(passages.passed("j", PROJECT, b""))
        assert task is not None
        task.cancel()

    asyncio.run(test())
