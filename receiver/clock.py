"""The receiver's time: a wall clock that says when, and a monotonic clock that says how long."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple


class Instant(NamedTuple):
    """One moment on both clocks, in seconds; `wall` is Unix time. A tuple, since one is made for
    each read.
    """

    wall: float
    monotonic: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Where times come from; the monotonic one is shared by all processes on the machine."""

    wall: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic

    def now(self) -> Instant:
        """The present moment."""
        return Instant(self.wall(), self.monotonic())
