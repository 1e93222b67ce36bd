"""API priority: the engine leaves time to the API, which runs on the same event loop.

A client that posts an event waits for the response, while a pending delivery can wait a little. So
while requests arrive, the number of attempts per request is limited so that more than half of the
time is left to the API, however few requests arrive at a time; in the pauses between requests the
engine starts few attempts at a time. It never stops entirely, and without requests it has no limit.
"""

from collections.abc import Callable
from math import inf, modf
from typing import Final

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
    """Limits the engine's attempts by the number of API requests.

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
