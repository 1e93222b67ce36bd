"""The ledger: what was sent against what arrived, for each broadcast and endpoint.

    accepted broadcasts x endpoints = delivered + explained + pending + lost (+ unaccounted, where
    a worker was lost)

A missing delivery is explained if the run itself is the reason: its endpoint failed every attempt
that the dialect has, or so many that the dialect disables it, or its rate limit drops the rest
(section 8). Any other is pending if deliveries still arrived when the wait for them ended, and lost
if none did.
"""

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from hookproof.load.ledger.sending import ACCEPTED, MOST_SAMPLES, REFUSED
from hookproof.load.sidecar.api import ArrivedAt
from hookproof.receiver.inbox.rate import rate_of
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Excess


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One endpoint's deliveries; `missing` are numbers of a few broadcasts, pending or lost."""

    expected: int
    delivered: int
    explained: int
    pending: int
    lost: int
    refused_and_arrived: int
    missing: tuple[int, ...]


# The account of an endpoint whose arrivals are not known.
NO_ACCOUNT = Account(
    expected=0, delivered=0, explained=0, pending=0, lost=0, refused_and_arrived=0, missing=()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanations:
    """What explains a missing delivery in a dialect; a number of 0 explains nothing."""

    attempts: int
    deactivate_after: int
    excess_dropped: bool

    @classmethod
    def of(cls, dialect: Dialect) -> "Explanations":
        """The explanations of a dialect; an undecided answer may be either way."""
        retry, excess = dialect.retry, dialect.delivery.excess
        return cls(
            attempts=retry.attempts.value if retry.attempts.decided else 1,
            deactivate_after=retry.deactivate_after.value if retry.deactivate_after.decided else 1,
            excess_dropped=excess.allows(Excess.DROPPED),
        )


def balance_endpoint(
    broadcasts: bytes,
    arrived: ArrivedAt,
    *,
    limited: bool,
    explanations: Explanations,
    missing_may_come: bool = False,
) -> Account:
    """One endpoint's account; `broadcasts` has one byte for each broadcast, as in `sending`."""
    expected = delivered = failed_for_good = unexpected = 0
    missing: list[int] = []
    for number, (state, successes, failures) in enumerate(
        zip(
            broadcasts,
            # A receiver has no counts beyond the last broadcast that it has seen.
            arrived.successes[: len(broadcasts)].ljust(len(broadcasts), b"\0"),
            arrived.failures[: len(broadcasts)].ljust(len(broadcasts), b"\0"),
            strict=True,
        )
    ):
        if state == ACCEPTED:
            expected += 1
            if successes:
                delivered += 1
            elif failures >= explanations.attempts:
                failed_for_good += 1
            else:
                missing.append(number)
        elif state == REFUSED and (successes or failures):
            unexpected += 1
    disabled = 0 < explanations.deactivate_after <= failed_for_good
    excused = disabled or (limited and explanations.excess_dropped)
    open_count = 0 if excused else len(missing)
    return Account(
        expected=expected,
        delivered=delivered,
        explained=failed_for_good + len(missing) - open_count,
        pending=open_count if missing_may_come else 0,
        lost=0 if missing_may_come else open_count,
        refused_and_arrived=unexpected,
        missing=() if excused else tuple(missing[:MOST_SAMPLES]),
    )


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
