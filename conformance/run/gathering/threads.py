"""Work that takes long, beside the event loop."""

import asyncio
from collections.abc import Callable


async def run_in_thread(function: Callable[[], None]) -> None:
    """Call it in a thread. What has begun is brought to its end, also where the task is cancelled
    meanwhile; raises what the function raises.
    """
    call = asyncio.ensure_future(asyncio.to_thread(function))
    try:
        await asyncio.shield(call)
    except asyncio.CancelledError:
        await asyncio.wait([call])
        raise
