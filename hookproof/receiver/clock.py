"""The receiver's two clocks: wall time for dates, monotonic time for durations."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple


class Instant(NamedTuple):
    """One point in time on both clocks, in seconds; `wall` is Unix time.

    A tuple, since one is made for each read.
    """

    wall: float
    monotonic: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Where times come from; the monotonic clock is shared by all processes on the machine."""

    wall: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic

    def now(self) -> Instant:
        return Instant(self.wall(), self.monotonic())
