"""The common gate: how many attempts go on at once over all endpoints."""

from dataclasses import dataclass
from math import inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much goes on at once. An attempt is young for `patience_s` seconds; `buffered` is for
    reading ahead.
    """

    young: int = 128
    patience_s: float = 0.1
    per_endpoint: int = 64
    total: int = 4096
    buffered: int = 2048


class Gate:
    """Counts the attempts under way, of all lanes together.

    Only young attempts keep others waiting: one that an endpoint lets hang stops counting after a
    moment and then holds nothing but a place in its own lane, and one of `total` sockets.
    """

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._under_way: set[int] = set()
        self._young: dict[int, float] = {}

    @property
    def crowded(self) -> bool:
        """Whether so much goes on that each lane has to do with one attempt at a time."""
        return len(self._under_way) > self._bounds.total // 2

    def enter(self, attempt: int, now: float) -> None:
        """An attempt starts."""
        self._under_way.add(attempt)
        self._young[attempt] = now

    def leave(self, attempt: int) -> None:
        """An attempt is over."""
        self._under_way.discard(attempt)
        self._young.pop(attempt, None)

    def wait_s(self, now: float) -> float:
        """How long until another attempt may start; infinite while only the end of one makes room."""
        if len(self._under_way) >= self._bounds.total:
            return inf
        while len(self._young) >= self._bounds.young:
            oldest = next(iter(self._young))
            wait = self._young[oldest] + self._bounds.patience_s - now
            if wait > 0:
                return wait
            del self._young[oldest]
        return 0.0
