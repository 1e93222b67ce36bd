"""The progress of a run: shown while it lasts, and watched until all deliveries have arrived.

It is that of one generator, or the sum over the workers of a master. This module imports gevent, so
only Locust's processes import it.
"""

import signal
import time
from collections.abc import Callable
from contextlib import suppress
from io import FileIO
from typing import Final

import gevent
import msgspec
from gevent.event import Event

from hookproof.load.ledger.draining import Drain, DrainEnd, DrainWatch
from hookproof.load.ledger.head_messages import HeadReply
from hookproof.load.ledger.run_progress import RunProgress
from hookproof.load.plan import LoadPlan
from hookproof.process.messages import output_is_terminal, print_line
from hookproof.process.written_file import write_whole

LOOK_EVERY_S: Final = 0.1
REPORT_EVERY_S: Final = 0.5

# The approximate number of progress lines of a run on a terminal; at most one is shown a second.
PROGRESS_LINES: Final = 60
# Elsewhere one is written as often as the suites write theirs, in seconds.
LINE_EVERY_S: Final = 10.0


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
    plan: LoadPlan,
    *,
    some_never_come: Callable[[], bool],
) -> Drain:
    """Wait until all deliveries have arrived, or no more do, or until a further ctrl-C."""
    tolerated = 1 if interrupts.count else 0  # the first ended the sending
    watch = DrainWatch(
        drain_s=plan.drain_s,
        drain_at_most_s=plan.drain_at_most_s,
        pause_s=plan.pause_s,
        now=time.monotonic(),
    )
    while True:
        end = _drain_end(watch, tally(), plan.deliveries_each, some_never_come)
        if end is None and interrupts.count > tolerated:
            end = DrainEnd.INTERRUPTED
        if end is not None:
            return watch.over(end, time.monotonic())
        gevent.sleep(LOOK_EVERY_S)


def _drain_end(
    watch: DrainWatch, now: RunProgress, deliveries_each: int, some_never_come: Callable[[], bool]
) -> DrainEnd | None:
    if now.problem is not None:
        return DrainEnd.FAILED
    enough = now.settled >= now.accepted * deliveries_each
    # Some of those that settled may be of broadcasts that were not accepted.
    exact = not now.refused and not now.limited
    return watch.look(
        time.monotonic(),
        arrived=now.arrived,
        progressed=now.progressed,
        complete=enough and exact,
        some_never_come=(enough and not exact) or some_never_come(),
    )


def show_progress(
    tally: Callable[[], RunProgress],
    *,
    started_at: float,
    duration_s: float,
    pause: Callable[[float], object] = gevent.sleep,
) -> None:
    """Print the progress of the run regularly, until killed."""
    on_terminal, before = output_is_terminal(), RunProgress()
    every_s = max(1.0, duration_s / PROGRESS_LINES) if on_terminal else LINE_EVERY_S
    while True:
        pause(every_s)  # paces the lines
        now = tally()
        accepted_rate = (now.accepted - before.accepted) / every_s
        arrived_rate = (now.arrived - before.arrived) / every_s
        say(
            f"{max(0.0, time.time() - started_at):6.0f} s"
            f"  accepted {now.accepted:,} ({accepted_rate:,.0f}/s)  refused {now.refused:,}"
            f"{f'  put off {now.limited:,}' if now.limited else ''}"
            f"  arrived {now.arrived:,} ({arrived_rate:,.0f}/s)"
            f"  backlog {max(0, now.backlog):,}"
        )
        before = now


def say(line: str) -> None:
    """Print a line at once; a worker on another machine may have written parts of it."""
    print_line(line)


def report_progress(tally: Callable[[], RunProgress], reply: Callable[[HeadReply], None]) -> None:
    """Report the progress to the command twice a second, until killed."""
    while True:
        gevent.sleep(REPORT_EVERY_S)  # paces the reports
        reply(HeadReply(progress=tally()))


def replying_to(descriptor: int) -> Callable[[HeadReply], None]:
    """A function that replies to the command."""

    def reply(what: HeadReply) -> None:
        # If the command has ended, this process is about to end too.
        with suppress(BrokenPipeError), FileIO(descriptor, "w", closefd=False) as stream:
            write_whole(stream, msgspec.json.encode(what) + b"\n")

    return reply
