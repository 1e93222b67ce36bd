"""How fast the target is called: not faster than target.yaml says, nor than the target itself says.

A target that answers 429 is left alone for as long as it asks for, and the request is then sent
again: such an answer says nothing of what was asked (RFC 6585, section 4). One whose answers would
fill the memory is called no more: they are evidence, and kept until the run has ended.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final, TypeVar

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.target.circuit_breaker import RunOver
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.target.rate_answer import DATE, RETRY_AFTER, ApiPause, limit_words, requested_pause_s

# For how long a request is put off at most. A target that still refuses it then does so for good.
LONGEST_PAUSES_S: Final = 60.0
SHORTEST_PAUSE_S: Final = 0.1
# In bytes. Answers that are not long are bounded by the number of requests. Those to hundreds of
# broadcasts may each have a megabyte where a project has a thousand endpoints.
LONG: Final = 64 * 1024
MOST_LONG: Final = 1024 * 1024 * 1024
SLOWER: Final = "budgets.requests_per_s in target.yaml keeps the run within such a limit"

Answer = TypeVar("Answer")


class LimitedForGood(CommandError):
    """The target does not stop to put a request off, or answers too much; the message says so."""


class Pacing:
    """Lets requests begin one after the other; shared by all that call the target in a run.

    `put_off` counts the requests that the target answered 429, and `waited_s` the seconds in which
    it was therefore not called. `give_up` is called with the reason where it limits for good, or
    where its long answers have more than `most_long` bytes together; until there is a run to give
    up, LimitedForGood is raised. Belongs to one event loop.
    """

    def __init__(
        self,
        requests_per_s: float | None = None,
        longest_pauses_s: float = LONGEST_PAUSES_S,
        most_long: int = MOST_LONG,
    ) -> None:
        self.put_off = 0
        self.waited_s = 0.0
        self.give_up: Callable[[str], None] | None = None
        self.interval_s = 1 / requests_per_s if requests_per_s else 0.0
        self._longest_pauses_s = longest_pauses_s
        self._most_long, self._long = most_long, 0
        self._next_at = 0.0
        self._pause = ApiPause()
        self._queue = asyncio.Lock()

    @property
    def words(self) -> str:
        """What the target's limit did to the run; empty if it had no effect."""
        return limit_words(self.put_off, self.waited_s) if self.put_off else ""

    def add(self, other: "Pacing") -> None:
        """Count what another one has counted, too."""
        self.put_off += other.put_off
        self.waited_s += other.waited_s

    async def in_turn(
        self, send: Callable[[], Awaitable[Answer]], exchange_of: Callable[[Answer], Exchange]
    ) -> Answer:
        """Send a request when its turn comes, and again after each pause that the target asks for.

        Raises RunOver or LimitedForGood if it puts the request off for good, or if its answers are
        too long to be kept.
        """
        put_off_s = 0.0
        while True:
            await self._turn()
            answer = await send()
            self._count(exchange_of(answer))
            pause_s = _requested_pause_s(exchange_of(answer))
            if pause_s is None:
                return answer
            self.put_off += 1
            put_off_s += pause_s
            if put_off_s > self._longest_pauses_s:
                raise self._end(
                    f"the target limits how fast it is called: it answers 429, and put one request"
                    f" off for {put_off_s:g} s; {SLOWER}"
                )
            self._extend_pause(pause_s)

    async def _turn(self) -> None:
        async with self._queue:
            # Not for an event: a request that is under way may extend the pause meanwhile.
            while (wait_s := max(self._next_at, self._pause.until) - time.monotonic()) > 0:  # noqa: ASYNC110
                await asyncio.sleep(wait_s)
            self._next_at = time.monotonic() + self.interval_s

    def _extend_pause(self, pause_s: float) -> None:
        now = time.monotonic()
        until = max(self._pause.until, now)
        self._pause.extend(pause_s, now)
        self.waited_s += max(0.0, self._pause.until - until)

    def _count(self, exchange: Exchange) -> None:
        length = len(exchange.response_body)
        self._long += length if length > LONG else 0
        if self._long > self._most_long:
            raise self._end(
                f"the target's answers are too long: those of more than {LONG >> 10} KiB have more"
                f" than {self._most_long >> 20} MiB together, which is all that is kept"
            )

    def _end(self, reason: str) -> BaseException:
        if self.give_up is None:
            return LimitedForGood(reason, ExitCode.UNREACHABLE)
        self.give_up(reason)
        return RunOver()


def _requested_pause_s(exchange: Exchange) -> float | None:
    if exchange.status != HTTPStatus.TOO_MANY_REQUESTS:
        return None
    shown = {name: exchange.response_header(name) for name in (RETRY_AFTER, DATE)}
    headers = {name: value for name, value in shown.items() if value is not None}
    pause_s = requested_pause_s(exchange.status, headers)
    return None if pause_s is None else max(pause_s, SHORTEST_PAUSE_S)
