"""An event loop in a thread of its own, for processes and connections that outlive a test.

What runs there serves callers that block as well as callers that await, whose own event loop may
end with each test.
"""

import asyncio
import threading
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from types import TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")


class BackgroundLoop:
    """A context manager; what was entered in the loop is exited at its end."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop
        self._stopped: asyncio.Event
        self._running = threading.Event()
        self._entered = AsyncExitStack()
        # A daemon: who forgets to end it is not kept from ending the process.
        self._thread = threading.Thread(target=self._serve, name="hookproof", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._running.wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.call(self._entered.aclose())
        finally:
            self._loop.call_soon_threadsafe(self._stopped.set)
            self._thread.join()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work in the loop, and block until it is done."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:  # the caller may have been interrupted
            future.cancel()
            raise

    async def call_async(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work in the loop, while the caller's own loop goes on."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def enter(self, context: AbstractAsyncContextManager[T]) -> T:
        """Enter a context in the loop until this one ends."""
        return self.call(self._entered.enter_async_context(context))

    def _serve(self) -> None:
        with asyncio.Runner() as runner:
            runner.run(self._until_stopped())

    async def _until_stopped(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        self._running.set()
        await self._stopped.wait()
