"""The common limit on concurrent attempts, over all endpoints."""

from dataclasses import dataclass
from math import inf
from typing import Final

MOST_ATTEMPTS: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcurrencyBounds:
    """How many attempts run at once, and how many deliveries are read ahead.

    `young` bounds the attempts that started less than `patience_s` seconds ago, `total` all
    attempts, `per_endpoint` those of one endpoint. `buffered` bounds the deliveries read ahead.
    """

    young: int = 128
    patience_s: float = 0.1
    per_endpoint: int = 64
    total: int = MOST_ATTEMPTS
    buffered: int = 2048

    @classmethod
    def within(cls, total: int) -> "ConcurrencyBounds":
        """The usual bounds, with at most `total` attempts at once."""
        return cls(total=max(1, min(MOST_ATTEMPTS, total)))


class ConcurrencyLimit:
    """Counts the attempts under way over all endpoints.

    Only young attempts make others wait. An attempt whose endpoint does not answer stops counting
    after `patience_s`; from then on it occupies only a place of its endpoint and one of `total`.
    """

    def __init__(self, bounds: ConcurrencyBounds) -> None:
        self._bounds = bounds
        self._under_way: set[int] = set()
        self._young: dict[int, float] = {}

    @property
    def is_crowded(self) -> bool:
        """Whether each endpoint is restricted to one attempt at a time."""
        return len(self._under_way) > self._bounds.total // 2

    def acquire(self, attempt: int, now: float) -> None:
        self._under_way.add(attempt)
        self._young[attempt] = now

    def release(self, attempt: int) -> None:
        self._under_way.discard(attempt)
        self._young.pop(attempt, None)

    def wait_s(self, now: float) -> float:
        """Return the time until another attempt may start, infinite until one has ended."""
        if len(self._under_way) >= self._bounds.total:
            return inf
        while len(self._young) >= self._bounds.young:
            oldest = next(iter(self._young))
            wait = self._young[oldest] + self._bounds.patience_s - now
            if wait > 0:
                return wait
            del self._young[oldest]
        return 0.0
