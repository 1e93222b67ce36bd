"""What `Receiver` and `Service` have in common: a process of hookproof that runs within a block."""

import asyncio
from abc import ABC, abstractmethod
from contextlib import ExitStack
from types import TracebackType
from typing import Final, Self

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
