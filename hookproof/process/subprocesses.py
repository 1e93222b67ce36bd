"""Subprocesses that are ended however often the task that started them is cancelled.

asyncio takes care of one cancellation while a process starts or ends. Nested task groups may cancel
a task again; what then is left are a running process and open pipes.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, Protocol, TypeVar

T = TypeVar("T")


async def to_its_end(work: Awaitable[T]) -> T:
    """Run it to its end, and raise only then the CancelledError of a cancellation meanwhile."""
    task = asyncio.ensure_future(work)
    cancelled = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        with suppress(Exception):
            task.result()
        raise cancelled
    return task.result()


@asynccontextmanager
async def subprocess_killed_at_end(
    *words: str, **options: Any
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start a process as `asyncio.create_subprocess_exec` does, and kill it at the end.

    Its pipes are closed then as well. Raises OSError if it cannot be started.
    """
    starting = asyncio.ensure_future(asyncio.create_subprocess_exec(*words, **options))
    try:
        yield await asyncio.shield(starting)
    finally:
        await to_its_end(_kill(starting))


async def _kill(starting: asyncio.Future[asyncio.subprocess.Process]) -> None:
    with suppress(OSError):
        process = await starting
        send_signal(process, signal.SIGKILL)
        await process.communicate()  # to the end of its output, as its pipes close only there


class Signalled(Protocol):
    """What a signal is sent to; its `returncode` is None as long as it runs."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> int | None: ...


def send_signal(process: Signalled, signal_number: signal.Signals) -> None:
    """Send a signal to a process that has not ended.

    `Process.send_signal` polls the process first, and may so take its exit code before asyncio can,
    which then logs a warning and returns 255.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal_number)


# The projects of `hookproof serve` and their API keys: ID=KEY, with spaces between them.
PROJECTS_VARIABLE: Final = "HOOKPROOF_PROJECTS"
