"""How fast the target is called: not faster than target.yaml says, nor than the target itself says.

A target that answers 429 is left alone for as long as it asks for, and the request is then sent
again: such an answer says nothing of what was asked (RFC 6585, section 4). One whose answers would
fill the memory is called no more: they are evidence, and kept until the run has ended.
"""

import asyncio
import math
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final, TypeVar

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.target.circuit_breaker import RunOver
from hookproof.process.exit_codes import CommandError, ExitCode
from hookproof.target.rate_answer import DATE, RETRY_AFTER, ApiPause, limit_words, requested_pause_s

MOST_AT_ONCE: Final = 64
# In seconds. An answer that takes longer is late, if the target's first ones did not take as long.
LATE_S: Final = 0.5
# How many times as long as the quickest answer one of a far or slow target may take.
LATE_FACTOR: Final = 10.0


class BroadcastPace:
    """Says how many broadcasts may be under way; belongs to one event loop.

    Each late answer to any request halves how many may be under way, and each other one allows one
    more: there is always one. A service that does all in one process would not come to answer, busy
    as it is with the deliveries of broadcasts that were sent as fast as they can be.
    """

    def __init__(self) -> None:
        self.at_once = MOST_AT_ONCE
        self._under_way = 0
        self._quickest_s = math.inf
        self._change = asyncio.Event()

    def note_answer(self, took_s: float) -> None:
        """Note how long an answer to a request took; without an answer, how long none came."""
        self._quickest_s = min(self._quickest_s, took_s)
        late_s = max(LATE_S, LATE_FACTOR * self._quickest_s)
        self.at_once = max(1, self.at_once // 2) if took_s > late_s else self.at_once + 1
        self.at_once = min(self.at_once, MOST_AT_ONCE)
        self._note_change()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until another broadcast may go, and count it as under way within the block."""
        while self._under_way >= self.at_once:
            await self._change.wait()
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            self._note_change()

    def _note_change(self) -> None:
        self._change.set()
        self._change = asyncio.Event()


# For how long a request is put off at most. A target that still refuses it then does so for good.
LONGEST_PAUSES_S: Final = 60.0
SHORTEST_PAUSE_S: Final = 0.1
# In bytes. Answers that are not long are bounded by the number of requests. Those to hundreds of
# broadcasts may each have a megabyte where a project has a thousand endpoints.
LONG: Final = 64 * 1024
MOST_LONG: Final = 1024 * 1024 * 1024
# The same compressed: pages of resources then take a tenth, and what does not is noise.
MOST_NOISE: Final = 160 * 1024 * 1024
# By so many bytes of each piece it is told how far it can be compressed.
SAMPLE: Final = 4096
SLOWER: Final = "budgets.requests_per_s in target.yaml keeps the run within such a limit"

Answer = TypeVar("Answer")


class LimitedForGood(CommandError):
    """The target does not stop to put a request off, or answers too much; the message says so."""


class Pacing:
    """Lets requests begin one after the other; shared by all that call the target in a run.

    `put_off` counts the requests that the target answered 429, and `waited_s` the seconds in which
    it was therefore not called. `give_up` is called with the reason where it limits for good, or
    where its long answers have more than `most_long` bytes together, or more than `most_noise` that
    cannot be compressed; until there is a run to give up, LimitedForGood is raised. Belongs to one
    event loop.
    """

    def __init__(
        self,
        requests_per_s: float | None = None,
        longest_pauses_s: float = LONGEST_PAUSES_S,
        most_long: int = MOST_LONG,
        most_noise: int = MOST_NOISE,
    ) -> None:
        self.broadcasts = BroadcastPace()
        self.put_off = 0
        self.waited_s = 0.0
        self.give_up: Callable[[str], None] | None = None
        self.interval_s = 1 / requests_per_s if requests_per_s else 0.0
        self._longest_pauses_s = longest_pauses_s
        self._most_long, self._most_noise = most_long, most_noise
        self._long = self._noise = 0
        self._next_at = 0.0
        self._pause = ApiPause()
        self._queue = asyncio.Lock()

    @property
    def words(self) -> str:
        """What the target's limit did to the run, or ours; empty if neither had an effect."""
        limited = limit_words(self.put_off, self.waited_s) if self.put_off else ""
        return "; ".join(filter(None, (limited, self._too_long)))

    @property
    def _too_long(self) -> str:
        """Why no more answers can be kept; empty if there is room."""
        if self._long <= self._most_long and self._noise <= self._most_noise:
            return ""
        return (
            f"the target's answers are too long: those of more than {LONG >> 10} KiB have"
            f" {self._long >> 20} MiB together, which is all that is kept"
        )

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
            self._check_room()
            answer = await send()
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

    def keep(self, length: int, more: bytes) -> None:
        """Make room for more of an answer that has this length by now.

        Raises RunOver or LimitedForGood if there is none. It is called while answers arrive, since
        many may be under way.
        """
        if length > LONG:
            sample = more[:SAMPLE]
            self._long += len(more)
            self._noise += len(more) * len(zlib.compress(sample, level=1)) // len(sample)
            self._check_room()

    def _check_room(self) -> None:
        if self._too_long:
            raise self._end(self._too_long)

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
