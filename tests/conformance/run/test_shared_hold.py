"""The tasks of one experiment hold a lock together, and let go of it when none wants it."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from hookproof.conformance.run.experiment_run import SharedHold


class Course:
    """Notes in which order tasks pass; each stays until it is let go."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.passed: list[str] = []
        self.let_go = {name: asyncio.Event() for name in ("a", "b", "c")}

    def pass_by(self, hold: SharedHold, name: str) -> asyncio.Task[None]:
        async def task() -> None:
            async with hold:
                self.passed.append(name)
                await self.let_go[name].wait()

        return asyncio.create_task(task())


async def settle() -> None:
    """Let every task go on until it waits."""
    for _ in range(10):
        await asyncio.sleep(0)


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, timeout=30))


def test_one_task_at_a_time_goes_on_and_others_wait_for_all_of_them() -> None:
    async def test() -> None:
        course = Course()
        one, other = SharedHold(course.lock), SharedHold(course.lock)
        tasks = [course.pass_by(one, "a"), course.pass_by(other, "b"), course.pass_by(one, "c")]
        await settle()
        assert course.passed == ["a"]
        course.let_go["a"].set()
        await settle()
        assert course.passed == ["a", "c"]
        course.let_go["c"].set()
        await settle()
        assert course.passed == ["a", "c", "b"]
        course.let_go["b"].set()
        await asyncio.gather(*tasks)
        assert not course.lock.locked()

    run(test())


def test_a_task_that_comes_later_waits_among_the_others() -> None:
    async def test() -> None:
        course = Course()
        one, other = SharedHold(course.lock), SharedHold(course.lock)
        first, second = course.pass_by(one, "a"), course.pass_by(other, "b")
        await settle()
        course.let_go["a"].set()
        await first
        third = course.pass_by(one, "c")
        await settle()
        assert course.passed == ["a", "b"]
        course.let_go["b"].set()
        course.let_go["c"].set()
        await asyncio.gather(second, third)

    run(test())


@pytest.mark.parametrize("cancelled", ["a", "c"])
def test_a_task_that_is_cancelled_holds_nothing(cancelled: str) -> None:
    async def test() -> None:
        course = Course()
        one, other = SharedHold(course.lock), SharedHold(course.lock)
        held = course.pass_by(other, "b")
        await settle()
        tasks = {name: course.pass_by(one, name) for name in ("a", "c")}
        await settle()
        # Of these one waits for the lock, and the other one for its turn.
        tasks[cancelled].cancel()
        course.let_go["b"].set()
        await held
        (rest,) = set(tasks) - {cancelled}
        course.let_go[rest].set()
        await tasks[rest]
        assert course.passed == ["b", rest]
        assert not course.lock.locked()

    run(test())
