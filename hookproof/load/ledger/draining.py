"""When the wait for deliveries ends, and whether more were still on their way.

A service may be slow, or deliver in batches: while deliveries arrive, what is missing is pending
and may still come. It is lost only if the service has fallen silent.
"""

from collections import deque
from enum import StrEnum
from typing import Final

import msgspec

# How long a run waits for duplicates after the last delivery that it expects.
WATCH_S: Final = 1.5

# Silence for so long means that nothing more comes, if the profile and the dialect know of no
# longer pause between two deliveries.
QUIET_S: Final = 8.0

# Silence is also at least so many times the longest pause that this run has seen: a service that
# delivers in batches is silent between them.
PAUSES: Final = 2.0


class DrainEnd(StrEnum):
    """Why the wait for deliveries ended."""

    COMPLETE = "complete"
    SILENT = "silent"
    STILL_ARRIVING = "still_arriving"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


class Drain(msgspec.Struct, frozen=True, kw_only=True):
    """A wait for deliveries that is over.

    `arriving_rps` is how many a second arrived in its last seconds.
    """

    end: DrainEnd
    waited_s: float
    arriving_rps: float

    @property
    def missing_may_come(self) -> bool:
        """Whether what has not arrived is pending rather than lost."""
        return self.end not in {DrainEnd.COMPLETE, DrainEnd.SILENT}


class DrainWatch:
    """Decides when to stop waiting; the caller reports what arrives, with monotonic times."""

    def __init__(
        self, *, drain_s: float, drain_at_most_s: float, pause_s: float, now: float
    ) -> None:
        self._began = now
        self._drain_s = drain_s
        self._at_most_s = drain_at_most_s
        self._quiet_s = max(QUIET_S, PAUSES * pause_s)
        self._arrived, self._any_at = -1, now
        self._progressed, self._new_at = -1, now
        self._complete_at: float | None = None
        self._steps: deque[tuple[float, int]] = deque()

    def look(
        self, now: float, *, arrived: int, progressed: int, complete: bool, some_never_come: bool
    ) -> DrainEnd | None:
        """Why the wait is over by `now`, or None.

        `arrived` counts everything, `progressed` all but further copies of what had arrived.
        """
        self._note(now, arrived, progressed)
        waited_s, silent = now - self._began, now - self._new_at >= self._quiet_s
        if complete:
            # Further copies without end do not keep the run waiting beyond its drain.
            self._complete_at = now if self._complete_at is None else self._complete_at
            since = self._complete_at if waited_s >= self._drain_s else self._any_at
            return DrainEnd.COMPLETE if now - since >= WATCH_S else None
        if silent and (some_never_come or waited_s >= self._drain_s):
            return DrainEnd.SILENT
        if waited_s >= self._at_most_s:
            return DrainEnd.STILL_ARRIVING if self._steps or waited_s < WATCH_S else DrainEnd.SILENT
        return None

    def over(self, end: DrainEnd, now: float) -> Drain:
        """The result of a wait that ends now."""
        over_s = min(self._quiet_s, now - self._began)
        recent = sum(count for at, count in self._steps if at >= now - over_s)
        return Drain(
            end=end,
            waited_s=now - self._began,
            arriving_rps=recent / over_s if over_s > 0 else 0.0,
        )

    def _note(self, now: float, arrived: int, progressed: int) -> None:
        if arrived != self._arrived:
            self._arrived, self._any_at = arrived, now
        if progressed > self._progressed:
            if self._progressed >= 0:
                self._quiet_s = max(self._quiet_s, PAUSES * (now - self._new_at))
                self._steps.append((now, progressed - self._progressed))
                self._new_at = now
            self._progressed = progressed
        while self._steps and self._steps[0][0] < now - self._quiet_s:
            self._steps.popleft()
