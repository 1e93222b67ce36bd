"""The ledger: what was sent against what arrived, for each broadcast and endpoint.

    accepted broadcasts x endpoints = delivered + explained + pending + lost (+ unaccounted, where
    a worker was lost)

A missing delivery is explained if the run itself is the reason: its endpoint failed every attempt
that the dialect has, or so many that the dialect disables it, or its rate limit drops the rest
(section 8). Any other is pending if deliveries still arrived when the wait for them ended, and lost
if none did.
"""

from dataclasses import dataclass

from hookproof.load.ledger.sending import ACCEPTED, MOST_SAMPLES, REFUSED
from hookproof.load.sidecar.api import ArrivedAt
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
            arrived.successes[: len(broadcasts)],
            arrived.failures[: len(broadcasts)],
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
