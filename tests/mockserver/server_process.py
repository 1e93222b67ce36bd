"""The reference server as a process of its own."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

# `hookproof serve`, without the time that the front door takes.
SERVE = (sys.executable, "-c", "from hookproof.mockserver.cli import serve; serve()")
READY_S = 180.0


@asynccontextmanager
async def server_process(
    *options: str,
) -> AsyncIterator[tuple[asyncio.subprocess.Process, dict[str, str]]]:
    """Run the server; yield its process and the addresses that it prints, by listener.

    The process may be killed inside; if it was not, it ends when its standard input closes.
    """
    process = await asyncio.create_subprocess_exec(
        *SERVE,
        *("--port", "0", "--json", "--until-stdin-closes", *options),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process, json.loads(await asyncio.wait_for(process.stdout.readline(), READY_S))
    finally:
        process.stdin.close()
        await process.communicate()
