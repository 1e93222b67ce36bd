"""The handlers' way to the delivery engine: waking it, and trying a new endpoint's URL in the
background.
"""

import asyncio

from hookproof.mockserver.delivery.engine import DeliveryEngine


class EngineDispatch:
    """Passes on to the engine; visits run as tasks, which `stop` ends together with the engine."""

    def __init__(self, engine: DeliveryEngine) -> None:
        self._engine = engine
        self._visits: set[asyncio.Task[int | None]] = set()

    def wake(self, *endpoint_uids: str) -> None:
        """These endpoints have new deliveries in the store."""
        self._engine.wake(endpoint_uids)

    def visit(self, url: str, method: str) -> None:
        """Try a URL once; the outcome is nobody's business."""
        task = asyncio.create_task(self._engine.visit(url, method))
        self._visits.add(task)
        task.add_done_callback(self._visits.discard)

    async def replace(self, engine: DeliveryEngine, grace_s: float) -> None:
        """Let another engine take over what is pending; attempts under way get `grace_s` seconds."""
        await self.stop(grace_s)
        self._engine = engine
        await self.start()

    async def start(self) -> None:
        """Take up what is pending in the store."""
        await self._engine.start()

    async def stop(self, grace_s: float) -> None:
        """Give attempts under way `grace_s` seconds; visits are not waited for."""
        for task in self._visits:
            task.cancel()
        await asyncio.gather(*self._visits, return_exceptions=True)
        await self._engine.stop(grace_s)
