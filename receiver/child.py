"""Subcommands of hookproof as child processes: the embedded server and receiver of a run.

    async with child(["receive", "--bind", "127.0.0.1:0"], deadline_s=15) as ready:
        ...  # ready is the child's first line of output, a JSON object

A child listens to its standard input and ends when that closes, so it never outlives its parent, however the parent
ends. It has a session of its own: an interrupt at the terminal is for the parent alone.
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
from typing import Any, Final

# -P keeps a folder named `spec` or `receiver` where the user stands from being imported in place of ours.
HOOKPROOF: Final = (sys.executable, "-P", "-m", "hookproof")
LIFELINE: Final = ("--json", "--until-stdin-closes")
SOURCES: Final = Path(__file__).parent.parent
GRACE_S: Final = 2.0
KEPT_LINES: Final = 20
LONGEST_LINE: Final = 1 << 20
"""In bytes."""


class ChildFailed(Exception):
    """A child ended, or was silent too long, before it was ready.

    The message is one line; `exit_code` is the child's own, None if it had to be ended.
    """

    def __init__(self, message: str, exit_code: int | None) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@asynccontextmanager
async def child(
    arguments: Sequence[str], *, deadline_s: float, program: Sequence[str] = HOOKPROOF, grace_s: float = GRACE_S
) -> AsyncIterator[dict[str, Any]]:
    """Start `hookproof ARGUMENTS`, yield its ready line, and end it on the way out; raises ChildFailed.

    The child has `grace_s` seconds to end by itself, and as many again when it was told to; then it is killed.
    """
    process = await _started([*program, *arguments, *LIFELINE])
    assert process.stdout is not None
    assert process.stderr is not None
    said: deque[str] = deque(maxlen=KEPT_LINES)
    readers = [asyncio.create_task(_drain(process.stderr, said))]
    try:
        ready = await _ready(process, arguments[0], said, readers[0], deadline_s)
        readers.append(asyncio.create_task(_drain(process.stdout, deque(maxlen=0))))
        yield ready
    finally:
        await _end(process, grace_s)
        await asyncio.gather(*readers)


async def _started(command: Sequence[str]) -> asyncio.subprocess.Process:
    path = os.pathsep.join(filter(None, [str(SOURCES), os.environ.get("PYTHONPATH", "")]))
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
        limit=LONGEST_LINE,
        start_new_session=True,
    )


async def _ready(
    process: asyncio.subprocess.Process, name: str, said: deque[str], errors: asyncio.Task[None], deadline_s: float
) -> dict[str, Any]:
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), deadline_s)
    except TimeoutError:
        raise ChildFailed(f"`hookproof {name}` was not ready after {deadline_s:g} s", None) from None
    if not line:
        code = await process.wait()
        await errors
        reason = said[-1] if said else f"exit code {code}"
        raise ChildFailed(f"`hookproof {name}` did not start: {reason}", code)
    try:
        ready = json.loads(line)
    except ValueError:
        ready = None
    if not isinstance(ready, dict):
        raise ChildFailed(f"`hookproof {name}` said {line[:80]!r} in place of its ready line", None)
    return ready


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


async def _end(process: asyncio.subprocess.Process, grace_s: float) -> None:
    """End a child: close its input, then ask it, then kill it."""
    assert process.stdin is not None
    process.stdin.close()
    for sign in (None, signal.SIGTERM, signal.SIGKILL):
        if sign is not None:
            with suppress(ProcessLookupError):
                process.send_signal(sign)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), grace_s)
            return
