"""The head of runs, a process of its own: the master of several workers, or the only generator.

    python -P -m hookproof.load.locust_worker.head_process --bind H:P --workers N --replies FD
    python -P -m hookproof.load.locust_worker.head_process --control URL --replies FD

A master waits for its workers and reports them to the command that started it; the command creates
their endpoints at the target and requests runs, one JSON line each on standard input. In a run
every worker sends its share of the slots and reports its progress twice a second. The replies are
JSON lines too. The master ends when its standard input does, and its workers with it.

With `--control`, the control API of a sidecar, the process is its own and only worker, for one run:
Locust's runner hands each message to the listeners of this process then. Importing Locust patches
the process for gevent, which is why the command never imports this module.
"""

import locust  # first: it patches what the other imports bring in

# isort: split
import os
import select
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

import click
import gevent
import msgspec
from gevent.fileobject import FileObjectPosix
from gevent.os import make_nonblocking, nb_read
from locust.env import Environment
from locust.exception import RPCError
from locust.rpc.protocol import Message
from locust.runners import HEARTBEAT_LIVENESS, STATE_INIT, LocalRunner, MasterRunner
from locust.stats import print_stats
from zmq import ZMQError

from hookproof.load.ledger.draining import Drain
from hookproof.load.ledger.head_messages import HeadReply, Hello, RunRequest, packed, unpacked
from hookproof.load.ledger.run_progress import RunProgress
from hookproof.load.ledger.share import LostWorker, RunResult, Share
from hookproof.load.locust_worker.generator import START_DELAY_S
from hookproof.load.locust_worker.messages import (
    CONCLUDE,
    DISMISSED,
    HELLO,
    INTERRUPT,
    RUN,
    SHARE,
    TALLY,
)
from hookproof.load.locust_worker.participant import Participant
from hookproof.load.locust_worker.progress import (
    Interrupts,
    drain,
    replying_to,
    report_progress,
    say,
    show_progress,
)
from hookproof.load.locust_worker.slot_user import SlotUser
from hookproof.load.locust_worker.stats_display import serve_web_page, show_tables, stats_csv
from hookproof.load.locust_worker.tracing import OtelProblem, set_up_otel
from hookproof.load.locust_worker.users import LONGEST_ANSWER_S
from hookproof.load.plan import LoadPlan
from hookproof.load.target.settings import KEY_VARIABLE, OTEL_VARIABLE, connection_from
from hookproof.process.standard_streams import STDIN, end_with_parent, use_lasting_streams
from hookproof.receiver.http.address import Address

# Seconds without a heartbeat after which a worker is given up; a busy machine may miss some.
LOST_AFTER_S: Final = 10

# What Locust calls the only process.
LOCAL: Final = "local"

# Locust's own message types between a worker and its master.
COMING: Final = "client_ready"
GREETING: Final = "ack"

SHARE_WITHIN_S: Final = 120.0
READY_WITHIN_S: Final = 30.0
# Every loop that waits here looks so often, has a deadline, and lets Locust's greenlets go on.
LOOK_EVERY_S: Final = 0.1


@dataclass(slots=True, kw_only=True)
class WorkerState:
    """A worker as its master knows it; `client` is its id at Locust."""

    number: int
    client: str
    hello: Hello
    tally: RunProgress
    share: Share | None = None
    lost: LostWorker | None = None


class FixedWorkersRunner(MasterRunner):
    """Locust's master, which assigns users to `accepted_clients` only, once these are known."""

    accepted_clients: frozenset[str] | None = None

    def handle_message(self, client_id: str, msg: Message) -> None:
        """Acknowledge a worker that comes too late, so that it can be dismissed.

        All other messages are handled by Locust.
        """
        if (
            msg.type == COMING
            and self.accepted_clients is not None
            and client_id not in self.accepted_clients
        ):
            self.send_message(
                GREETING, data={"index": len(self.accepted_clients)}, client_id=client_id
            )
            return
        super().handle_message(client_id, msg)


class Head:
    def __init__(self, runner: FixedWorkersRunner | LocalRunner, *, workers: int) -> None:
        self._runner = runner
        self._wanted = workers
        self._interrupts = Interrupts()
        self._began = time.time()
        self.workers: dict[str, WorkerState] = {}
        for kind, listener in ((HELLO, self._hello), (TALLY, self._tally), (SHARE, self._share)):
            runner.register_message(kind, listener)

    @property
    def interrupts(self) -> Interrupts:
        """Ctrl-C, which this process handles for all workers."""
        return self._interrupts

    def wait_for_workers(self, within_s: float) -> None:
        """Wait until all workers have connected; raises TimeoutError and KeyboardInterrupt."""
        deadline = time.time() + within_s
        while len(self.workers) < self._wanted:
            command_has_gone = bool(select.select([STDIN], [], [], 0)[0])
            if self._interrupts.count or command_has_gone:
                raise KeyboardInterrupt
            if time.time() > deadline:
                raise TimeoutError(
                    f"{len(self.workers)} of {self._wanted} workers came within {within_s:g} s"
                )
            gevent.sleep(LOOK_EVERY_S)

    def run(self, plans: list[LoadPlan], reply: Callable[[HeadReply], None]) -> RunResult:
        """Carry out one run, from the first slot until all workers have sent their shares."""
        plan, duration_s = plans[0], plans[0].shape.duration_s
        self._begin(plans)
        watching = [
            gevent.spawn(show_progress, self.tally, started_at=self._began, duration_s=duration_s),
            gevent.spawn(report_progress, self.tally, reply),
        ]
        self._wait(
            lambda worker: worker.tally.finished, duration_s + LONGEST_ANSWER_S + READY_WITHIN_S
        )
        drained = drain(
            self.tally,
            self._interrupts,
            plan,
            some_never_come=lambda: self._someone_is_lost() or plan.may_drop,
        )
        for worker in self._living():
            self._runner.send_message(CONCLUDE, client_id=worker.client)
        self._wait(lambda worker: worker.share is not None, SHARE_WITHIN_S)
        self._give_up([worker for worker in self._living() if worker.share is None])
        gevent.killall(watching)
        reply(HeadReply(progress=self.tally()))
        return self._gathered(drained)

    def rest(self) -> None:
        """Stop all users and wait until all workers are ready for another run."""
        self._runner.stop()
        deadline = time.time() + READY_WITHIN_S
        while (
            any(self._state(worker) != STATE_INIT for worker in self._living())
            and time.time() < deadline
        ):
            gevent.sleep(LOOK_EVERY_S)

    def tally(self) -> RunProgress:
        """The progress of the run; a lost worker counts with its last message."""
        return reduce(
            RunProgress.plus,
            (worker.tally for worker in self.workers.values()),
            RunProgress(finished=True),
        )

    def in_order(self) -> list[WorkerState]:
        """The workers in the order of their numbers."""
        return sorted(self.workers.values(), key=lambda worker: worker.number)

    def _begin(self, plans: list[LoadPlan]) -> None:
        for worker, plan in zip(self.in_order(), plans, strict=True):
            worker.tally, worker.share = RunProgress(), None
            if worker.lost is None:
                self._runner.send_message(RUN, packed(plan), client_id=worker.client)  # type: ignore[arg-type]
        self._began = time.time() + START_DELAY_S
        if not self._interrupts.count:
            self._runner.start(plans[0].users, spawn_rate=plans[0].users)

    def _wait(self, done: Callable[[WorkerState], bool], within_s: float) -> None:
        """Wait until `done` holds for all workers that are not lost, and pass ctrl-C on to them."""
        deadline, passed_on = time.time() + within_s, 0
        while not all(done(worker) for worker in self._living()) and time.time() < deadline:
            while passed_on < self._interrupts.count:
                passed_on += 1
                deadline = min(deadline, time.time() + 2 * LONGEST_ANSWER_S)
                self._runner.send_message(INTERRUPT)
            self._someone_is_lost()
            gevent.sleep(LOOK_EVERY_S)

    def _someone_is_lost(self) -> bool:
        self._give_up([worker for worker in self._living() if self._silent(worker)])
        return any(worker.lost for worker in self.workers.values())

    def _living(self) -> list[WorkerState]:
        return [worker for worker in self.workers.values() if worker.lost is None]

    def _silent(self, worker: WorkerState) -> bool:
        if isinstance(self._runner, LocalRunner):
            return False
        client = self._runner.clients.get(worker.client)
        return client is None or client.heartbeat <= HEARTBEAT_LIVENESS - LOST_AFTER_S

    def _state(self, worker: WorkerState) -> str | None:
        if isinstance(self._runner, LocalRunner):
            return STATE_INIT
        client = self._runner.clients.get(worker.client)
        return None if client is None else str(client.state)

    def _give_up(self, workers: list[WorkerState]) -> None:
        for worker in workers:
            worker.lost = LostWorker(
                worker=worker.number,
                name=worker.hello.name,
                after_s=max(0.0, time.time() - self._began),
                accepted=worker.tally.accepted,
                refused=worker.tally.refused,
            )
            say(
                f"worker {worker.number + 1} ({worker.hello.name}) is lost;"
                f" {worker.tally.accepted:,} of its broadcasts were accepted"
            )

    def _gathered(self, drained: Drain) -> RunResult:
        workers = self.in_order()
        return RunResult(
            started_at=self._began,
            workers=len(workers),
            shares=[
                worker.share
                for worker in workers
                if worker.lost is None and worker.share is not None
            ],
            lost_workers=[worker.lost for worker in workers if worker.lost is not None],
            interrupted=self._interrupts.count > 0,
            drain=drained,
            table=stats_csv(self._runner.environment),
        )

    def _hello(self, environment: Environment, msg: Any) -> None:
        hello, client = unpacked(msg.data, Hello), str(msg.node_id)
        if client in self.workers:
            return
        if len(self.workers) == self._wanted:
            self._runner.send_message(DISMISSED, f"it has all {self._wanted}", client_id=client)  # type: ignore[arg-type]
            return
        number = len(self.workers)
        self.workers[client] = WorkerState(
            number=number, client=client, hello=hello, tally=RunProgress()
        )
        if len(self.workers) == self._wanted:
            assert isinstance(self._runner, FixedWorkersRunner)
            self._runner.accepted_clients = frozenset(self.workers)
        say(f"worker {number + 1} of {self._wanted}: {hello.name}, receiver at {hello.url}")

    def _tally(self, environment: Environment, msg: Any) -> None:
        worker = self.workers.get(str(msg.node_id))
        if worker is not None and worker.lost is None:
            worker.tally = unpacked(msg.data, RunProgress)

    def _share(self, environment: Environment, msg: Any) -> None:
        worker = self.workers.get(str(msg.node_id))
        if worker is not None:
            worker.share = unpacked(msg.data, Share)


@click.command()
@click.option("--control", metavar="URL")
@click.option("--bind", default="127.0.0.1:0", metavar="H:P")
@click.option("--workers", default=1, type=int)
@click.option("--within", default=0.0, type=float)
@click.option("--replies", required=True, type=int)
@click.option("--web", metavar="H:P")
@click.option("--announce", is_flag=True)
def main(
    control: str | None,
    bind: str,
    workers: int,
    within: float,
    replies: int,
    web: str | None,
    announce: bool,
) -> None:
    """Lead the workers until the command requests no more runs."""
    use_lasting_streams()
    show_tables()
    reply = replying_to(replies)
    if control is not None:
        run_alone(control, web, reply)
        return
    try:
        lead(Address.parse(bind), workers, within, web, announce, reply)
    except OSError as problem:
        reply(HeadReply(problem=" ".join(str(problem).split())))
    except KeyboardInterrupt:
        reply(HeadReply(problem="interrupted before all workers had come"))


def lead(
    bind: Address,
    workers: int,
    within_s: float,
    web: str | None,
    announce: bool,
    reply: Callable[[HeadReply], None],
) -> None:
    """Wait for the workers, then carry out requests until there are no more."""
    environment = Environment(user_classes=[SlotUser], events=locust.events)
    try:
        environment.runner = runner = FixedWorkersRunner(environment, bind.host, bind.port)
    except (SystemExit, RPCError, ZMQError):
        raise OSError(f"cannot listen for workers on {bind.host}:{bind.port}") from None
    head = Head(runner, workers=workers)
    try:
        head.interrupts.listen()
        reply(HeadReply(port=runner.server.port))
        if announce:
            say(f"waiting for {workers} workers at {bind.host}:{runner.server.port}")
        show_page(head, environment, web)
        head.wait_for_workers(within_s)
        reply(HeadReply(workers=[worker.hello for worker in head.in_order()]))
        with FileObjectPosix(STDIN, "rb") as requests:
            for line in requests:
                plans = msgspec.json.decode(line, type=RunRequest).plans
                reply(HeadReply(result=packed(carry_out(head, environment, plans, reply))))
                head.rest()
    finally:
        runner.quit()


def run_alone(control_url: str, web: str | None, reply: Callable[[HeadReply], None]) -> None:
    """Carry out the run that the command requests, as its only worker."""
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):  # the command has ended
        return
    make_nonblocking(STDIN)
    gevent.spawn(end_with_parent, nb_read)
    if os.environ.get(OTEL_VARIABLE):
        try:
            set_up_otel("hookproof load")
        except OtelProblem as problem:
            reply(HeadReply(problem=str(problem)))
            return
    environment = Environment(user_classes=[SlotUser], events=locust.events)
    runner = environment.create_local_runner()
    head = Head(runner, workers=1)
    own = Hello(name=LOCAL, url="", dialect=None, may_load=None)
    head.workers[LOCAL] = WorkerState(number=0, client=LOCAL, hello=own, tally=RunProgress())
    key, connection = os.environ.get(KEY_VARIABLE, ""), connection_from(os.environ)
    participant = Participant(runner, control_url=control_url, key=key, connection=connection)
    gevent.spawn(participant.report)
    head.interrupts.listen()
    show_page(head, environment, web)
    plans = msgspec.json.decode(line, type=RunRequest).plans
    reply(HeadReply(result=packed(carry_out(head, environment, plans, reply))))
    runner.quit()


def show_page(head: Head, environment: Environment, web: str | None) -> None:
    """Serve Locust's page, if that is asked for."""
    if web is not None:
        url = serve_web_page(environment, Address.parse(web), head.interrupts.interrupt)
        say(f"web page at {url}")


def carry_out(
    head: Head,
    environment: Environment,
    plans: list[LoadPlan],
    reply: Callable[[HeadReply], None],
) -> RunResult:
    """Carry out one run; what it has gathered."""
    environment.host = plans[0].base_url
    gathered = head.run(plans, reply)
    if environment.stats.num_requests:
        print_stats(environment.stats, current=False)
    return gathered


if __name__ == "__main__":
    main()
