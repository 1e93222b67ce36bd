"""The master of a distributed run: `python -P -m load.master --bind H:P --workers N --replies FD`.

It waits for its workers and tells its command who they are; the command makes their endpoints at
the target and asks for runs, one JSON line each on standard input. In a run every worker sends its
share of the slots, and says twice a second where it stands. The replies are JSON lines too; what
was gathered is in the file that the request names. The master ends when its standard input does,
and its workers with it.
"""

import locust  # first: it patches what the other imports bring in

# isort: split
import os
import select
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, Final

import click
import gevent
import msgspec
from gevent.fileobject import FileObjectPosix
from locust.env import Environment
from locust.exception import RPCError
from locust.rpc.protocol import Message
from locust.runners import HEARTBEAT_LIVENESS, STATE_INIT, MasterRunner
from locust.stats import print_stats
from zmq import ZMQError

from hookproof.load.distributed.messages import (
    CONCLUDE,
    DISMISSED,
    HELLO,
    INTERRUPT,
    RUN,
    SHARE,
    TALLY,
    Hello,
    Reply,
    Request,
    packed,
    unpacked,
)
from hookproof.load.ledger.share import Gathered, LostWorker, Share
from hookproof.load.locust_worker.generator import LONGEST_ANSWER_S, START_DELAY_S
from hookproof.load.locust_worker.progress import Interrupts, Tally, drain, say, show_progress
from hookproof.load.locust_worker.stats_display import csv_of, show_page, show_tables
from hookproof.load.locust_worker.users import LoadUser
from hookproof.load.plan import Plan
from hookproof.receiver.http.address import Address

# Seconds without a heartbeat after which a worker is given up; a busy machine has hiccups of some.
LOST_AFTER_S: Final = 10

COMING: Final = "client_ready"
# Locust's own words between a worker and its master.
GREETING: Final = "ack"

SHARE_WITHIN_S: Final = 120.0
READY_WITHIN_S: Final = 30.0
LOOK_EVERY_S: Final = 0.1


@dataclass(slots=True, kw_only=True)
class Member:
    """A worker as its master knows it: its number, its name at Locust, and what it has last said."""

    number: int
    client: str
    hello: Hello
    tally: Tally
    share: Share | None = None
    lost: LostWorker | None = None


class ClosedRunner(MasterRunner):
    """Locust's master, which gives users to its `crew` alone once that is there, and to nobody who
    comes later.
    """

    crew: frozenset[str] | None = None

    def handle_message(self, client_id: str, msg: Message) -> None:
        """Greet one that comes too late, so that it hears that it is, and do with all others as
        Locust does.
        """
        if msg.type == COMING and self.crew is not None and client_id not in self.crew:
            self.send_message(GREETING, data={"index": len(self.crew)}, client_id=client_id)
            return
        super().handle_message(client_id, msg)


class Master:
    """Leads the workers through one run after the other."""

    def __init__(self, runner: ClosedRunner, *, workers: int) -> None:
        self._runner = runner
        self._wanted = workers
        self._interrupts = Interrupts()
        self._began = time.time()
        self.members: dict[str, Member] = {}
        for kind, listener in ((HELLO, self._hello), (TALLY, self._tally), (SHARE, self._share)):
            runner.register_message(kind, listener)

    @property
    def interrupts(self) -> Interrupts:
        """Ctrl-C, which this process takes for all workers."""
        return self._interrupts

    def wait_for_workers(self, within_s: float) -> None:
        """Wait until all are there; raises TimeoutError and KeyboardInterrupt."""
        deadline = time.time() + within_s
        while len(self.members) < self._wanted:
            if self._interrupts.count or select.select([0], [], [], 0)[0]:  # the command has gone
                raise KeyboardInterrupt
            if time.time() > deadline:
                raise TimeoutError(
                    f"{len(self.members)} of {self._wanted} workers came within {within_s:g} s"
                )
            gevent.sleep(LOOK_EVERY_S)

    def run(self, plans: list[Plan]) -> Gathered:
        """One run, from the first slot to all shares."""
        plan, duration_s = plans[0], plans[0].shape.duration_s
        self._begin(plans)
        progress = gevent.spawn(
            show_progress,
            self.tally,
            started_at=self._began,
            duration_s=duration_s,
        )
        self._wait(lambda one: one.tally.finished, duration_s + LONGEST_ANSWER_S + READY_WITHIN_S)
        drain(
            self.tally,
            self._interrupts,
            deliveries_each=plan.deliveries_each,
            drain_s=plan.drain_s,
            some_never_come=lambda: self._someone_is_lost() or plan.may_drop,
        )
        for one in self._living():
            self._runner.send_message(CONCLUDE, client_id=one.client)
        self._wait(lambda one: one.share is not None, SHARE_WITHIN_S)
        self._give_up([one for one in self._living() if one.share is None])
        progress.kill()
        return self._gathered()

    def rest(self) -> None:
        """Have all users stopped and all workers ready for another run."""
        self._runner.stop()
        deadline = time.time() + READY_WITHIN_S
        while (
            any(self._state(one) != STATE_INIT for one in self._living()) and time.time() < deadline
        ):
            gevent.sleep(LOOK_EVERY_S)

    def tally(self) -> Tally:
        """Where the run stands, with the last words of those that are lost."""
        return reduce(
            Tally.plus, (one.tally for one in self.members.values()), Tally(finished=True)
        )

    def _begin(self, plans: list[Plan]) -> None:
        members = sorted(self.members.values(), key=lambda one: one.number)
        self._began = time.time() + START_DELAY_S
        for one, plan in zip(members, plans, strict=True):
            one.tally, one.share = Tally(), None
            if one.lost is None:
                self._runner.send_message(RUN, packed(plan), client_id=one.client)  # type: ignore[arg-type]
        self._runner.start(plans[0].users, spawn_rate=plans[0].users)

    def _wait(self, done: Callable[[Member], bool], within_s: float) -> None:
        """Wait until it is so of all that are not lost; hand ctrl-C on to them meanwhile."""
        deadline, handed_on = time.time() + within_s, 0
        while not all(done(one) for one in self._living()) and time.time() < deadline:
            while handed_on < self._interrupts.count:
                handed_on += 1
                deadline = min(deadline, time.time() + 2 * LONGEST_ANSWER_S)
                self._runner.send_message(INTERRUPT)
            self._someone_is_lost()
            gevent.sleep(LOOK_EVERY_S)

    def _someone_is_lost(self) -> bool:
        self._give_up([one for one in self._living() if self._silent(one)])
        return any(one.lost for one in self.members.values())

    def _living(self) -> list[Member]:
        return [one for one in self.members.values() if one.lost is None]

    def _silent(self, member: Member) -> bool:
        client = self._runner.clients.get(member.client)
        return client is None or client.heartbeat <= HEARTBEAT_LIVENESS - LOST_AFTER_S

    def _state(self, member: Member) -> str | None:
        client = self._runner.clients.get(member.client)
        return None if client is None else str(client.state)

    def _give_up(self, members: list[Member]) -> None:
        for one in members:
            one.lost = LostWorker(
                worker=one.number,
                name=one.hello.name,
                after_s=max(0.0, time.time() - self._began),
                accepted=one.tally.accepted,
                refused=one.tally.refused,
            )
            say(
                f"worker {one.number + 1} ({one.hello.name}) is lost; it had {one.tally.accepted:,} broadcasts accepted"
            )

    def _gathered(self) -> Gathered:
        members = sorted(self.members.values(), key=lambda one: one.number)
        return Gathered(
            started_at=self._began,
            workers=len(members),
            shares=[one.share for one in members if one.lost is None and one.share is not None],
            lost_workers=[one.lost for one in members if one.lost is not None],
            interrupted=self._interrupts.count > 0,
            table=csv_of(self._runner.environment),
        )

    def _hello(self, environment: Environment, msg: Any) -> None:
        hello, client = unpacked(msg.data, Hello), str(msg.node_id)
        if client in self.members:
            return
        if len(self.members) == self._wanted:
            self._runner.send_message(DISMISSED, f"it has all {self._wanted}", client_id=client)  # type: ignore[arg-type]
            return
        number = len(self.members)
        self.members[client] = Member(number=number, client=client, hello=hello, tally=Tally())
        if len(self.members) == self._wanted:
            self._runner.crew = frozenset(self.members)
        say(f"worker {number + 1} of {self._wanted}: {hello.name}, receiver at {hello.url}")

    def _tally(self, environment: Environment, msg: Any) -> None:
        if (member := self.members.get(str(msg.node_id))) is not None and member.lost is None:
            member.tally = unpacked(msg.data, Tally)

    def _share(self, environment: Environment, msg: Any) -> None:
        if (member := self.members.get(str(msg.node_id))) is not None:
            member.share = unpacked(msg.data, Share)


@click.command()
@click.option("--bind", required=True, metavar="H:P")
@click.option("--workers", required=True, type=int)
@click.option("--within", required=True, type=float)
@click.option("--replies", required=True, type=int)
@click.option("--web", metavar="H:P")
@click.option("--announce", is_flag=True)
def main(
    bind: str, workers: int, within: float, replies: int, web: str | None, announce: bool
) -> None:
    """Lead the workers until the command has no more runs."""
    show_tables()

    def reply(what: Reply) -> None:
        with suppress(
            BrokenPipeError
        ):  # the command has gone, and so does this process in a moment
            os.write(replies, msgspec.json.encode(what) + b"\n")

    try:
        lead(Address.parse(bind), workers, within, web, announce, reply)
    except OSError as problem:
        reply(Reply(problem=" ".join(str(problem).split())))
    except KeyboardInterrupt:
        reply(Reply(problem="interrupted before all workers had come"))


def lead(
    bind: Address,
    workers: int,
    within_s: float,
    web: str | None,
    announce: bool,
    reply: Callable[[Reply], None],
) -> None:
    """Gather the workers, then carry out requests until there are no more."""
    environment = Environment(user_classes=[LoadUser], events=locust.events)
    try:
        environment.runner = runner = ClosedRunner(environment, bind.host, bind.port)
    except (SystemExit, RPCError, ZMQError):
        raise OSError(f"cannot listen for workers on {bind.host}:{bind.port}") from None
    master = Master(runner, workers=workers)
    try:
        master.interrupts.listen()
        reply(Reply(port=runner.server.port))
        if announce:
            say(f"waiting for {workers} workers at {bind.host}:{runner.server.port}")
        if web is not None:
            say(
                f"web page at {show_page(environment, Address.parse(web), master.interrupts.raised)}"
            )
        master.wait_for_workers(within_s)
        reply(
            Reply(
                workers=[
                    one.hello for one in sorted(master.members.values(), key=lambda one: one.number)
                ]
            )
        )
        with FileObjectPosix(0, "rb") as asked:
            for line in asked:
                carry_out(master, environment, msgspec.json.decode(line, type=Request))
                reply(Reply(done=True))
    finally:
        runner.quit()


def carry_out(master: Master, environment: Environment, wanted: Request) -> None:
    """One run, and its result into the file."""
    plans = msgspec.msgpack.decode(Path(wanted.plans).read_bytes(), type=list[Plan])
    environment.host = plans[0].base_url
    gathered = master.run(plans)
    print_stats(environment.stats, current=False)
    Path(wanted.result).write_bytes(msgspec.msgpack.encode(gathered))
    master.rest()


if __name__ == "__main__":
    main()
