"""Which broadcasts wait for which experiments in the same project."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine

from hookproof.conformance.run.gathering.passages import Passages
from hookproof.conformance.target.definition import Project
from tests.conformance.run.gathering.test_schedule import projects, schedule

MARKER = b"event-of-this-run"
(PROJECT,) = projects(1)
# First, beside others, early and second.
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


def test_early_broadcasts_wait_for_nothing_and_others_for_the_first_and_the_second() -> None:
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


def test_the_second_ones_begin_when_the_early_ones_have_broadcast_which_wait_from_then_on() -> None:
    async def test(passages: Passages) -> None:
        passages.release("a")
        begins = await waits(passages.early_ones_passed(PROJECT))
        assert begins
        assert await waits(passages.passed("h", PROJECT, b"")) is None
        passages.release("h")
        await begins
        later = await waits(passages.passed("h", PROJECT, b""))
        assert later
        passages.release("i")
        await later

    run(test)


def test_early_ones_that_take_too_long_are_like_the_others() -> None:
    async def test(passages: Passages) -> None:
        passages.release("a")
        passages.release_early(PROJECT)
        assert await waits(passages.early_ones_passed(PROJECT)) is None
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
        await passages.early_ones_passed(PROJECT)
        assert passages.interrupted == {"a", "i"}

    run(test)
