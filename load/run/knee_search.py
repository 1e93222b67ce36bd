"""The search for the knee: the highest rate that crosses no threshold.

Trials run at fixed rates. The rate doubles until a trial fails, or halves until one passes; then
the interval between the highest good rate and the lowest bad one is halved until it is narrow
enough. A rate above a bad one is never tried. Near the knee a trial may pass by chance, so the rate
that the search ends with must pass once more; otherwise the search continues below it.
"""

from dataclasses import dataclass, field

from hookproof.load.profile.load_profile import Search

LOWEST_RATE = 1.0


@dataclass(slots=True, kw_only=True)
class Knee:
    """The state of the search; `passed` and `failed` are the rates of the trials so far."""

    search: Search
    first: float
    passed: list[float] = field(default_factory=list)
    failed: list[float] = field(default_factory=list)

    @property
    def bad(self) -> float | None:
        """The lowest rate that failed, None if none has."""
        return min(self.failed, default=None)

    @property
    def good(self) -> float | None:
        """The highest rate that passed below all that failed, None if there is none."""
        bad = self.bad
        return max((rate for rate in self.passed if bad is None or rate < bad), default=None)

    def next_rate(self) -> float | None:
        """The rate of the next trial in slots a second, or None when the search is over."""
        good, bad = self.good, self.bad
        if bad is None:
            if good is None:
                return min(self.first, self.search.most)
            return min(2 * good, self.search.most) if good < self.search.most else None
        if good is None:
            return bad / 2 if bad / 2 >= LOWEST_RATE else None
        if bad - good > self.search.within * good:
            return (good + bad) / 2
        return good if self.passed.count(good) == 1 else None

    def note(self, rate: float, *, passed: bool) -> None:
        """Record a trial."""
        trials = self.passed if passed else self.failed
        trials.append(rate)
