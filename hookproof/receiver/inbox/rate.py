"""The highest number of requests within any window of time.

The window slides, so a burst across the edge of a clock's second is counted in full.
"""

from array import array
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """The arrivals of one token.

    Within less than `window_s` seconds at most `highest` requests arrived, the first of them at
    `highest_at`. `total` counts all arrivals, `examined` those whose times are still known. Times
    are in Unix seconds, None without arrivals. `per_second` pairs each second that had arrivals
    with their number.
    """

    window_s: float
    total: int
    examined: int
    highest: int
    highest_at: float | None
    first_at: float | None
    last_at: float | None
    per_second: tuple[tuple[int, int], ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def rate_of(
    times: "array[float]", window_s: float, *, wall_ahead_s: float = 0.0, earlier: int = 0
) -> Rate:
    """Compute the rate of arrivals at these monotonic times, in any order.

    `wall_ahead_s` is how far the wall clock is ahead of the monotonic clock; `earlier` is the
    number of arrivals whose times are no longer known.
    """
    ordered = sorted(times)
    highest, first = _highest(ordered, window_s)
    seconds = Counter(int(time + wall_ahead_s) for time in ordered)
    return Rate(
        window_s=window_s,
        total=len(ordered) + earlier,
        examined=len(ordered),
        highest=highest,
        highest_at=ordered[first] + wall_ahead_s if ordered else None,
        first_at=ordered[0] + wall_ahead_s if ordered else None,
        last_at=ordered[-1] + wall_ahead_s if ordered else None,
        per_second=tuple(sorted(seconds.items())),
    )


def _highest(ordered: list[float], window_s: float) -> tuple[int, int]:
    """Return the most times within a half-open window, and the index of the first of them.

    Of several such windows the earliest counts.
    """
    highest, first, oldest = 0, 0, 0
    for index, time in enumerate(ordered):
        while time - ordered[oldest] >= window_s:
            oldest += 1
        if index - oldest + 1 > highest:
            highest, first = index - oldest + 1, oldest
    return highest, first
