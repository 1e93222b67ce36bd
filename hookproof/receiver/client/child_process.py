"""Runs subcommands of hookproof as child processes: the embedded server and receiver of a run.

     async with child(["receive", "--bind", "127.0.0.1:0"], deadline_s=15) as ready:
         ...  # ready is the child's first line of output, a JSON object

A child reads its standard input and ends when that closes, so it never outlives its parent, however
the parent ends. It has a process session of its own: an interrupt at the terminal reaches only the
parent.
"""

import asyncio
import json
import os
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Self

from hookproof.process.standard_streams import UNTIL_STDIN_CLOSES
from hookproof.process.subprocesses import send_signal, to_its_end
from hookproof.receiver.client.forked_process import ForkedProcess

# -P keeps a folder `hookproof` in the user's current folder from being imported.
HOOKPROOF: Final = (sys.executable, "-P", "-m", "hookproof")
CHILD_OPTIONS: Final = ("--json", UNTIL_STDIN_CLOSES)
SOURCES: Final = Path(__file__).parents[3]
GRACE_S: Final = 2.0
# How many of a child's last lines of errors are kept.
KEPT_LINES: Final = 20
# In bytes.
LONGEST_LINE: Final = 1 << 20


class ChildFailed(Exception):
    """A child ended, or wrote nothing in time, before it was ready.

    The message is one line; `exit_code` is the child's own, None if it had to be ended.
    """

    def __init__(self, message: str, exit_code: int | None) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildCommand:
    """What to start: the arguments, and further variables of its environment.

    Every user of the machine can read the arguments of a process; its environment only its own
    user can. So keys are given in the environment.
    """

    arguments: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


@asynccontextmanager
async def child(
    arguments: Sequence[str],
    *,
    deadline_s: float,
    environment: Mapping[str, str] = MappingProxyType({}),
    program: Sequence[str] = (),
    grace_s: float = GRACE_S,
) -> AsyncIterator[dict[str, Any]]:
    """Start `hookproof ARGUMENTS`, yield its ready line, and end it afterwards; raises ChildFailed.

    `program` is what takes the arguments, HOOKPROOF by default. The child has `grace_s` seconds to
    end after its input closed, and again after SIGTERM; then it is killed.
    """
    command = ChildCommand(arguments=arguments, environment=environment)
    async with children([command], deadline_s=deadline_s, program=program, grace_s=grace_s) as (
        ready,
    ):
        yield ready


@asynccontextmanager
async def children(
    commands: Sequence[ChildCommand],
    *,
    deadline_s: float,
    program: Sequence[str] = (),
    grace_s: float = GRACE_S,
    forked: bool = False,
) -> AsyncIterator[tuple[dict[str, Any], ...]]:
    """As `child`, for several that start and end concurrently; raises the first ChildFailed.

    Where they are `forked`, their imports are not paid for each time, but once.
    """
    started: list[_Child] = []
    try:
        await to_its_end(_start_all(commands, program or HOOKPROOF, started, forked=forked))
        yield await _all_ready(started, deadline_s)
    finally:
        await to_its_end(_end_all(started, grace_s))


async def _start_all(
    commands: Sequence[ChildCommand],
    program: Sequence[str],
    started: list["_Child"],
    *,
    forked: bool,
) -> None:
    for command in commands:
        # One by one: if a later one cannot be started, those before it are ended.
        process = await (_Child.fork(command) if forked else _Child.start(command, program))
        started.append(process)


async def _end_all(started: Sequence["_Child"], grace_s: float) -> None:
    await asyncio.gather(*(process.end(grace_s) for process in started))


async def _all_ready(started: Sequence["_Child"], deadline_s: float) -> tuple[dict[str, Any], ...]:
    results = await asyncio.gather(
        *(process.ready(deadline_s) for process in started), return_exceptions=True
    )
    ready_lines = []
    for result in results:
        if isinstance(result, BaseException):
            raise result
        ready_lines.append(result)
    return tuple(ready_lines)


class _Child:
    """A started process, and the tasks that read its output."""

    def __init__(self, name: str, process: asyncio.subprocess.Process | ForkedProcess) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self._name = name
        self._process = process
        self._output = process.stdout
        self._last_lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._errors = asyncio.create_task(_drain(process.stderr, self._last_lines))
        self._readers = [self._errors]

    @classmethod
    async def start(cls, command: ChildCommand, program: Sequence[str]) -> Self:
        process = await asyncio.create_subprocess_exec(
            *program,
            *command.arguments,
            *CHILD_OPTIONS,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=_variables(command),
            limit=LONGEST_LINE,
            start_new_session=True,
        )
        return cls(command.arguments[0], process)

    @classmethod
    async def fork(cls, command: ChildCommand) -> Self:
        words = [*command.arguments, *CHILD_OPTIONS]
        process = await ForkedProcess.start(words, _variables(command), limit=LONGEST_LINE)
        return cls(command.arguments[0], process)

    async def ready(self, deadline_s: float) -> dict[str, Any]:
        """Return the ready line; raises ChildFailed."""
        try:
            async with asyncio.timeout(deadline_s):
                line = await self._output.readline()
        except TimeoutError:
            raise ChildFailed(
                f"`hookproof {self._name}` was not ready after {deadline_s:g} s", None
            ) from None
        if not line:
            code = await self._process.wait()
            await self._errors
            reason = self._last_lines[-1] if self._last_lines else f"exit code {code}"
            raise ChildFailed(f"`hookproof {self._name}` did not start: {reason}", code)
        try:
            ready = json.loads(line)
        except ValueError:
            ready = None
        if not isinstance(ready, dict):
            raise ChildFailed(
                f"`hookproof {self._name}` wrote {line[:80]!r} in place of its ready line", None
            )
        self._readers.append(asyncio.create_task(_drain(self._output, deque(maxlen=0))))
        return ready

    async def end(self, grace_s: float) -> None:
        """Close its input, then send SIGTERM, then kill it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        for signal_number in (None, signal.SIGTERM):
            if signal_number is not None:
                send_signal(self._process, signal_number)
            with suppress(TimeoutError):
                async with asyncio.timeout(grace_s):
                    await self._process.wait()
                break
        else:
            send_signal(self._process, signal.SIGKILL)
            await self._process.wait()
        await asyncio.gather(*self._readers)


def _variables(command: ChildCommand) -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(SOURCES), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, **command.environment, "PYTHONPATH": path}


async def _drain(stream: asyncio.StreamReader, kept: deque[str]) -> None:
    """Read to the end, so that a child with much output does not block; keep the last lines."""
    while True:
        try:
            line = await stream.readline()
        except ValueError:  # the line exceeds the limit; what was read of it is discarded
            continue
        if not line:
            return
        if text := line.decode(errors="replace").strip():
            kept.append(text)
