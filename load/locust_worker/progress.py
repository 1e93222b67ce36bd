"""How far a run is: shown while it lasts, and watched until all that must arrive has arrived.

What is watched is a `Tally`: that of one generator, or the sum over the workers of a master. It
imports gevent, so only locust's processes import it.
"""

import signal
import sys
import time
from collections.abc import Callable
from typing import Final

import gevent
import msgspec
from gevent.event import Event

# How long a run goes on watching after the last delivery that it waits for: for what comes twice.
WATCH_S: Final = 1.5

# Where some deliveries need not come, silence of this length ends the drain.
QUIET_S: Final = 8.0

# About how many lines of progress a run shows, unless it is shorter than that in seconds.
PROGRESS_LINES: Final = 60


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run stands. `settled` deliveries have arrived or failed for good; `problem` keeps it
    from going on.

    `backlog` is what was accepted and not settled when the sidecar was last asked; that of one
    worker may be below zero, since its sidecar sees the deliveries of others.
    """

    accepted: int = 0
    refused: int = 0
    arrived: int = 0
    settled: int = 0
    backlog: int = 0
    finished: bool = False
    problem: str | None = None

    def plus(self, other: "Tally") -> "Tally":
        """Both together."""
        return Tally(
            accepted=self.accepted + other.accepted,
            refused=self.refused + other.refused,
            arrived=self.arrived + other.arrived,
            settled=self.settled + other.settled,
            backlog=self.backlog + other.backlog,
            finished=self.finished and other.finished,
            problem=self.problem or other.problem,
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

    def listen(self) -> None:
        """Take those of this process, which whoever started it had blocked."""
        gevent.signal_handler(signal.SIGINT, self.raised)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])


def drain(
    tally: Callable[[], Tally],
    interrupts: Interrupts,
    *,
    deliveries_each: int,
    drain_s: float,
    some_never_come: Callable[[], bool],
) -> None:
    """Wait until all that must come has come, or so many seconds have passed, or for one more
    ctrl-C.
    """
    stop_at, deadline = 1 + (interrupts.count > 0), time.time() + drain_s
    arrived, quiet_since = -1, time.time()
    while (
        time.time() < deadline and interrupts.count < stop_at and (now := tally()).problem is None
    ):
        if now.arrived != arrived:
            arrived, quiet_since = now.arrived, time.time()
        complete, quiet_s = now.settled >= now.accepted * deliveries_each, time.time() - quiet_since
        if quiet_s >= (WATCH_S if complete else QUIET_S) and (complete or some_never_come()):
            return
        gevent.sleep(0.1)


def show_progress(tally: Callable[[], Tally], *, started_at: float, duration_s: float) -> None:
    """Say how far the run is, until killed; the backlog is what was accepted and has not arrived."""
    every_s, before = max(1.0, duration_s / PROGRESS_LINES), Tally()
    while True:
        gevent.sleep(every_s)
        now = tally()
        accepted_rate, arrived_rate = (
            (now.accepted - before.accepted) / every_s,
            (now.arrived - before.arrived) / every_s,
        )
        say(
            f"{max(0.0, time.time() - started_at):6.0f} s"
            f"  accepted {now.accepted:,} ({accepted_rate:,.0f}/s)  refused {now.refused:,}"
            f"  arrived {now.arrived:,} ({arrived_rate:,.0f}/s)"
            f"  backlog {max(0, now.backlog):,}"
        )
        before = now


def say(line: str) -> None:
    """Tell the user at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
