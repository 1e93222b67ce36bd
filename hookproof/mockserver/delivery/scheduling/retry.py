"""The retry rules of a dialect: what counts as success, when to try again (section 1)."""

import random
from collections.abc import Callable, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

from hookproof.mockserver.delivery.attempt.redirects import REDIRECTION
from hookproof.mockserver.delivery.store_port import Clock
from hookproof.spec.dialect.groups.deliveries import Retry
from hookproof.spec.dialect.vocabulary import RedirectOutcome, RetryAfter, SuccessStatus

SUCCESSFUL: Final = 2  # the class of statuses, RFC 9110, section 15.3
IS_SUCCESS: Final[Mapping[SuccessStatus, Callable[[int], bool]]] = {
    SuccessStatus.ANY_2XX: lambda status: status // 100 == SUCCESSFUL,
    SuccessStatus.ONLY_200: lambda status: status == HTTPStatus.OK,
}


class RetryRules:
    """The rules of one dialect; `rng` draws the jitter.

    `clock` says when attempts are due, `wall` what dates mean, which the other side wrote.
    """

    def __init__(
        self, retry: Retry, clock: Clock, rng: random.Random, wall: Clock | None = None
    ) -> None:
        self._retry = retry
        self._clock = clock
        self._wall = wall or clock
        self._rng = rng

    def is_success(self, status: int) -> bool:
        """Whether a response with this status means that the event is delivered."""
        if status // 100 == REDIRECTION:
            return self._retry.redirect.value is RedirectOutcome.SUCCESS
        return IS_SUCCESS[self._retry.success.value](status)

    def is_final(self, status: int | None) -> bool:
        """Whether no further attempt follows a response with this status; no answer is never final.

        A dialect that leaves this open has no final status.
        """
        final = self._retry.final_status
        return status is not None and final.decided and final.value.includes(status)

    def next_due(self, attempts: int, retry_after: str | None) -> float | None:
        """Return when the next attempt is due, in unix seconds, or None if there is none.

        `attempts` is the number of failed attempts so far. `retry_after` is the value of that
        header: it can delay an attempt up to a bound, and never brings one forward.
        """
        retry = self._retry
        if attempts >= retry.attempts.value:
            return None
        wait = min(
            retry.initial_s.value * retry.factor.value ** (attempts - 1), retry.maximum_s.value
        )
        wait *= 1 + self._rng.random() * retry.jitter
        if retry_after is not None and retry.retry_after.value is RetryAfter.HONOURED:
            requested_s = retry_after_s(retry_after, self._wall())
            wait = max(wait, min(requested_s, retry.retry_after_maximum_s))
        return self._clock() + wait


def retry_after_s(value: str, now: float) -> float:
    """Return the seconds that a Retry-After header asks for (RFC 9110, section 10.2.3).

    The value is a number of seconds or a date; anything else counts as 0.
    """
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text[:12])
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0
    return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now)
