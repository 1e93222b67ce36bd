"""What `Receiver` and `Service` run in: a process within a block, and an event loop in a thread."""

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, ExitStack
from types import TracebackType
from typing import Any, Final, Self, TypeVar

T = TypeVar("T")


class BackgroundLoop:
    """An event loop in a thread of its own, for processes and connections that outlive a test.

    What runs there serves callers that block as well as callers that await, whose own event loop
    may end with each test. A context manager; what was entered in the loop is exited at its end.
    """

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


# Far more than is needed, for a busy machine: a process that fails reports it at once.
READY_WITHIN_S: Final = 90.0


class BackgroundProcess(ABC):
    """A context manager, also of `async with`."""

    def __init__(self) -> None:
        self._until_exit = ExitStack()

    @abstractmethod
    def _start(self, stack: ExitStack) -> None:
        """Start it until the stack is unwound; raises ChildFailed."""

    def __enter__(self) -> Self:
        """Start the process; raises ChildFailed."""
        with ExitStack() as stack:
            self._start(stack)
            self._until_exit = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        self._until_exit.close()

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.__exit__)
