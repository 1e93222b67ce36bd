"""Whether rate limits held, and whether they were used: arrivals in sliding windows (section 8)."""

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from hookproof.receiver.inbox.rate import rate_of

MOST_POINTS: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A number of arrivals in any window of so many seconds."""

    most: int
    window_s: float


def most_in_window(times: Sequence[float], limit: Limit) -> int:
    """The most arrivals within any window."""
    return rate_of(array("d", times), limit.window_s).highest


def allowance_used(times: Sequence[float], limit: Limit, began: float) -> float | None:
    """The share of what the limit allows from `began` to the last arrival; None without arrivals.

    `limit.most` are allowed at once at the beginning, and as many for each window that has passed
    since.
    """
    if not times:
        return None
    passed = max(times) - began
    return min(1.0, len(times) / (limit.most * (1 + passed / limit.window_s)))


def pace(times: Sequence[float], began: float) -> float:
    """Arrivals a second from `began` to the last one; 0 for none."""
    return len(times) / max(1e-3, max(times) - began) if times else 0.0


def curve(times: Sequence[float], limit: Limit, began: float) -> list[tuple[float, int]]:
    """At each arrival, the count in the window that ends there: (seconds since `began`, count).

    A long curve is thinned to about MOST_POINTS: the highest of each group of neighbours.
    """
    ordered, oldest, points = sorted(times), 0, list[tuple[float, int]]()
    for place, time in enumerate(ordered):
        while time - ordered[oldest] >= limit.window_s:
            oldest += 1
        points.append((round(time - began, 4), place - oldest + 1))
    return _thinned(points)


def _thinned(points: list[tuple[float, int]]) -> list[tuple[float, int]]:
    size = max(1, math.ceil(len(points) / MOST_POINTS))
    edges = [*range(0, len(points), size), len(points)]
    return [max(points[a:b], key=lambda point: point[1]) for a, b in pairwise(edges)]
