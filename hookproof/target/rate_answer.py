"""Answers with which a target limits how fast its API is called, and the pause that they ask for.

The document has no such answer (section 7 leaves errors open), so they are recognised by HTTP: 429
(RFC 6585, section 4), and a refusal or a 503 that says with Retry-After when to come back (RFC
9110, section 10.2.3). A service that limits is judged and loaded within its limit.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Final

RETRY_AFTER: Final = "Retry-After"
DATE: Final = "Date"
# The pause after an answer that does not say how long it should be.
PAUSE_S: Final = 1.0
REFUSAL_CLASS: Final = 4


@dataclass(slots=True, kw_only=True)
class ApiPause:
    """Until when (monotonic) the target is not called, shared by all that call it here."""

    until: float = 0.0

    def extend(self, pause_s: float, now: float) -> None:
        self.until = max(self.until, now + pause_s)

    def holds(self, now: float) -> bool:
        return now < self.until


def is_refusal(status: int) -> bool:
    """Whether a status says that the request itself is refused: RFC 9110, section 15.5."""
    return status // 100 == REFUSAL_CLASS


def requested_pause_s(status: int, headers: Mapping[str, str] | None) -> float | None:
    """How long the target asks not to be called; None for an answer that is not of a limit."""
    wait = None if headers is None else headers.get(RETRY_AFTER)
    if status == HTTPStatus.TOO_MANY_REQUESTS and wait is None:
        return PAUSE_S
    if wait is None or not (is_refusal(status) or status == HTTPStatus.SERVICE_UNAVAILABLE):
        return None
    return _wait_s(wait, headers.get(DATE) if headers else None)


def limit_words(put_off: int, waited_s: float) -> str:
    """What the limit of a target did to a run, in words."""
    times = "once" if put_off == 1 else f"{put_off} times"
    return f"the target answered 429 {times}; waited {waited_s:.1f} s"


def _wait_s(wait: str, answered_at: str | None) -> float:
    """The value of a Retry-After: seconds, or a date by the target's own clock."""
    try:
        seconds = float(wait)
        return max(0.0, seconds) if math.isfinite(seconds) else PAUSE_S
    except ValueError:
        until = _date(wait)
    if until is None:
        return PAUSE_S
    now = _date(answered_at or "") or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds())


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)
