"""The progress of a run: shown while it lasts, and watched until all deliveries have arrived.

It is that of one generator, or the sum over the workers of a master. This module imports gevent, so
only Locust's processes import it.
"""

import signal
import sys
import time
from collections.abc import Callable
from typing import Final

import gevent
import msgspec
from gevent.event import Event

# How long a run waits for duplicates after the last delivery that it expects.
WATCH_S: Final = 1.5

# Where some deliveries need not arrive, silence of this length ends the drain.
QUIET_S: Final = 8.0

LOOK_EVERY_S: Final = 0.1

# The approximate number of progress lines of a run; at most one line is shown a second.
PROGRESS_LINES: Final = 60


class RunProgress(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a run; `settled` deliveries have arrived or failed for good.

    `backlog` is what was accepted and not settled when the sidecar was last asked; that of one
    worker may be negative, since its sidecar sees the deliveries of others. A `problem` ends the
    run.
    """

    accepted: int = 0
    refused: int = 0
    arrived: int = 0
    settled: int = 0
    backlog: int = 0
    finished: bool = False
    problem: str | None = None

    def plus(self, other: "RunProgress") -> "RunProgress":
        return RunProgress(
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

    def interrupt(self) -> None:
        self.count += 1
        self.new.set()

    def listen(self) -> None:
        """Handle those of this process, which its parent had blocked."""
        gevent.signal_handler(signal.SIGINT, self.interrupt)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])


def drain(
    tally: Callable[[], RunProgress],
    interrupts: Interrupts,
    *,
    deliveries_each: int,
    drain_s: float,
    some_never_come: Callable[[], bool],
) -> None:
    """Wait until all deliveries have arrived, for at most `drain_s`, or until a further ctrl-C."""
    tolerated = 1 if interrupts.count else 0  # the first ended the sending
    deadline = time.time() + drain_s
    arrived, quiet_since = -1, time.time()
    while time.time() < deadline and interrupts.count <= tolerated:
        now = tally()
        if now.problem is not None:
            return
        if now.arrived != arrived:
            arrived, quiet_since = now.arrived, time.time()
        complete, quiet_s = now.settled >= now.accepted * deliveries_each, time.time() - quiet_since
        if complete and quiet_s >= WATCH_S:
            return
        if quiet_s >= QUIET_S and some_never_come():
            return
        gevent.sleep(LOOK_EVERY_S)


def show_progress(
    tally: Callable[[], RunProgress], *, started_at: float, duration_s: float
) -> None:
    """Print the progress of the run regularly, until killed."""
    every_s, before = max(1.0, duration_s / PROGRESS_LINES), RunProgress()
    while True:
        gevent.sleep(every_s)  # paces the lines
        now = tally()
        accepted_rate = (now.accepted - before.accepted) / every_s
        arrived_rate = (now.arrived - before.arrived) / every_s
        say(
            f"{max(0.0, time.time() - started_at):6.0f} s"
            f"  accepted {now.accepted:,} ({accepted_rate:,.0f}/s)  refused {now.refused:,}"
            f"  arrived {now.arrived:,} ({arrived_rate:,.0f}/s)"
            f"  backlog {max(0, now.backlog):,}"
        )
        before = now


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
