"""How many attempts may start: at once over all endpoints, and beside the requests of the API."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, modf
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


# An attempt costs about as much as two requests, because few attempts share a transaction.
ATTEMPTS_PER_REQUEST: Final = 0.25
# Rounds of the event loop from the arrival of a request to its response: only after this many
# rounds without a response no request can be in progress.
IN_PROGRESS: Final = 4

# Attempts per round in a pause between requests.
STEP: Final = 8
# How long after the last response another request is expected.
LINGERS_S: Final = 0.01


class ApiPriority:
    """Leaves time to the API, which runs on the same event loop.

    A client that posts an event waits for the response, while a pending delivery can wait a little.
    So while requests arrive, the number of attempts per request is limited so that more than half
    of the time is left to the API, however few requests arrive at a time; in the pauses between
    requests the engine starts few attempts at a time. It never stops entirely, and without requests
    it has no limit.

    `answered_requests` returns how many requests have been answered in total.
    """

    def __init__(self, answered_requests: Callable[[], int]) -> None:
        self._answered_requests = answered_requests
        self._last_answered = answered_requests()
        self._fraction = 0.0
        self._silent_rounds = IN_PROGRESS
        self._expected_until = -inf

    def allowed_attempts(self, now: float) -> float:
        """Return how many attempts may start in the round that begins at `now`.

        `now` is in seconds of a monotonic clock. A fraction of an attempt is carried over to the
        following rounds.
        """
        answered = self._answered_requests()
        new, self._last_answered = answered - self._last_answered, answered
        if new > 0:
            self._silent_rounds = 0
            self._fraction, whole = modf(self._fraction + new * ATTEMPTS_PER_REQUEST)
            return whole
        self._silent_rounds += 1
        if self._silent_rounds < IN_PROGRESS:
            return 0
        if self._silent_rounds == IN_PROGRESS:
            # Measured from here, because a loop that was busy until now could not see a request.
            self._expected_until = now + LINGERS_S
        return STEP if now < self._expected_until else inf
