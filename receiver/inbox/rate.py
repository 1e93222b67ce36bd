"""How many requests came at most within any window of time: a sliding window, which no edge can
hide a burst from.
"""

from array import array
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """The arrivals of one token.

    `highest` requests came within less than `window_s` seconds, the first of them `highest_at`.
    `total` counts all that ever arrived, `examined` those whose times are still known. Times are in
    Unix seconds, None without arrivals; `per_second` pairs each whole second in which anything came
    with how much did.
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
        """As a JSON object."""
        return asdict(self)


def rate_of(
    times: "array[float]", window_s: float, *, wall_ahead_s: float = 0.0, earlier: int = 0
) -> Rate:
    """The rate of arrivals at these monotonic times, in any order.

    `wall_ahead_s` is how far the wall clock is ahead of them, `earlier` how many came whose times
    are forgotten.
    """
    ordered = sorted(times)
    highest, begin = _highest(ordered, window_s)
    seconds = Counter(int(one + wall_ahead_s) for one in ordered)
    return Rate(
        window_s=window_s,
        total=len(ordered) + earlier,
        examined=len(ordered),
        highest=highest,
        highest_at=ordered[begin] + wall_ahead_s if ordered else None,
        first_at=ordered[0] + wall_ahead_s if ordered else None,
        last_at=ordered[-1] + wall_ahead_s if ordered else None,
        per_second=tuple(sorted(seconds.items())),
    )


def _highest(ordered: list[float], window_s: float) -> tuple[int, int]:
    """The most times within any half-open window, and the place of the first of them; the earliest
    such window.
    """
    highest, begin, oldest = 0, 0, 0
    for place, time in enumerate(ordered):
        while time - ordered[oldest] >= window_s:
            oldest += 1
        if place - oldest + 1 > highest:
            highest, begin = place - oldest + 1, oldest
    return highest, begin
