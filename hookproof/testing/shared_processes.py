"""The processes that the tests of a pytest session share, each started when it is first needed."""

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from hookproof.process.private_folder import private_folder
from hookproof.testing.receiver import Receiver
from hookproof.testing.service import Service


class SharedProcesses:
    """A context manager, at whose end the processes end."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._ca_folder: Path | None = None
        self._receiver: Receiver | None = None
        self._services: dict[str, Service] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def new_receiver(self) -> Receiver:
        """A receiver with a token of its own."""
        if self._receiver is None:
            self._receiver = self._stack.enter_context(Receiver(ca_folder=self._trusted()))
        return self._receiver.another()

    def service(self, dialect: str) -> Service:
        """The reference server under this dialect."""
        if dialect not in self._services:
            service = Service(dialect=dialect, ca_folder=self._trusted())
            self._services[dialect] = self._stack.enter_context(service)
        return self._services[dialect]

    def _trusted(self) -> Path:
        """The folder of the CA of all processes."""
        if self._ca_folder is None:
            self._ca_folder = self._stack.enter_context(private_folder())
        return self._ca_folder
