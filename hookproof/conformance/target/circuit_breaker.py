"""The circuit breaker: knows when the target last answered, and ends all calls with the run."""

import asyncio
from http import HTTPStatus
from typing import Final

# What a proxy answers in the place of a target that it cannot reach (RFC 9110, 15.6.3 to 15.6.5).
GATEWAY_STATUSES: Final = frozenset(
    {HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT}
)


def from_the_target(status: int | None) -> bool:
    """Whether a response, if there is one, is surely the target's own."""
    return status is not None and status not in GATEWAY_STATUSES


class RunOver(BaseException):
    """Raised by a call after the run has ended.

    It is not an Exception, so that neither an experiment nor a generator in its thread attributes
    it to the target.
    """


class Breaker:
    """Notes how exchanges end, and refuses all calls once it is open. Belongs to one event loop.

    `answered_at` is when the latest request was sent that the target itself answered, by
    time.monotonic, and `took_s` how long that answer took. `suspected` is set by a request that it
    did not.
    """

    def __init__(self) -> None:
        self.suspected = asyncio.Event()
        self.answered_at = float("-inf")
        self.took_s = 0.0
        self._open = False

    def open(self) -> None:
        self._open = True

    def admit(self) -> None:
        """Admit a call; raises RunOver once the breaker is open."""
        if self._open:
            raise RunOver

    def note(self, status: int | None, *, sent_at: float, took_s: float = 0.0) -> None:
        """Note the end of an exchange that was sent at this time."""
        if not from_the_target(status):
            self.suspected.set()
        elif sent_at >= self.answered_at:
            self.answered_at, self.took_s = sent_at, took_s
