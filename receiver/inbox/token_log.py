"""What is known of one token: how many requests there ever were, when, and which of them are still
kept.
"""

from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import Final

from hookproof.receiver.inbox.arrival import Arrival

SPARE_TIMES: Final = 4096


@dataclass(slots=True, kw_only=True)
class Tray:
    """One token's requests, counted from 1.

    Those from `oldest` on are kept, but for `gaps`, which could not be kept when they came.
    `in_memory` has the newest of them by sequence; the others are on disk. `times` are the
    monotonic times of arrival of all from `first_time` on, in order of sequence, and `wall_ahead_s`
    is how far the wall clock was ahead of them at first.
    """

    issued: bool = False
    arrived: int = 0
    oldest: int = 1
    gaps: "array[int]" = field(default_factory=lambda: array("Q"))
    in_memory: dict[int, Arrival] = field(default_factory=dict)
    times: "array[float]" = field(default_factory=lambda: array("d"))
    first_time: int = 1
    wall_ahead_s: float = 0.0

    def count(self, *, wall: float, monotonic: float) -> int:
        """Count a request that arrived then; its sequence."""
        if not self.arrived:
            self.wall_ahead_s = wall - monotonic
        self.arrived += 1
        self.times.append(monotonic)
        return self.arrived

    def leave_out(self, sequence: int) -> None:
        """Note that a counted request is not kept."""
        self.gaps.append(sequence)
        if sequence == self.oldest:
            self.lose_until(sequence)

    def lose_until(self, sequence: int) -> None:
        """Note that the requests up to this one are kept no more; none of them may be in memory."""
        self.oldest = max(self.oldest, sequence + 1)
        # What could not be kept is lost with what came before it.
        first = bisect_left(self.gaps, self.oldest)
        while first < len(self.gaps) and self.gaps[first] == self.oldest:
            self.oldest += 1
            first += 1
        del self.gaps[:first]
        # Times are cut off in large pieces, since each cut moves all that stay.
        if self.oldest - self.first_time > max(SPARE_TIMES, len(self.times) // 2):
            del self.times[: self.oldest - self.first_time]
            self.first_time = self.oldest

    def dropped(self, after: int) -> int:
        """How many of the requests above a sequence are not kept."""
        lost = self.oldest - 1
        return max(0, lost - after) + len(self.gaps) - bisect_right(self.gaps, max(after, lost))

    @property
    def empty(self) -> bool:
        """Whether none of its requests is kept."""
        return self.oldest > self.arrived
