"""When to send: an arrival schedule of the open model, where slots are fixed before anything is sent.

A slow target does not slow the schedule down: a user that is late sends at once, and latency counts from the moment
that its slot intended. So waiting in front of a stalled target is measured instead of being left out.
"""

from dataclasses import dataclass


@dataclass(slots=True)
class Schedule:
    """Hands out the slots of a run, `rate` a second for `duration_s` seconds, counted from 0."""

    rate: float
    duration_s: float
    taken: int = 0

    @property
    def total(self) -> int:
        """How many slots the run has; at least one."""
        return max(1, round(self.rate * self.duration_s))

    def take(self) -> float | None:
        """The next slot's time in seconds since the start, or None when the run is over."""
        if self.taken >= self.total:
            return None
        slot = self.taken / self.rate
        self.taken += 1
        return slot
