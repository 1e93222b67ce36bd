"""Subcommands of hookproof as child processes: the embedded server and receiver of a run.

    async with child(["receive", "--bind", "127.0.0.1:0"], deadline_s=15) as ready:
        ...  # ready is the child's first line of output, a JSON object

A child listens to its standard input and ends when that closes, so it never outlives its parent,
however the parent ends. It has a session of its own: an interrupt at the terminal is for the parent
alone.
"""

import asyncio
import json
import os
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final, Self

import hookproof
from hookproof.process import standard_input

# -P keeps a folder named `spec` or `receiver` where the user stands from being imported in place of
# ours.
HOOKPROOF: Final = (sys.executable, "-P", "-m", "hookproof")
LIFELINE: Final = ("--json", standard_input.OPTION)
SOURCES: Final = Path(hookproof.__file__).parents[1]
GRACE_S: Final = 2.0
KEPT_LINES: Final = 20
# In bytes.
LONGEST_LINE: Final = 1 << 20


class ChildFailed(Exception):
    """A child ended, or was silent too long, before it was ready.

    The message is one line; `exit_code` is the child's own, None if it had to be ended.
    """

    def __init__(self, message: str, exit_code: int | None) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@asynccontextmanager
async def child(
    arguments: Sequence[str],
    *,
    deadline_s: float,
    program: Sequence[str] = HOOKPROOF,
    grace_s: float = GRACE_S,
) -> AsyncIterator[dict[str, Any]]:
    """Start `hookproof ARGUMENTS`, yield its ready line, and end it on the way out; raises
    ChildFailed.

    The child has `grace_s` seconds to end by itself, and as many again when it was told to; then it
    is killed.
    """
    async with children([arguments], deadline_s=deadline_s, program=program, grace_s=grace_s) as (
        ready,
    ):
        yield ready


@asynccontextmanager
async def children(
    commands: Sequence[Sequence[str]],
    *,
    deadline_s: float,
    program: Sequence[str] = HOOKPROOF,
    grace_s: float = GRACE_S,
) -> AsyncIterator[tuple[dict[str, Any], ...]]:
    """The same for several that start beside each other, and end beside each other; raises
    ChildFailed of the first.
    """
    begun: list[_Child] = []
    try:
        for arguments in commands:
            begun.append(await _Child.started(arguments[0], [*program, *arguments, *LIFELINE]))  # noqa: PERF401
        yield await _all_ready(begun, deadline_s)
    finally:
        await asyncio.gather(*(one.end(grace_s) for one in begun))


def signalled(process: asyncio.subprocess.Process, sign: signal.Signals) -> None:
    """Send a signal to a process that has not ended.

    `Process.send_signal` looks first whether it has, and may so take its exit code before asyncio
    can, which then logs a warning and gives 255.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, sign)


async def _all_ready(begun: Sequence["_Child"], deadline_s: float) -> tuple[dict[str, Any], ...]:
    said = await asyncio.gather(*(one.ready(deadline_s) for one in begun), return_exceptions=True)
    for one in said:
        if isinstance(one, BaseException):
            raise one
    return tuple(one for one in said if not isinstance(one, BaseException))


class _Child:
    """A process that was started, and what reads its output."""

    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self._name = name
        self._process = process
        self._output = process.stdout
        self._said: deque[str] = deque(maxlen=KEPT_LINES)
        self._errors = asyncio.create_task(_drain(process.stderr, self._said))
        self._readers = [self._errors]

    @classmethod
    async def started(cls, name: str, command: Sequence[str]) -> Self:
        path = os.pathsep.join(filter(None, [str(SOURCES), os.environ.get("PYTHONPATH", "")]))
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            limit=LONGEST_LINE,
            start_new_session=True,
        )
        return cls(name, process)

    async def ready(self, deadline_s: float) -> dict[str, Any]:
        """Its ready line; raises ChildFailed."""
        try:
            line = await asyncio.wait_for(self._output.readline(), deadline_s)
        except TimeoutError:
            raise ChildFailed(
                f"`hookproof {self._name}` was not ready after {deadline_s:g} s", None
            ) from None
        if not line:
            code = await self._process.wait()
            await self._errors
            reason = self._said[-1] if self._said else f"exit code {code}"
            raise ChildFailed(f"`hookproof {self._name}` did not start: {reason}", code)
        try:
            ready = json.loads(line)
        except ValueError:
            ready = None
        if not isinstance(ready, dict):
            raise ChildFailed(
                f"`hookproof {self._name}` said {line[:80]!r} in place of its ready line", None
            )
        self._readers.append(asyncio.create_task(_drain(self._output, deque(maxlen=0))))
        return ready

    async def end(self, grace_s: float) -> None:
        """Close its input, then ask it, then kill it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        for sign in (None, signal.SIGTERM, signal.SIGKILL):
            if sign is not None:
                signalled(self._process, sign)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), grace_s)
                break
        await asyncio.gather(*self._readers)


async def _drain(stream: asyncio.StreamReader, kept: deque[str]) -> None:
    """Read to the end, so that a child that says much never blocks; keep the last lines."""
    while True:
        try:
            line = await stream.readline()
        except ValueError:  # a line beyond the limit: what was read of it is gone
            continue
        if not line:
            return
        if text := line.decode(errors="replace").strip():
            kept.append(text)
