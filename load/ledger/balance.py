"""The ledger: what was sent against what arrived, for each broadcast and endpoint.

    accepted broadcasts x endpoints = delivered + explained + lost (+ unaccounted, where a worker
    was lost)

A delivery is explained where the run itself is the reason that it never came: its endpoint failed
every attempt that the dialect has, or so many of them that the dialect disables it, or its rate
limit drops the rest (section 8).
"""

from dataclasses import dataclass

from hookproof.load.ledger.sending import ACCEPTED, REFUSED
from hookproof.load.sidecar.api import ArrivedAt
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Excess

MOST_SAMPLES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One endpoint's deliveries; `lost_samples` are numbers of broadcasts."""

    expected: int
    delivered: int
    explained: int
    lost: int
    refused_and_arrived: int
    lost_samples: tuple[int, ...]


# That of an endpoint whose arrivals are not known.
NO_ACCOUNT = Account(
    expected=0, delivered=0, explained=0, lost=0, refused_and_arrived=0, lost_samples=()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Excuses:
    """What explains a missing delivery, as a dialect has it; a number of 0 explains nothing by
    itself.
    """

    attempts: int
    deactivate_after: int
    excess_dropped: bool

    @classmethod
    def of(cls, dialect: Dialect) -> "Excuses":
        """Those of a dialect; what it leaves undecided may be either way."""
        retry, excess = dialect.retry, dialect.delivery.excess
        return cls(
            attempts=retry.attempts.value if retry.attempts.decided else 1,
            deactivate_after=retry.deactivate_after.value if retry.deactivate_after.decided else 1,
            excess_dropped=excess.allows(Excess.DROPPED),
        )


def balanced(broadcasts: bytes, arrived: ArrivedAt, *, limited: bool, excuses: Excuses) -> Account:
    """One endpoint's account; `broadcasts` has one byte each, as in `sending`."""
    expected = delivered = failed_for_good = unexpected = 0
    missing: list[int] = []
    for number, (state, came, failed) in enumerate(
        zip(
            broadcasts,
            arrived.successes[: len(broadcasts)],
            arrived.failures[: len(broadcasts)],
            strict=True,
        )
    ):
        if state == ACCEPTED:
            expected += 1
            if came:
                delivered += 1
            elif failed >= excuses.attempts:
                failed_for_good += 1
            else:
                missing.append(number)
        elif state == REFUSED and (came or failed):
            unexpected += 1
    disabled = 0 < excuses.deactivate_after <= failed_for_good
    excused = disabled or (limited and excuses.excess_dropped)
    return Account(
        expected=expected,
        delivered=delivered,
        explained=failed_for_good + (len(missing) if excused else 0),
        lost=0 if excused else len(missing),
        refused_and_arrived=unexpected,
        lost_samples=() if excused else tuple(missing[:MOST_SAMPLES]),
    )
