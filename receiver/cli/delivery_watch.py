"""What `hookproof receive` tells of each delivery while it runs, and when it has seen enough.

Deliveries are judged in a thread, so that explaining a bad signature never holds up the ones that
arrive meanwhile.
"""

import asyncio
import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, TextIO

from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.receiver.signatures.judgement import Judge, Judgement

# Deliveries that wait to be told; beyond these the receiver still keeps them, and only the telling
# is left out.
MOST_WAITING: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A delivery that was answered or broken off, and the word on it, if it was to be verified."""

    delivery: ReceivedDelivery
    judgement: Judgement | None

    def to_json(self) -> dict[str, object]:
        """The line of a file of deliveries: a delivery, and under `judgement` the word on it."""
        return self.delivery.to_json() | {
            "judgement": self.judgement.to_json() if self.judgement else None
        }


class Display(Protocol):
    """Where deliveries are told to a person."""

    def show(self, seen: Seen) -> None:
        """Tell one more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What to do with each delivery, and when to stop.

    `expect` is how many are waited for, for `timeout_s` seconds at most; None: for ever. `judge`
    None: not verified.
    """

    judge: Judge | None = None
    lines: TextIO | None = None
    expect: int | None = None
    timeout_s: float | None = None


class Watch:
    """Tells deliveries one after the other; `see` may be called at any rate, and everything within
    the event loop.
    """

    def __init__(self, wishes: Wishes, display: Display, say: Callable[[str], None]) -> None:
        self._wishes = wishes
        self._display = display
        self._say = say
        self._waiting: deque[ReceivedDelivery] = deque()
        self._something = asyncio.Event()
        self._stopped = False
        self._untold = 0
        self.count = 0
        self.unverified = 0

    def see(self, delivery: ReceivedDelivery) -> None:
        """Take a delivery that was answered or broken off."""
        if len(self._waiting) < MOST_WAITING:
            self._waiting.append(delivery)
        else:
            self._untold += 1
        self._something.set()

    def stop(self) -> None:
        """End `tell` as soon as all that came so far is told."""
        self._stopped = True
        self._something.set()

    async def tell(self) -> int:
        """Tell deliveries until as many came as are expected, time is up, or it is stopped; the
        exit code.
        """
        if self._wishes.timeout_s is not None:
            asyncio.get_running_loop().call_later(self._wishes.timeout_s, self.stop)
        while self._wishes.expect is None or self.count < self._wishes.expect:
            if self._waiting:
                await self._tell_one(self._waiting.popleft())
            elif self._stopped:
                break
            else:
                self._something.clear()
                await self._something.wait()
        return self.outcome()

    def outcome(self) -> int:
        """0 if what was expected came, and was verified if that was asked; otherwise 1, and one
        line says why.
        """
        if self._wishes.expect is None:
            return 0
        missing = self._wishes.expect - self.count
        if missing > 0:
            self._say(f"{self.count} of {self._wishes.expect} deliveries came")
        if self.unverified:
            self._say(f"{self.unverified} of {self.count} deliveries are not verified")
        return 1 if missing > 0 or self.unverified else 0

    async def _tell_one(self, delivery: ReceivedDelivery) -> None:
        judge = self._wishes.judge
        judgement = (
            await asyncio.to_thread(judge.of, delivery.headers, delivery.body, delivery.arrived_at)
            if judge
            else None
        )
        self.count += 1
        self.unverified += judgement is not None and not judgement.verified
        seen = Seen(delivery=delivery, judgement=judgement)
        if self._wishes.lines is not None:
            self._wishes.lines.write(json.dumps(seen.to_json()) + "\n")
            self._wishes.lines.flush()
        self._display.show(seen)
        if self._untold:
            self._say(
                f"{self._untold} deliveries came too fast to be told here; the inbox has them"
            )
            self._untold = 0
