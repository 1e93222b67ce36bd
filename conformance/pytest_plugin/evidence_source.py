"""Where the tests of a pytest run get their evidence from: experiments that run once, whoever asks.

Without pytest-xdist the tests' own process runs them. With it the controller does, and its workers
ask it over a connection of their own, so that no experiment runs twice however the tests are dealt
out.
"""

import secrets
import threading
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from typing import Final, Protocol, cast

from hookproof.conformance.model.gathered_evidence import Gathered
from hookproof.conformance.pytest_plugin.settings import Order
from hookproof.conformance.results.redaction import Mask
from hookproof.conformance.run.intake import Intake
from hookproof.conformance.run.runner import Runner
from hookproof.process.exit_codes import CommandError, ExitCode

BEGIN: Final = "begin"
GATHERED: Final = "gathered"
LOOPBACK: Final = "127.0.0.1"

# How a worker reaches the controller: host, port and the key that opens the connection.
Way = tuple[str, int, bytes]


class Gathering(Protocol):
    """Gives evidence; `begin` names the requirements that will be judged, and must come first."""

    def begin(self, selected: Sequence[str]) -> None:
        """Start the experiments unless they run already; raises CommandError."""

    def gathered(self, name: str) -> Gathered:
        """Wait for an experiment to end, and give what it brought."""

    def close(self) -> None:
        """End everything that was started."""


class OwnGathering:
    """Runs the experiments from this process; may be called from any thread."""

    def __init__(self, order: Order):
        self._order = order
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

    def gathered(self, name: str) -> Gathered:
        """Wait for an experiment to end, and give what it brought."""
        assert self._runner is not None, "begin comes first"
        return self._runner.gathered(name)

    def close(self) -> None:
        """End the experiments that still run."""
        if self._runner is not None:
            self._runner.__exit__(None, None, None)

    def _start(self, selected: Sequence[str]) -> None:
        wanted = [self._order.catalogue.requirements[name] for name in selected]
        self._runner = Runner(self._order.plan(self._order.experiments(wanted))).__enter__()
        try:
            environment = self._runner.open()
        except CommandError as refusal:
            self._refusal = refusal
            raise
        dialect = self._order.subject.dialect
        self._runner.begin(Intake(Mask(environment.target.projects, dialect), dialect))


class SharedGathering:
    """The controller's: what `own` gathers, for every worker that knows the way."""

    def __init__(self, own: OwnGathering):
        self.refusal: CommandError | None = None
        self._own = own
        self._key = secrets.token_bytes(32)
        self._listener = Listener((LOOPBACK, 0), authkey=self._key)
        self._open = True
        threading.Thread(target=self._accept, name="hookproof-evidence", daemon=True).start()

    @property
    def way(self) -> Way:
        """How to reach it."""
        host, port = self._listener.address
        return str(host), int(port), self._key

    def close(self) -> None:
        """Take no more workers, and end the experiments."""
        self._open = False
        with suppress(OSError, EOFError):  # accept is waiting, and only a caller ends that
            Client((LOOPBACK, self.way[1]), authkey=self._key).close()
        self._listener.close()
        self._own.close()

    def _accept(self) -> None:
        while self._open:
            with suppress(
                OSError, EOFError, AuthenticationError
            ):  # whoever has not the key is turned away
                connection = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: "Connection[object, object]") -> None:
        with connection, suppress(EOFError, OSError):
            while True:
                connection.send(self._answer(*cast("tuple[str, object]", connection.recv())))

    def _answer(self, asked: str, given: object) -> object:
        if asked == GATHERED:
            return self._own.gathered(str(given))
        try:
            self._own.begin(cast("Sequence[str]", given))
        except CommandError as refusal:
            self.refusal = refusal
            return str(refusal), int(refusal.exit_code)
        return None


class RemoteGathering:
    """A worker's: asks the controller."""

    def __init__(self, way: Way):
        self._connection = Client((way[0], way[1]), authkey=way[2])

    def begin(self, selected: Sequence[str]) -> None:
        """Let the controller start what it has not started yet; raises CommandError."""
        answer = self._asked(BEGIN, list(selected))
        if isinstance(answer, tuple):
            raise CommandError(answer[0], ExitCode(answer[1]))

    def gathered(self, name: str) -> Gathered:
        """Wait for an experiment to end, and give what it brought."""
        answer = self._asked(GATHERED, name)
        assert isinstance(answer, Gathered)
        return answer

    def close(self) -> None:
        """Leave the controller."""
        self._connection.close()

    def _asked(self, what: str, given: object) -> object:
        self._connection.send((what, given))
        answer: object = self._connection.recv()
        return answer
