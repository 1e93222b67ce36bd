"""A worker of a distributed run, a process of its own with a sidecar of its own.

    python -P -m hookproof.load.distributed.worker_process --master H:P --ca-dir DIR

It waits for its master, which sends it the plan of each run over Locust's connection; then it sends
its share of the requests, records what arrives at its own receiver, and reports both. Which other
machine it may load is set when it is started, whatever its master requests; it reads the target's
key from its environment.
"""

import locust  # first: it patches what the other imports bring in

# isort: split
import json
import os
import signal
import socket
import subprocess
import sys
import time
import warnings
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any, Final

import click
import gevent
from gevent.event import Event
from gevent.os import make_nonblocking, nb_read
from locust.env import Environment
from locust.runners import WorkerRunner

from hookproof.load.distributed.workers import DIALECT_OF_MASTER
from hookproof.load.ledger.head_messages import Hello, packed
from hookproof.load.ledger.share import Share
from hookproof.load.locust_worker.messages import DISMISSED, HELLO, STATS
from hookproof.load.locust_worker.participant import CannotTakePart, Participant
from hookproof.load.locust_worker.progress import say
from hookproof.load.locust_worker.sidecar_link import SidecarClient
from hookproof.load.locust_worker.slot_user import SlotUser
from hookproof.load.locust_worker.stats_display import show_tables
from hookproof.load.locust_worker.tracing import OtelProblem, set_up_otel
from hookproof.load.plan import LoadPlan
from hookproof.load.target.settings import KEY_VARIABLE, OTEL_VARIABLE, connection_from, other_host
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.process.messages import print_line, print_text
from hookproof.process.standard_streams import (
    STDIN,
    UNTIL_STDIN_CLOSES,
    read_to_end,
    use_lasting_streams,
)
from hookproof.receiver.http.address import Address
from hookproof.spec.dialect.reader import load_dialect
from hookproof.target.connection import ApiConnection

# A master that is silent for so long is lost; Locust's sends its workers a message every second.
SILENT_S: Final = 15.0

STOP_WITHIN_S: Final = 5.0


class Worker(Participant):
    """Does what its master requests until `over` is set; `why` has the reason and the exit code."""

    def __init__(
        self,
        runner: WorkerRunner,
        *,
        control_url: str,
        key: str,
        connection: ApiConnection,
        may_load: str | None,
        takes_dialect: bool,
    ) -> None:
        super().__init__(runner, control_url=control_url, key=key, connection=connection)
        self._runner: WorkerRunner = runner
        self._may_load = may_load
        self._takes_dialect = takes_dialect
        self.over = Event()
        self.why: tuple[str, int] | None = None
        runner.register_message(DISMISSED, self._dismissed)

    def end(self, why: str, code: int) -> None:
        """End the worker with this message and exit code."""
        self.why = self.why or (why, code)
        self.over.set()

    def send_pending_messages(self) -> None:
        """Close the connection when the master has been sent everything, or after STOP_WITHIN_S."""
        connection = self._runner.client
        self._runner.greenlet.kill()  # it reads from the connection
        connection.close(linger=int(STOP_WITHIN_S * 1000))  # type: ignore[no-untyped-call]
        connection.socket.context.term()

    def prepare(self, plan: LoadPlan) -> None:
        host = other_host(plan.base_url)
        if host not in {None, self._may_load}:
            raise CannotTakePart(
                f"{socket.gethostname()} may not load {host}:"
                f" start the worker with --i-may-load {host}"
            )
        if self._takes_dialect and plan.dialect is not None:
            with closing(SidecarClient(self._control_url)) as sidecar:
                sidecar.set_dialect(plan.dialect)

    def conclude(self) -> Share:
        """Send Locust's last statistics first, so that the master has everything when it has the
        ledger.
        """
        share, figures = super().conclude(), dict[str, Any]()
        self._runner.environment.events.report_to_master.fire(  # type: ignore[no-untyped-call]
            client_id=self._runner.client_id, data=figures
        )
        self._runner.send_message(STATS, figures)
        return share

    def _dismissed(self, environment: Environment, msg: Any) -> None:
        self.end(f"the master does not need this worker: {msg.data}", ExitCode.USAGE)

    def watch(self) -> None:
        """End the worker when its master has stopped it or has not been heard for too long."""
        while not self.over.wait(timeout=0.2):
            heard = self._runner.last_heartbeat_timestamp
            if not self._runner.greenlet:
                self.end("", 0)
            elif heard is not None and time.time() - heard > SILENT_S:
                self.end(
                    f"the master has been silent for {SILENT_S:.0f} s, so this worker ends",
                    ExitCode.UNREACHABLE,
                )


@contextmanager
def sidecar(options: Sequence[str]) -> Iterator[dict[str, str]]:
    """Start this worker's receiver and yield its addresses; it ends with this process."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "hookproof.load.sidecar.process", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        ready = process.stdout.readline()
        if not ready:
            raise CommandError("the receiver did not start")
        yield json.loads(ready)
    finally:
        process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=STOP_WITHIN_S)
        process.kill()
        process.wait()
        process.stdout.close()


def await_end_of_stdin(worker: Worker) -> None:
    """End the worker when the process that started it has ended."""
    make_nonblocking(STDIN)
    read_to_end(nb_read)
    worker.end("", 0)


# Other options are those of the receiver.
@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--master", required=True, metavar="H:P")
@click.option("--dialect", required=True)
@click.option(DIALECT_OF_MASTER, is_flag=True)
@click.option("--may-load")
@click.option(UNTIL_STDIN_CLOSES, is_flag=True)
@click.argument("of_receiver", nargs=-1, type=click.UNPROCESSED)
def main(
    master: str,
    dialect: str,
    dialect_of_master: bool,
    may_load: str | None,
    until_stdin_closes: bool,
    of_receiver: tuple[str, ...],
) -> None:
    """Work until the master ends the run of its command."""
    use_lasting_streams()
    show_tables()
    # Locust may kill a user that is just connecting; gevent leaves its socket to be collected.
    warnings.filterwarnings("ignore", "unclosed <socket object", ResourceWarning)
    if os.environ.get(OTEL_VARIABLE):
        try:
            set_up_otel("hookproof load")
        except OtelProblem as problem:
            print_text(f"hookproof load: {problem}", err=True)
            sys.exit(ExitCode.USAGE)
    at, key = Address.parse(master), os.environ.get(KEY_VARIABLE, "")
    with sidecar([*of_receiver, "--dialect", dialect]) as receiver:
        environment = Environment(
            user_classes=[SlotUser], events=locust.events, parsed_options=locust_settings()
        )
        if "metrics" in receiver:
            say(f"metrics of the receiver at {receiver['metrics']}")
        if not until_stdin_closes:
            say(f"receiver at {receiver['url']}, waiting for the master at {master}")
        try:
            runner = environment.create_worker_runner(at.host, at.port)
        except ConnectionError:
            print_line(f"hookproof load: no master answers at {master}", err=True)
            sys.exit(ExitCode.UNREACHABLE)
        worker = Worker(
            runner,
            control_url=receiver["control"],
            key=key,
            connection=connection_from(os.environ),
            may_load=may_load,
            takes_dialect=dialect_of_master,
        )
        hello = Hello(
            name=socket.gethostname(),
            url=receiver["url"],
            dialect=None if dialect_of_master else load_dialect(dialect).name,
            may_load=may_load,
        )
        runner.send_message(HELLO, packed(hello))  # type: ignore[arg-type]
        sys.exit(work(environment, worker, until_stdin_closes=until_stdin_closes))


def work(environment: Environment, worker: Worker, *, until_stdin_closes: bool) -> int:
    """Work until the end and return the exit code."""
    greenlets = [gevent.spawn(worker.report), gevent.spawn(worker.watch)]
    if until_stdin_closes:
        greenlets.append(gevent.spawn(await_end_of_stdin, worker))
    for number in (signal.SIGINT, signal.SIGTERM):
        gevent.signal_handler(
            number, worker.end, "this worker leaves the run", ExitCode.INTERRUPTED
        )
    worker.over.wait()
    gevent.killall(greenlets)
    why, code = worker.why or ("", 0)
    if why:
        print_text(f"hookproof load: {why}", err=True)
    if code in {ExitCode.INTERRUPTED, ExitCode.USAGE}:
        environment.events.quitting.fire(environment=environment)  # type: ignore[no-untyped-call]
        worker.send_pending_messages()
    return code


def locust_settings() -> Namespace:
    """The settings that Locust would read from its command line; a worker has none."""
    return Namespace(web_base_path="", tags=None, exclude_tags=None, headless=False)


if __name__ == "__main__":
    main()
