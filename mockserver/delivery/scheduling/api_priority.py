"""Courtesy: the engine gives way to the API, since both take turns on one event loop.

Whoever posts an event waits for its answer, and a pending delivery can wait a little. So while
requests come in, there are at most so many attempts for each of them that more than half of the
time is left to the API, however few of them come at a time, and in the pauses between requests the
engine takes small steps. It always moves on, and while nobody asks for anything it has the loop to
itself.
"""

from collections.abc import Callable
from math import inf, modf
from typing import Final

ATTEMPTS_PER_REQUEST: Final = (
    0.25  # one costs about two requests, as few of them share a transaction
)
# How many rounds a request takes from its arrival to its answer: so many without an answer mean
# nothing.
IN_PROGRESS: Final = 4

STEP: Final = 8
# How long after the last sign of a request another one is expected.
LINGERS_S: Final = 0.01


class Courtesy:
    """Counts the API's requests against the engine's attempts. `answered` says how many were
    answered so far, ever.
    """

    def __init__(self, answered: Callable[[], int]) -> None:
        self._answered = answered
        self._seen = answered()
        self._earned = 0.0
        self._silent_rounds = IN_PROGRESS
        self._expected_until = -inf

    def attempts(self, now: float) -> float:
        """How many attempts may start in the round that begins at `now`, which never steps back; in
        seconds.

        A part of an attempt that requests have earned is kept for the rounds that follow.
        """
        answered = self._answered()
        fresh, self._seen = answered - self._seen, answered
        if fresh > 0:
            self._silent_rounds = 0
            self._earned, whole = modf(self._earned + fresh * ATTEMPTS_PER_REQUEST)
            return whole
        self._silent_rounds += 1
        if self._silent_rounds < IN_PROGRESS:
            return 0
        if (
            self._silent_rounds == IN_PROGRESS
        ):  # counted from here: a loop that was busy until now has seen nobody
            self._expected_until = now + LINGERS_S
        return STEP if now < self._expected_until else inf
