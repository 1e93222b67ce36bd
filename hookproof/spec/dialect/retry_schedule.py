"""When a dialect's further attempts are due (section 1, which leaves retries open)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from hookproof.spec.dialect.answer import Undecided
from hookproof.spec.dialect.groups.deliveries import Retry

# More attempts at one delivery than any service makes.
MOST_ATTEMPTS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """The bounds of one wait between two attempts, in seconds."""

    shortest_s: float
    longest_s: float


def is_scheduled(retry: Retry) -> bool:
    """Whether the dialect says when further attempts are due."""
    return all(each.decided for each in (retry.initial_s, retry.factor, retry.maximum_s))


def wait_before(retry: Retry, attempt: int) -> Wait:
    """The wait before an attempt, by all values that the dialect allows; raises Undecided.

    Attempts count from 1, and the second is the first with a wait.
    """
    shortest, longest = (_grown(retry, attempt - 2, bound) for bound in (min, max))
    return Wait(shortest_s=shortest, longest_s=longest * (1 + retry.jitter))


def _grown(retry: Retry, times: int, bound: Callable[[Iterable[float]], float]) -> float:
    """The shortest or longest wait that has grown so many times, without jitter."""
    answers = (retry.initial_s, retry.factor, retry.maximum_s)
    for each in answers:
        if not each.decided:
            raise Undecided(each.reason)
    initial, factor, maximum = (bound(each.allowed) for each in answers)
    try:
        return min(initial * factor**times, maximum)
    except OverflowError:
        return maximum


def may_be_due(retry: Retry, attempt: int, *, since: int, waited_s: float) -> bool:
    """Whether an attempt may be due `waited_s` seconds after the attempt `since`.

    Attempts count from 1; `since` is 0 for the acceptance of the event. Attempts in between count,
    because not all of them arrive. An undecided schedule may have any speed.
    """
    if not since < attempt <= MOST_ATTEMPTS:
        return False
    due_s = 0.0
    try:
        for further in range(max(since, 1) + 1, attempt + 1):
            due_s += wait_before(retry, further).shortest_s
            if due_s > waited_s:
                return False
    except Undecided:
        pass
    return True
