"""Subprocesses that are ended however they are left."""

import asyncio
import gc
import signal
import sys
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import psutil
import pytest

from hookproof.process.subprocesses import send_signal, subprocess_killed_at_end, to_its_end
from hookproof.receiver.client.child_process import child

PIPE = asyncio.subprocess.PIPE
SLEEPS = "import time; print(1, flush=True); time.sleep(60)"


async def test_a_process_that_ends_while_it_is_signalled_keeps_its_exit_code() -> None:
    async def ended(number: int) -> int:
        process = await asyncio.create_subprocess_exec("/bin/true")
        await asyncio.sleep(number % 20 / 5000)  # signal it at any time of its short life
        send_signal(process, signal.SIGKILL)
        return await process.wait()

    result = {await ended(number) for number in range(200)}
    assert result <= {0, -signal.SIGKILL}


@asynccontextmanager
async def generator() -> AsyncIterator[None]:
    words = (sys.executable, "-c", SLEEPS)
    async with subprocess_killed_at_end(*words, stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
        assert process.stdout is not None
        await process.stdout.read()
        yield


def service() -> AbstractAsyncContextManager[Any]:
    return child(["serve"], deadline_s=60, program=(sys.executable, "-c", SLEEPS), grace_s=0.01)


@pytest.mark.parametrize("started", [generator, service])
@pytest.mark.parametrize("rounds", range(0, 12, 2))
def test_no_process_and_no_pipe_outlives_tasks_that_are_cancelled_twice(
    started: Callable[[], AbstractAsyncContextManager[Any]], rounds: int
) -> None:
    async def use() -> None:
        async with started():
            raise AssertionError

    async def cancel_twice(between: int) -> None:
        task = asyncio.create_task(use())
        for number in range(rounds + between):
            if number >= rounds:
                task.cancel()
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    before = psutil.Process().children()
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        for between in (1, 2, 3, 6):
            asyncio.run(cancel_twice(between))
        gc.collect()
    assert [str(warning.message) for warning in raised] == []
    assert psutil.Process().children() == before


def test_what_is_to_end_ends_before_the_cancellation_is_raised() -> None:
    ended = []

    async def ends() -> None:
        for _ in range(20):
            await asyncio.sleep(0)
        ended.append(True)

    async def cancel_often() -> None:
        task = asyncio.create_task(to_its_end(ends()))
        for _ in range(5):
            await asyncio.sleep(0)
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel_often())
    assert ended == [True]


async def test_what_cannot_be_started_is_told() -> None:
    with pytest.raises(FileNotFoundError):
        async with subprocess_killed_at_end("/no/such/program"):
            raise AssertionError
