"""What an answer means and when the next attempt is due: the retry rules of a dialect (section 1)."""

import random
from collections.abc import Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

from hookproof.mockserver.delivery.store_port import Clock
from hookproof.spec.dialect.model import Retry
from hookproof.spec.dialect.vocabulary import RedirectOutcome, RetryAfter, SuccessStatus

SUCCESSFUL, REDIRECTION = 2, 3  # the classes of statuses, RFC 9110, section 15
SUCCEEDED: Final[Mapping[SuccessStatus, Callable[[int], bool]]] = {
    SuccessStatus.ANY_2XX: lambda status: status // 100 == SUCCESSFUL,
    SuccessStatus.ONLY_200: lambda status: status == HTTPStatus.OK,
}


class RetryRules:
    """The rules of one dialect; `rng` draws the jitter."""

    def __init__(self, retry: Retry, clock: Clock, rng: random.Random) -> None:
        self._retry = retry
        self._clock = clock
        self._rng = rng

    def delivered(self, status: int) -> bool:
        """Whether an attempt with this answer delivered the event."""
        if status // 100 == REDIRECTION:
            return self._retry.redirect.value is RedirectOutcome.SUCCESS
        return SUCCEEDED[self._retry.success.value](status)

    def next_due(self, attempts: int, retry_after: str | None) -> float | None:
        """When to try again after this many failed attempts, in unix seconds; None when they are
        used up.

        `retry_after` is the header's value: it can put an attempt off up to a bound, and never
        brings one forward.
        """
        retry = self._retry
        if attempts >= retry.attempts.value:
            return None
        wait = min(
            retry.initial_s.value * retry.factor.value ** (attempts - 1), retry.maximum_s.value
        )
        wait *= 1 + self._rng.random() * retry.jitter
        if retry_after is not None and retry.retry_after.value is RetryAfter.HONOURED:
            asked = asked_wait_s(retry_after, self._clock())
            wait = max(wait, min(asked, retry.retry_after_maximum_s))
        return self._clock() + wait


def asked_wait_s(value: str, now: float) -> float:
    """The wait that a Retry-After header asks for, in seconds or as a date (RFC 9110, 10.2.3); 0
    for anything else.
    """
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text[:12])
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0
    return max(0.0, (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now)
