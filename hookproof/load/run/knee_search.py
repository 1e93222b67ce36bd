"""The search for the knee: the highest rate that crosses no threshold.

Trials run at fixed rates. The rate doubles until a trial fails, or halves until one passes; then
the interval between the highest good rate and the lowest bad one is halved until it is narrow
enough. A rate above a bad one is never tried. Near the knee a trial may pass or fail by chance, so
both ends of the interval are tried again: the good rate must pass twice and the bad one fail twice.
Where two trials at a rate disagree a third one decides, and the search goes on from there.
"""

from collections import Counter
from dataclasses import dataclass, field

from hookproof.load.profile.load_profile import Search

LOWEST_RATE = 1.0
# How many trials that agree confirm a rate.
CONFIRMED = 2


@dataclass(slots=True, kw_only=True)
class Knee:
    """The state of the search; `passed` and `failed` count the trials so far by rate."""

    search: Search
    first: float
    passed: Counter[float] = field(default_factory=Counter)
    failed: Counter[float] = field(default_factory=Counter)

    @property
    def bad(self) -> float | None:
        """The lowest rate that failed more often than it passed, None if none did."""
        return min((rate for rate in self.failed if self._balance(rate) < 0), default=None)

    @property
    def good(self) -> float | None:
        """The highest rate that passed more often than it failed, below all bad ones."""
        bad = self.bad
        good = (rate for rate in self.passed if self._balance(rate) > 0)
        return max((rate for rate in good if bad is None or rate < bad), default=None)

    @property
    def spread(self) -> tuple[float, float] | None:
        """Between which rates the knee is by all trials, those that others outvoted included."""
        good, bad = self.good, self.bad
        if good is None or bad is None:
            return None
        return min(good, *self.failed), max(bad, *self.passed)

    def next_rate(self) -> float | None:
        """The rate of the next trial in slots a second, or None when the search is over."""
        disputed = [rate for rate in self.passed if rate in self.failed and not self._balance(rate)]
        if disputed:
            return disputed[0]
        return self._untried() or self._unconfirmed()

    def _untried(self) -> float | None:
        """The next rate by which the interval becomes narrower, None if it is narrow enough."""
        good, bad = self.good, self.bad
        if good is None:
            if bad is None:
                return min(self.first, self.search.most)
            return bad / 2 if bad / 2 >= LOWEST_RATE else None
        if bad is None:
            return min(2 * good, self.search.most) if good < self.search.most else None
        return (good + bad) / 2 if bad - good > self.search.within * good else None

    def _unconfirmed(self) -> float | None:
        good, bad = self.good, self.bad
        if good is not None and self.passed[good] < CONFIRMED:
            return good
        return bad if bad is not None and self.failed[bad] < CONFIRMED else None

    def note(self, rate: float, *, passed: bool) -> None:
        """Record a trial."""
        (self.passed if passed else self.failed)[rate] += 1

    def _balance(self, rate: float) -> int:
        return self.passed[rate] - self.failed[rate]
