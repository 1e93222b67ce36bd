"""The ledger of a run: accepted = delivered + pending. What does not balance is counted by name.

A broadcast is entered with its marker and the time that its slot intended when it is sent, and again when the target
has accepted it; each arrival at the receiver is entered with the marker that it carries. An arrival may come before
the acceptance is known.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Ledger:
    """Counts of one run. Times are unix seconds; markers are texts that no two broadcasts share."""

    intended: dict[str, float] = field(default_factory=dict)
    accepted: set[str] = field(default_factory=set)
    arrivals: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    lateness: list[float] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)

    def sent(self, marker: str, *, intended_at: float, sent_at: float) -> None:
        """A broadcast leaves for the target."""
        self.intended[marker] = intended_at
        self.lateness.append(max(0.0, sent_at - intended_at))

    def answered(self, marker: str, *, accepted: bool) -> None:
        """The target has answered a broadcast, or has failed to."""
        if accepted:
            self.accepted.add(marker)
        else:
            self.refused += 1

    def arrived(self, marker: str, *, at: float) -> float | None:
        """A delivery has arrived; its latency in seconds from the intended time when it is the first of its marker."""
        self.arrivals[marker] += 1
        if self.arrivals[marker] > 1 or marker not in self.intended:
            return None
        latency = max(0.0, at - self.intended[marker])
        self.latencies.append(latency)
        return latency

    @property
    def answers(self) -> int:
        """Broadcasts that the target has answered, or has failed to."""
        return len(self.accepted) + self.refused

    @property
    def delivered(self) -> int:
        """Accepted broadcasts that have arrived."""
        return sum(1 for marker in self.accepted if self.arrivals[marker])

    @property
    def pending(self) -> tuple[str, ...]:
        """Accepted broadcasts that have not arrived; after the drain they are lost."""
        return tuple(sorted(marker for marker in self.accepted if not self.arrivals[marker]))

    @property
    def duplicated(self) -> int:
        """Arrivals beyond the first of a broadcast."""
        return sum(count - 1 for marker, count in self.arrivals.items() if marker in self.intended)

    @property
    def unexpected(self) -> int:
        """Arrivals of broadcasts that this run never sent, or that the target refused."""
        return sum(
            count for marker, count in self.arrivals.items() if marker not in self.intended or self._was_refused(marker)
        )

    def _was_refused(self, marker: str) -> bool:
        return marker not in self.accepted

    def summary(self) -> dict[str, Any]:
        """The figures of the report: counts, and latencies in seconds."""
        return {
            "sent": len(self.intended),
            "accepted": len(self.accepted),
            "refused": self.refused,
            "delivered": self.delivered,
            "lost": len(self.pending),
            "lost_samples": list(self.pending[:5]),
            "duplicated": self.duplicated,
            "unexpected": self.unexpected,
            "delivery_latency_s": quantiles(self.latencies),
            "generator_lateness_s": quantiles(self.lateness),
        }


def quantiles(values: Sequence[float]) -> dict[str, float] | None:
    """The median, 95th and 99th percentile and maximum, or None for no values."""
    if not values:
        return None
    ordered = sorted(values)
    return dict(_ranks(ordered))


def _ranks(ordered: Sequence[float]) -> Iterator[tuple[str, float]]:
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0)):
        yield name, ordered[min(len(ordered) - 1, int(share * len(ordered)))]
