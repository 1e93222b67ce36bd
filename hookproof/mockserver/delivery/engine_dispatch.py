"""The request handlers' access to the delivery engine: wake it, and visit new endpoints."""

import asyncio
from contextlib import suppress

from hookproof.mockserver.delivery.engine import DeliveryEngine
from hookproof.mockserver.delivery.own_trouble import OwnTrouble
from hookproof.mockserver.delivery.scheduling.dispatcher import OWN_TROUBLE_PAUSE_S
from hookproof.mockserver.delivery.scheduling.retry import SUCCESSFUL


class EngineDispatch:
    """Forwards to the current engine; visits run as tasks, which `stop` cancels."""

    def __init__(self, engine: DeliveryEngine) -> None:
        self._engine = engine
        self._visits: set[asyncio.Task[None]] = set()

    def wake(self, *endpoint_uids: str) -> None:
        """Note that these endpoints have new deliveries in the store."""
        self._engine.wake(endpoint_uids)

    def visit(self, url: str, *methods: str) -> None:
        """Request a URL in the background, with each method until one gets a 2xx."""
        task = asyncio.create_task(self._visit(url, *methods))
        self._visits.add(task)
        task.add_done_callback(self._visits.discard)

    async def is_answered(self, url: str, *methods: str) -> bool:
        """Request a URL with each method until one gets a 2xx, and return whether one does.

        Raises OwnTrouble if that cannot be found out at the moment.
        """
        for method in methods:
            status = await self._engine.visit(url, method)
            if status is not None and status // 100 == SUCCESSFUL:
                return True
        return False

    async def _visit(self, url: str, *methods: str) -> None:
        while True:
            with suppress(OwnTrouble):
                await self.is_answered(url, *methods)
                return
            await asyncio.sleep(OWN_TROUBLE_PAUSE_S)

    async def replace(self, engine: DeliveryEngine, grace_s: float) -> None:
        """Stop the current engine and let another one continue with what is pending."""
        await self.stop(grace_s)
        self._engine = engine
        await self.start()

    async def start(self) -> None:
        await self._engine.start()

    async def stop(self, grace_s: float) -> None:
        """Stop the engine; attempts under way get `grace_s` seconds, visits are cancelled."""
        for task in self._visits:
            task.cancel()
        await asyncio.gather(*self._visits, return_exceptions=True)
        await self._engine.stop(grace_s)
