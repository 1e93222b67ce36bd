"""The processes that the tests of a pytest session share, each started when it is first needed."""

from contextlib import ExitStack
from types import TracebackType
from typing import Self

from hookproof.process.private_folder import private_folder
from hookproof.receiver.http.authority import Authority
from hookproof.testing.receiver import Receiver


class SharedProcesses:
    """A context manager, at whose end the processes end."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._authority: Authority | None = None
        self._receiver: Receiver | None = None

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
            folder = self._trusted().certificate_path.parent
            self._receiver = self._stack.enter_context(Receiver(ca_folder=folder))
        return self._receiver.another()

    def _trusted(self) -> Authority:
        """The CA of all processes."""
        if self._authority is None:
            self._authority = Authority(self._stack.enter_context(private_folder()))
        return self._authority
