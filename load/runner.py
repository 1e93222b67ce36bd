"""One run in a process of its own: `python -P -m load.runner PLAN RESULT` drives Locust and writes what was sent.

Importing locust patches the process for gevent, which is why the command never imports this module. While it runs it
tells its progress on standard output, a line a second at most; Locust's tables follow when the last delivery has come.
"""

import locust  # first: it patches what the other imports bring in

# isort: split
import logging
import signal
import sys
import time
from pathlib import Path
from typing import Final

import gevent
import msgspec
from gevent.event import Event
from locust.env import Environment
from locust.stats import print_stats

from load.latency import stretch_s
from load.plan import Plan
from load.schedule import Point, Schedule, Shape
from load.sending import Sending, Sent
from load.sidecar_link import SidecarLink
from load.users import ANSWER_WITHIN_S, LoadUser, Work

START_DELAY_S: Final = 0.5
"""Time for the users to be spawned before the first slot."""

LONGEST_ANSWER_S: Final = 2 * ANSWER_WITHIN_S
"""Connecting and answering may each take their time; what is not answered by then never will be."""

WATCH_S: Final = 1.5
"""How long a run goes on watching after the last delivery that it waits for: for what comes twice."""

QUIET_S: Final = 3.0
"""Where the target may drop deliveries, silence of this length ends the drain."""

PROGRESS_LINES: Final = 60
"""About how many lines of progress a run shows, unless it is shorter than that in seconds."""


def run(plan: Plan) -> Sent:
    """Carry out a plan: everything is sent and answered when it returns, or an interrupt has ended it early."""
    shape = Shape(points=tuple(Point(at_s=at_s, rate=rate) for at_s, rate in plan.points))
    started_at = time.time() + START_DELAY_S
    sending = Sending(shape.slots, started_at=started_at, stretch_s=stretch_s(shape.duration_s))
    environment = Environment(user_classes=[LoadUser], host=plan.base_url, events=locust.events)
    LoadUser.work = work = Work.of(plan, Schedule(shape), sending)
    link = SidecarLink(plan, sending, environment)
    link.begin(shape.slots, stretch_s(shape.duration_s))
    runner = environment.create_local_runner()
    interrupts = Interrupts()
    gevent.signal_handler(signal.SIGINT, interrupts.raised)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # whoever started this process had blocked it
    aside = [gevent.spawn(link.follow), gevent.spawn(show_progress, shape, work, link)]
    aside += [gevent.spawn(link.play, spell) for spell in plan.spells]
    if plan.rolls is not None:
        aside.append(gevent.spawn(link.roll, plan.rolls, shape.duration_s))
    burned = time.process_time()
    runner.start(plan.users, spawn_rate=plan.users)
    wait_for_answers(shape, work, interrupts)
    ended_at = time.time()
    cpu_share = (time.process_time() - burned) / max(0.001, ended_at - started_at)
    runner.stop()
    drain(plan, sending, link, interrupts)
    gevent.killall(aside)
    link.close()
    print_stats(environment.stats, current=False)
    runner.quit()
    return Sent(
        broadcasts=bytes(sending.broadcasts[: work.begun]),
        counts=dict(sending.counts),
        samples=sending.samples,
        answering=sending.answering.encode().decode(),
        lateness=sending.lateness.encode().decode(),
        over_time=[dict(one) for one in sending.over_time.told()],
        started_at=started_at,
        ended_at=ended_at,
        cpu_share=cpu_share,
        interrupted=interrupts.count > 0,
        problem=link.problem,
    )


class Interrupts:
    """Ctrl-C: the first ends the sending, a further one the wait for deliveries."""

    def __init__(self) -> None:
        self.count = 0
        self.new = Event()

    def raised(self) -> None:
        """Count one."""
        self.count += 1
        self.new.set()


def wait_for_answers(shape: Shape, work: Work, interrupts: Interrupts) -> None:
    """Wait until every slot is answered, or ctrl-C and what is under way, or far longer than any answer may take."""
    total, counts = shape.slots, work.sending.counts
    deadline = work.sending.started_at + shape.duration_s + LONGEST_ANSWER_S
    while counts["done"] < total and time.time() < deadline:
        interrupts.new.wait(timeout=0.05)
        if interrupts.count and not work.stopping:
            work.stopping, deadline = True, time.time() + LONGEST_ANSWER_S
        if work.stopping:
            gevent.sleep(0.05)
            total = counts["requests"]


def drain(plan: Plan, sending: Sending, link: SidecarLink, interrupts: Interrupts) -> None:
    """Wait until all that must come has come, or the profile's deadline, or one more ctrl-C."""
    expected, stop_at = sending.counts["accepted"] * plan.deliveries_each, 1 + (interrupts.count > 0)
    deadline = time.time() + plan.drain_s
    arrived, quiet_since = -1, time.time()
    while time.time() < deadline and interrupts.count < stop_at and link.problem is None:
        if link.arrived != arrived:
            arrived, quiet_since = link.arrived, time.time()
        complete, quiet_s = link.settled >= expected, time.time() - quiet_since
        if quiet_s >= (WATCH_S if complete else QUIET_S) and (complete or plan.may_drop):
            return
        gevent.sleep(0.1)


def show_progress(shape: Shape, work: Work, link: SidecarLink) -> None:
    """Say how far the run is, until killed; the backlog is what was accepted and has not arrived."""
    every_s = max(1.0, shape.duration_s / PROGRESS_LINES)
    accepted_before = arrived_before = 0
    while True:
        gevent.sleep(every_s)
        counts = work.sending.counts
        accepted, refused, arrived = counts["accepted"], counts["refused"], link.arrived
        accepted_rate, arrived_rate = (accepted - accepted_before) / every_s, (arrived - arrived_before) / every_s
        line = (
            f"{max(0.0, time.time() - work.sending.started_at):6.0f} s"
            f"  accepted {accepted:,} ({accepted_rate:,.0f}/s)  refused {refused:,}"
            f"  arrived {arrived:,} ({arrived_rate:,.0f}/s)  backlog {link.backlog:,}"
        )
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
        accepted_before, arrived_before = accepted, arrived


def show_tables() -> None:
    """Send Locust's tables to standard output, and of its other messages only warnings, to standard error."""
    logging.getLogger("locust").setLevel(logging.WARNING)
    logging.getLogger("locust.runners").setLevel(logging.ERROR)  # it warns of users that are spawned all at once
    tables = logging.getLogger("locust.stats_logger")
    tables.setLevel(logging.INFO)
    tables.addHandler(logging.StreamHandler(sys.stdout))
    tables.propagate = False


def main() -> None:
    """Read the plan, run it, write the result."""
    show_tables()
    plan, result = Path(sys.argv[1]), Path(sys.argv[2])
    result.write_bytes(msgspec.json.encode(run(Plan.read(plan))))


if __name__ == "__main__":
    main()
