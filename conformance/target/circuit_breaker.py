"""The circuit breaker: a target that stops answering ends the run soon, with the evidence gathered
so far.
"""

import asyncio
from typing import Final

# Consecutive unanswered exchanges, over all experiments, before the target is probed directly.
#
# Hostile requests may be answered by closing the connection, so silence alone proves nothing.
SUSPICIOUS: Final = 12


class RunOver(BaseException):
    """Raised by a call after the run has ended.

    It is not an Exception, so that neither an experiment nor a generator in its thread attributes
    it to the target.
    """


class Breaker:
    """Counts unanswered exchanges, and refuses all calls once it is open. Belongs to one event
    loop.
    """

    def __init__(self, suspicious: int = SUSPICIOUS) -> None:
        self.suspected = asyncio.Event()
        self._suspicious = suspicious
        self._unanswered = 0
        self._open = False

    def open(self) -> None:
        """Refuse every call from now on."""
        self._open = True

    def admit(self) -> None:
        """Admit a call; raises RunOver once the breaker is open."""
        if self._open:
            raise RunOver

    def note(self, *, answered: bool) -> None:
        """Count one exchange."""
        self._unanswered = 0 if answered else self._unanswered + 1
        if answered:
            self.suspected.clear()
        elif self._unanswered >= self._suspicious:
            self.suspected.set()
