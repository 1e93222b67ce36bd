"""The search for the knee: the highest rate that crosses no threshold, found by trials at fixed rates.

The rate doubles until a trial fails, halves until one passes, and then the interval between the best good rate and the
lowest bad one is halved until it is narrow enough. A rate above a bad one is never tried.
"""

from dataclasses import dataclass, field

from load.profile import Search

LOWEST_RATE = 1.0


@dataclass(slots=True, kw_only=True)
class Knee:
    """`good` is the highest rate that passed, `bad` the lowest one that failed; None before there was any."""

    search: Search
    first: float
    good: float | None = None
    bad: float | None = None
    tried: list[float] = field(default_factory=list)

    def next_rate(self) -> float | None:
        """The rate of the next trial in slots a second, or None when the search is over."""
        if not self.tried:
            return min(self.first, self.search.most)
        if self.bad is None:
            assert self.good is not None
            return min(2 * self.good, self.search.most) if self.good < self.search.most else None
        if self.good is None:
            return self.bad / 2 if self.bad / 2 >= LOWEST_RATE else None
        narrow = self.bad - self.good <= self.search.within * self.good
        return None if narrow else (self.good + self.bad) / 2

    def note(self, rate: float, *, passed: bool) -> None:
        """Enter a trial."""
        self.tried.append(rate)
        if passed:
            self.good = max(rate, self.good or 0.0)
        else:
            self.bad = min(rate, self.bad or rate)
