"""The circuit breaker: a target that stopped answering ends the run soon, with the evidence
gathered so far.
"""

import asyncio
from typing import Final

# Exchanges without an answer, one after the other over all experiments, before the target is asked
# directly.
#
# Hostile requests may well be met with a closed connection, so silence alone proves nothing.
SUSPICIOUS: Final = 12


class RunOver(BaseException):
    """Raised by a call after the run has ended.

    It is no Exception, so that neither an experiment nor a generator in its thread takes it for the
    target's doing.
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
        """Let a call through; raises RunOver once the breaker is open."""
        if self._open:
            raise RunOver

    def note(self, *, answered: bool) -> None:
        """Count one exchange."""
        self._unanswered = 0 if answered else self._unanswered + 1
        if answered:
            self.suspected.clear()
        elif self._unanswered >= self._suspicious:
            self.suspected.set()
