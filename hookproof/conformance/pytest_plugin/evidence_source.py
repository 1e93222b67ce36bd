"""Where the tests of a pytest run get their evidence from: experiments that run exactly once.

Without pytest-xdist the tests' own process runs them. With it the controller does, and its workers
request the evidence over a connection of their own, so that no experiment runs twice however the
tests are distributed.
"""

import secrets
import threading
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from typing import Any, Final, Protocol, cast

from hookproof.conformance.model.gathered_evidence import Gathered
from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.pytest_plugin.settings import SessionSettings
from hookproof.conformance.run.intake import Intake
from hookproof.conformance.run.runner import Runner
from hookproof.process.exit_codes import CommandError, ExitCode

BEGIN: Final = "begin"
GATHERED: Final = "gathered"
QUOTED: Final = "quoted"
MASKED: Final = "masked"
LOOPBACK: Final = "127.0.0.1"

# How a worker reaches the controller: host, port and the key that authenticates the connection.
ControllerAddress = tuple[str, int, bytes]


class Gathering(Protocol):
    """A source of evidence; `begin` names the requirements to judge, and must be called first."""

    def begin(self, selected: Sequence[str]) -> None:
        """Start the experiments unless they run already; raises CommandError."""

    def gathered(self, name: str) -> Gathered:
        """Wait for an experiment to end, and return its evidence."""

    def quoted(self, value: Any) -> Any:
        """A value that a finding quotes, without keys and credentials."""

    def masked(self, entry: Entry) -> Entry:
        """The result for a requirement without keys and credentials, as it is shown."""

    def close(self) -> None:
        """End every experiment that was started."""


class OwnGathering:
    """Runs the experiments from this process; may be called from any thread."""

    def __init__(self, settings: SessionSettings):
        self._settings = settings
        self._lock = threading.Lock()
        self._runner: Runner | None = None
        self._refusal: CommandError | None = None

    def begin(self, selected: Sequence[str]) -> None:
        """Start the experiments that the first caller needs; all callers select the same. Raises
        CommandError.
        """
        with self._lock:
            if self._refusal is not None:
                raise self._refusal
            if self._runner is None:
                self._start(selected)

    @property
    def _running(self) -> Runner:
        assert self._runner is not None, "call begin first"
        return self._runner

    def gathered(self, name: str) -> Gathered:
        return self._running.gathered(name)

    def quoted(self, value: Any) -> Any:
        return self._running.mask.quoted(value)

    def masked(self, entry: Entry) -> Entry:
        return self._running.mask.entry(entry)

    def close(self) -> None:
        if self._runner is not None:
            self._runner.__exit__(None, None, None)

    def _start(self, selected: Sequence[str]) -> None:
        wanted = [self._settings.catalogue.requirements[name] for name in selected]
        self._runner = Runner(self._settings.plan(self._settings.experiments(wanted))).__enter__()
        try:
            self._runner.open()
        except CommandError as refusal:
            self._refusal = refusal
            raise
        self._runner.begin(Intake(self._runner.mask, self._settings.subject.dialect))


class SharedGathering:
    """The source in the controller: passes what `own` gathers to its workers."""

    def __init__(self, own: OwnGathering):
        self.refusal: CommandError | None = None
        self._own = own
        self._key = secrets.token_bytes(32)
        self._listener = Listener((LOOPBACK, 0), authkey=self._key)
        self._open = True
        threading.Thread(target=self._accept, name="hookproof-evidence", daemon=True).start()

    @property
    def address(self) -> ControllerAddress:
        host, port = self._listener.address
        return str(host), int(port), self._key

    def close(self) -> None:
        """Accept no more workers, and end the experiments."""
        self._open = False
        with suppress(OSError, EOFError):  # a connection ends the waiting accept
            Client((LOOPBACK, self.address[1]), authkey=self._key).close()
        self._listener.close()
        self._own.close()

    def _accept(self) -> None:
        while self._open:
            # AuthenticationError: the caller does not have the key.
            with suppress(OSError, EOFError, AuthenticationError):
                connection = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: "Connection[object, object]") -> None:
        with connection, suppress(EOFError, OSError):
            while True:
                connection.send(self._answer(*cast("tuple[str, object]", connection.recv())))

    def _answer(self, request: str, argument: object) -> object:
        if request != BEGIN:
            return getattr(self._own, request)(argument)
        try:
            self._own.begin(cast("Sequence[str]", argument))
        except CommandError as refusal:
            self.refusal = refusal
            return str(refusal), int(refusal.exit_code)
        return None


class RemoteGathering:
    """The source in a worker of pytest-xdist: requests everything from the controller."""

    def __init__(self, address: ControllerAddress):
        host, port, key = address
        self._connection = Client((host, port), authkey=key)

    def begin(self, selected: Sequence[str]) -> None:
        """Let the controller start what it has not started yet; raises CommandError."""
        answer = self._request(BEGIN, list(selected))
        if isinstance(answer, tuple):
            raise CommandError(answer[0], ExitCode(answer[1]))

    def gathered(self, name: str) -> Gathered:
        return cast("Gathered", self._request(GATHERED, name))

    def quoted(self, value: Any) -> Any:
        return self._request(QUOTED, value)

    def masked(self, entry: Entry) -> Entry:
        return cast("Entry", self._request(MASKED, entry))

    def close(self) -> None:
        self._connection.close()

    def _request(self, request: str, argument: object) -> object:
        self._connection.send((request, argument))
        answer: object = self._connection.recv()
        return answer
