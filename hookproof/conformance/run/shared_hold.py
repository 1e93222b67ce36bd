"""A lock that the tasks of one experiment hold together."""

import asyncio
from types import TracebackType


class SharedHold:
    """Holds a lock as long as any task of an experiment wants it; one at a time goes on.

    A task that waited among those of other experiments for each of its requests would take many
    times as long as the requests themselves. Belongs to one event loop.
    """

    def __init__(self, lock: asyncio.Lock) -> None:
        self._lock = lock
        self._turn = asyncio.Lock()
        self._wanted_by = 0
        self._is_held = False

    async def __aenter__(self) -> None:
        self._wanted_by += 1
        try:
            await self._turn.acquire()
            try:
                if not self._is_held:
                    await self._lock.acquire()
                    self._is_held = True
            except BaseException:
                self._turn.release()
                raise
        except BaseException:
            self._leave()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._turn.release()
        self._leave()

    def _leave(self) -> None:
        self._wanted_by -= 1
        if self._is_held and not self._wanted_by:
            self._is_held = False
            self._lock.release()
