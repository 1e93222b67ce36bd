"""How many broadcasts go to the target at once: fewer while it answers slowly.

Each broadcast makes the target deliver to every active endpoint of the project, and a service that
does all in one process answers later the more deliveries it has to make. Broadcasts as fast as
they can be sent would keep it from answering at all.
"""

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

MOST_AT_ONCE: Final = 64
# In seconds. An answer that takes longer is late, if the target's first ones did not take as long.
LATE_S: Final = 0.5
# How many times as long as the quickest answer one of a far or slow target may take.
LATE_FACTOR: Final = 10.0


class BroadcastPace:
    """Says how many broadcasts may be under way; belongs to one event loop.

    Each late answer to any request halves how many may be under way, and each other one allows one
    more: there is always one.
    """

    def __init__(self) -> None:
        self.at_once = MOST_AT_ONCE
        self._under_way = 0
        self._quickest_s = math.inf
        self._change = asyncio.Event()

    def note_answer(self, took_s: float) -> None:
        """Note how long an answer to a request took; without an answer, how long none came."""
        self._quickest_s = min(self._quickest_s, took_s)
        late_s = max(LATE_S, LATE_FACTOR * self._quickest_s)
        self.at_once = max(1, self.at_once // 2) if took_s > late_s else self.at_once + 1
        self.at_once = min(self.at_once, MOST_AT_ONCE)
        self._note_change()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until another broadcast may go, and count it as under way within the block."""
        while self._under_way >= self.at_once:
            await self._change.wait()
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            self._note_change()

    def _note_change(self) -> None:
        """Wake whoever waits, to look again."""
        self._change.set()
        self._change = asyncio.Event()
