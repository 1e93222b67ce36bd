"""Latencies: distributions in bounded memory (HdrHistogram), for a whole run and for each stretch
of it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from hdrh.histogram import HdrHistogram

LONGEST_US: Final = 24 * 3600 * 1_000_000
DIGITS: Final = 3
COARSE_DIGITS: Final = 2
QUANTILES: Final = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "max": 100.0}
MOST_STRETCHES: Final = 300


def histogram(digits: int = DIGITS) -> Any:
    """An empty distribution of whole microseconds, true to so many significant digits."""
    return HdrHistogram(1, LONGEST_US, digits)


def note(distribution: Any, seconds: float) -> None:
    """Enter a latency; one below a microsecond counts as one, one beyond a day as a day."""
    distribution.record_value(min(max(1, int(seconds * 1e6)), LONGEST_US))


def quantiles(distribution: Any) -> dict[str, float | None]:
    """Median, 95th and 99th percentile and maximum in seconds; None where nothing was entered."""
    if not distribution.get_total_count():
        return dict.fromkeys(QUANTILES)
    return {
        name: distribution.get_value_at_percentile(share) / 1e6 for name, share in QUANTILES.items()
    }


def stretch_s(duration_s: float) -> float:
    """How many seconds of a run are one point of a plot: one, or more in a run of more than five
    minutes.
    """
    return max(1.0, duration_s / MOST_STRETCHES)


def packed(distribution: Any) -> str:
    """The distribution as text, to be handed to another process."""
    text: str = distribution.encode().decode()
    return text


def unpacked(*texts: str, digits: int = DIGITS) -> Any:
    """One distribution of all that `packed` made texts of."""
    whole = histogram(digits)
    for text in texts:
        whole.add(HdrHistogram.decode(text))
    return whole


class Stretch(msgspec.Struct, frozen=True, kw_only=True):
    """What happened in one stretch of a run, counted from 0; `latencies` are packed, None without
    any.
    """

    place: int
    count: int
    latencies: str | None


@dataclass(slots=True, kw_only=True)
class OverTime:
    """Counts and latencies by the stretch in which they happened; `length_s` is that of a stretch."""

    length_s: float
    counts: dict[int, int] = field(default_factory=dict)
    latencies: dict[int, Any] = field(default_factory=dict)

    def note(self, since_start_s: float, latency_s: float | None = None) -> None:
        """Count something that happened so long after the start, with its latency, if it has one."""
        stretch = max(0, int(since_start_s / self.length_s))
        self.counts[stretch] = self.counts.get(stretch, 0) + 1
        if latency_s is not None:
            if stretch not in self.latencies:
                self.latencies[stretch] = histogram(COARSE_DIGITS)
            note(self.latencies[stretch], latency_s)

    def add(self, stretches: Iterable[Stretch]) -> None:
        """Count what another process counted."""
        for one in stretches:
            self.counts[one.place] = self.counts.get(one.place, 0) + one.count
            if one.latencies is not None:
                known = [packed(self.latencies[one.place])] if one.place in self.latencies else []
                self.latencies[one.place] = unpacked(*known, one.latencies, digits=COARSE_DIGITS)

    def packed(self) -> list[Stretch]:
        """Every stretch in which anything happened, to be added elsewhere."""
        latencies = self.latencies
        return [
            Stretch(
                place=place,
                count=count,
                latencies=packed(latencies[place]) if place in latencies else None,
            )
            for place, count in sorted(self.counts.items())
        ]

    def told(self) -> list[Mapping[str, Any]]:
        """Each stretch in which anything happened: its begin in seconds, its count, its quantiles."""
        return [
            {
                "at_s": stretch * self.length_s,
                "count": count,
                **(quantiles(self.latencies[stretch]) if stretch in self.latencies else {}),
            }
            for stretch, count in sorted(self.counts.items())
        ]
