"""Waiting for a state that nothing announces: a file, a database, another process."""

import asyncio
from collections.abc import Awaitable, Callable

DEADLINE_S = 60.0
PAUSE_S = 0.02


async def poll_until(
    condition: Callable[[], Awaitable[bool]], deadline_s: float = DEADLINE_S
) -> None:
    """Ask again and again until the condition holds; raises TimeoutError after the deadline.

    Only for what has no event to wait for.
    """
    async with asyncio.timeout(deadline_s):
        while not await condition():  # noqa: ASYNC110  there is no event, see above
            await asyncio.sleep(PAUSE_S)
