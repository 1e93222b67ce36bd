"""What is known of one token: how many requests arrived, when, and which are still kept."""

from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import Final

from hookproof.receiver.inbox.arrival import Arrival

# How many times of dropped requests are tolerated before they are removed.
SPARE_TIMES: Final = 4096


@dataclass(slots=True, kw_only=True)
class TokenLog:
    """One token's requests, counted from 1.

    Requests from `oldest` on are kept, except for `gaps`, which could not be kept when they came.
    `in_memory` holds the newest by sequence; the others are on disk. `times` are the monotonic
    arrival times from sequence `first_time` on, and `wall_ahead_s` is how far the wall clock was
    ahead of the monotonic clock at the first arrival.
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
        """Count a request; return its sequence."""
        if not self.arrived:
            self.wall_ahead_s = wall - monotonic
        self.arrived += 1
        self.times.append(monotonic)
        return self.arrived

    def mark_unkept(self, sequence: int) -> None:
        """Note that a counted request is not kept."""
        self.gaps.append(sequence)
        if sequence == self.oldest:
            self.drop_until(sequence)

    def drop_until(self, sequence: int) -> None:
        """Note that requests up to this sequence are dropped; none may be in memory."""
        self.oldest = max(self.oldest, sequence + 1)
        # A gap directly after a dropped request is dropped with it.
        first = bisect_left(self.gaps, self.oldest)
        while first < len(self.gaps) and self.gaps[first] == self.oldest:
            self.oldest += 1
            first += 1
        del self.gaps[:first]
        # Times are removed in large pieces, since each removal moves all that remain.
        if self.oldest - self.first_time > max(SPARE_TIMES, len(self.times) // 2):
            del self.times[: self.oldest - self.first_time]
            self.first_time = self.oldest

    def dropped(self, after: int) -> int:
        """Return how many of the requests above a sequence are not kept."""
        dropped_so_far = self.oldest - 1
        return (
            max(0, dropped_so_far - after)
            + len(self.gaps)
            - bisect_right(self.gaps, max(after, dropped_so_far))
        )

    @property
    def is_empty(self) -> bool:
        return self.oldest > self.arrived
