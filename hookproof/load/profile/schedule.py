"""When to send: an arrival schedule of the open model, whose slots are fixed before the run.

A slow target does not slow the schedule down: a user that is late sends at once, and latency counts
from the time of its slot. So the waiting in front of a stalled target is measured, not left out.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Final

# A schedule of more is a typing error.
MOST_SLOTS: Final = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A corner of the rate, which changes evenly to the next one; `rate` is in slots a second."""

    at_s: float
    rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RateCurve:
    """The rate over the time of a run, as straight lines; two points at one time are a step."""

    points: tuple[Point, ...]

    @classmethod
    def steady(cls, rate: float, duration_s: float) -> "RateCurve":
        return cls(points=(Point(at_s=0.0, rate=rate), Point(at_s=duration_s, rate=rate)))

    @classmethod
    def spike(
        cls, rate: float, duration_s: float, *, times: float, from_s: float, to_s: float
    ) -> "RateCurve":
        """A steady rate, multiplied by `times` for a period."""
        peak = rate * times
        corners = (
            (0.0, rate),
            (from_s, rate),
            (from_s, peak),
            (to_s, peak),
            (to_s, rate),
            (duration_s, rate),
        )
        return cls(points=tuple(Point(at_s=at_s, rate=height) for at_s, height in corners))

    @property
    def duration_s(self) -> float:
        return self.points[-1].at_s

    @property
    def slots(self) -> int:
        """The number of slots of a run, at least one."""
        area = sum((b.at_s - a.at_s) * (a.rate + b.rate) / 2 for a, b in pairwise(self.points))
        return max(1, round(area))

    def times(self) -> Iterator[float]:
        """The time of each slot in seconds since the start.

        The nth slot is where the area below the curve is n.
        """
        wanted, passed, total = 0, 0.0, self.slots
        for a, b in pairwise(self.points):
            length = b.at_s - a.at_s
            area = length * (a.rate + b.rate) / 2
            while wanted < total and wanted < passed + area:
                yield a.at_s + _reached(a.rate, b.rate, length, wanted - passed)
                wanted += 1
            passed += area
        yield from (self.duration_s for _ in range(wanted, total))

    def time_after(self, at_s: float, slots: float) -> float:
        """When so many slots, or a part of one, have come since `at_s`, in seconds since the start.

        After the end the last rate goes on; `inf` if that is 0.
        """
        for a, b in pairwise(self.points):
            if at_s >= b.at_s:
                continue
            length = b.at_s - at_s
            rate = b.rate + (a.rate - b.rate) * length / (b.at_s - a.at_s)
            area = length * (rate + b.rate) / 2
            if slots < area:
                return at_s + _reached(rate, b.rate, length, slots)
            at_s, slots = b.at_s, slots - area
        last = self.points[-1].rate
        return at_s + slots / last if last else math.inf


def _reached(first: float, last: float, length: float, area: float) -> float:
    """How many seconds after the first rate the area below the line is `area`."""
    slope = (last - first) / length
    if abs(slope) * length < 1e-9 * max(first, last):
        return area / first
    return (math.sqrt(max(0.0, first * first + 2 * slope * area)) - first) / slope


class Schedule:
    """One worker's share of the slots, one at a time: of n workers, every nth slot."""

    def __init__(self, shape: RateCurve, *, worker: int = 0, workers: int = 1) -> None:
        self.slots = len(range(worker, shape.slots, workers))
        self._times = islice(shape.times(), worker, None, workers)

    def take(self) -> float | None:
        """The next slot's time in seconds since the start, or None when the run is over."""
        return next(self._times, None)


def problems_of(points: Sequence[Point]) -> Iterator[str]:
    """Why the points are not a curve."""
    if len(points) < 2:  # noqa: PLR2004 - a line has two ends
        yield "a curve needs at least two points"
    if any(b.at_s < a.at_s for a, b in pairwise(points)):
        yield "the points are not in the order of their times"
    elif points and (points[0].at_s != 0 or points[-1].at_s <= 0):
        yield "a curve starts at 0 s and ends later"
    elif len(points) > 1 and RateCurve(points=tuple(points)).slots > MOST_SLOTS:
        yield f"it has more than {MOST_SLOTS:,} slots"


class OperationMix:
    """Chooses the operation of each slot: by weight, and evenly, so that short runs have each.

    The operation that is furthest behind its weight is next.
    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._weights = dict(weights)
        self._total = sum(self._weights.values())
        self._due = dict.fromkeys(self._weights, 0.0)

    def take(self) -> str:
        """The operationId of the next slot."""
        if len(self._due) == 1:
            return next(iter(self._due))
        for operation_id, weight in self._weights.items():
            self._due[operation_id] += weight
        chosen = max(self._due, key=self._due.__getitem__)
        self._due[chosen] -= self._total
        return chosen
