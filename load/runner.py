"""One run in a process of its own: `python -m load.runner PLAN RESULT` drives Locust and writes the figures.

Importing locust patches the process for gevent, which is why the command never imports this module.
"""

import locust  # first: it patches what the other imports bring in

# isort: split
import json
import logging
import signal
import sys
import time
from pathlib import Path
from typing import Any, Final

import gevent
from gevent.event import Event
from locust.env import Environment
from locust.stats import print_stats, stats_printer

from load.ledger import Ledger
from load.plan import Plan
from load.schedule import Schedule
from load.users import BroadcastUser
from load.witness import Witness

START_DELAY_S: Final = 0.5
"""Time for the users to be spawned before the first slot."""

LONGEST_ANSWER_S: Final = 30.0
"""Above the users' own time-outs: what is not answered by then never will be."""


def run(plan: Plan) -> dict[str, Any]:
    """Carry out a plan; returns the ledger's summary and the generator's own condition."""
    ledger = Ledger()
    environment = Environment(user_classes=[BroadcastUser], host=plan.base_url, events=locust.events)
    schedule = Schedule(rate=plan.rate, duration_s=plan.duration_s)
    witness = Witness(plan.witness_url, plan.visit_methods, ledger, environment)
    arm(plan, schedule, ledger)
    runner = environment.create_local_runner()
    following = gevent.spawn(witness.follow)
    printing = gevent.spawn(stats_printer(environment.stats))
    interrupted = Event()
    gevent.signal_handler(signal.SIGINT, interrupted.set)
    started, burned = time.time(), time.process_time()
    runner.start(plan.users, spawn_rate=plan.users)
    wait_for_answers(plan, schedule, ledger, interrupted)
    cpu_share = (time.process_time() - burned) / max(0.001, time.time() - started)
    runner.stop()
    witness.drain(time.time() + plan.drain_s)
    gevent.killall([following, printing])
    witness.close()
    print_stats(environment.stats, current=False)
    runner.quit()
    return {
        **ledger.summary(),
        "intended": schedule.total,
        "answers_missing": len(ledger.intended) - ledger.answers,
        "interrupted": interrupted.is_set(),
        "generator_cpu_share": cpu_share,
        "witness_problem": witness.problem,
    }


def arm(plan: Plan, schedule: Schedule, ledger: Ledger) -> None:
    """Give the user class what its instances share."""
    BroadcastUser.plan = plan
    BroadcastUser.schedule = schedule
    BroadcastUser.ledger = ledger
    BroadcastUser.started_at = time.time() + START_DELAY_S


def wait_for_answers(plan: Plan, schedule: Schedule, ledger: Ledger, interrupted: Event) -> None:
    """Wait until every slot is answered, ctrl-C, or far longer than any answer may take."""
    deadline = time.time() + plan.duration_s + LONGEST_ANSWER_S
    while ledger.answers < schedule.total and time.time() < deadline:
        if interrupted.wait(timeout=0.1):
            return


def show_tables() -> None:
    """Send Locust's tables to standard output, and of its other messages only warnings, to standard error."""
    logging.getLogger("locust").setLevel(logging.WARNING)
    tables = logging.getLogger("locust.stats_logger")
    tables.setLevel(logging.INFO)
    tables.addHandler(logging.StreamHandler(sys.stdout))
    tables.propagate = False


def main() -> None:
    """Read the plan, run it, write the result."""
    show_tables()
    plan, result = Path(sys.argv[1]), Path(sys.argv[2])
    result.write_text(json.dumps(run(Plan.read(plan))), encoding="utf-8")


if __name__ == "__main__":
    main()
