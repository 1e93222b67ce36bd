"""Latencies: distributions in bounded memory (HdrHistogram), for a run and for stretches of it."""

from bisect import bisect_left
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
    """An empty distribution of whole microseconds, exact to `digits` significant digits."""
    return HdrHistogram(1, LONGEST_US, digits)


def note(distribution: Any, seconds: float) -> None:
    """Record a latency; one below a microsecond counts as one, one beyond a day as a day."""
    distribution.record_value(min(max(1, int(seconds * 1e6)), LONGEST_US))


def quantiles(distribution: Any) -> dict[str, float | None]:
    """Median, 95th and 99th percentile and maximum in seconds; None for an empty distribution."""
    if not distribution.get_total_count():
        return dict.fromkeys(QUANTILES)
    return {
        name: distribution.get_value_at_percentile(share) / 1e6 for name, share in QUANTILES.items()
    }


# The upper bounds of buckets, in seconds.
BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Buckets(msgspec.Struct, kw_only=True):
    """How many latencies were at most as long as each bound, and longer than the one before; the
    last count is of those beyond all. It is what a monitoring system asks for while a run lasts.
    """

    counts: list[int] = msgspec.field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    sum_s: float = 0.0

    def note(self, seconds: float, times: int = 1) -> None:
        self.counts[bisect_left(BOUNDS, seconds)] += times
        self.sum_s += seconds * times

    def plus(self, other: "Buckets") -> "Buckets":
        return Buckets(
            counts=[one + another for one, another in zip(self.counts, other.counts, strict=True)],
            sum_s=self.sum_s + other.sum_s,
        )


def stretch_s(duration_s: float) -> float:
    """The length of a point of a plot in seconds, more than one in a run of over five minutes."""
    return max(1.0, duration_s / MOST_STRETCHES)


def packed(distribution: Any) -> str:
    """The distribution as text, for another process."""
    text: str = distribution.encode().decode()
    return text


def unpacked(*texts: str, digits: int = DIGITS) -> Any:
    """The sum of the distributions that `packed` turned into these texts."""
    whole = histogram(digits)
    for text in texts:
        whole.add(HdrHistogram.decode(text))
    return whole


class Stretch(msgspec.Struct, frozen=True, kw_only=True):
    """What happened in one stretch of a run, counted from 0; `latencies` are packed."""

    place: int
    count: int
    latencies: str | None


@dataclass(slots=True, kw_only=True)
class OverTime:
    """Counts and latencies by the stretch, of length `length_s`, in which they happened."""

    length_s: float
    counts: dict[int, int] = field(default_factory=dict)
    latencies: dict[int, Any] = field(default_factory=dict)

    def note(self, since_start_s: float, latency_s: float | None = None) -> None:
        """Count something by the seconds since the start, and its latency if it has one."""
        stretch = max(0, int(since_start_s / self.length_s))
        self.counts[stretch] = self.counts.get(stretch, 0) + 1
        if latency_s is not None:
            if stretch not in self.latencies:
                self.latencies[stretch] = histogram(COARSE_DIGITS)
            note(self.latencies[stretch], latency_s)

    def add(self, stretches: Iterable[Stretch]) -> None:
        """Add the counts of another process."""
        for stretch in stretches:
            self.counts[stretch.place] = self.counts.get(stretch.place, 0) + stretch.count
            if stretch.latencies is not None:
                texts = [stretch.latencies]
                if stretch.place in self.latencies:
                    texts.append(packed(self.latencies[stretch.place]))
                self.latencies[stretch.place] = unpacked(*texts, digits=COARSE_DIGITS)

    def packed(self) -> list[Stretch]:
        """Every stretch in which anything happened, for another process."""
        latencies = self.latencies
        return [
            Stretch(
                place=place,
                count=count,
                latencies=packed(latencies[place]) if place in latencies else None,
            )
            for place, count in sorted(self.counts.items())
        ]

    def points(self) -> list[Mapping[str, Any]]:
        """Each stretch in which anything happened: its start in seconds, count and quantiles."""
        return [
            {
                "at_s": stretch * self.length_s,
                "count": count,
                **(quantiles(self.latencies[stretch]) if stretch in self.latencies else {}),
            }
            for stretch, count in sorted(self.counts.items())
        ]
