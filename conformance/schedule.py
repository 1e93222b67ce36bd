"""When a dialect's further attempts are due (section 1, which leaves retries open)."""

from dataclasses import dataclass

from spec.dialect import Retry


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """The bounds of one wait between two attempts, in seconds."""

    shortest_s: float
    longest_s: float


def wait_before(retry: Retry, attempt: int) -> Wait:
    """The wait before an attempt, counted from 1, the second being the first to wait; raises Undecided."""
    grown = retry.initial_s.value * retry.factor.value ** (attempt - 2)
    shortest = min(grown, retry.maximum_s.value)
    return Wait(shortest_s=shortest, longest_s=shortest * (1 + retry.jitter))
