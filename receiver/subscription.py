"""News of arrivals for those who watch: what arrived, and again when it was answered or broken off.

    with inbox.subscription() as news:
        async for item in news:
            ...  # item.delivery, item.missed

A watcher that is slower than the senders loses the oldest news, and is told how many; it never holds up the receiver.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol, Self

from receiver.arrival import Arrival
from receiver.delivery import ReceivedDelivery


class Watcher(Protocol):
    """Is told of everything at once, as it happens; it must be quick, since a sender waits meanwhile."""

    def arrived(self, token: str, sequence: int) -> None:
        """A request arrived just now, whether it can be kept or not."""
        ...

    def amended(self, token: str, sequence: int) -> None:
        """A request was answered or broken off."""

    def judged_anew(self, token: str) -> None:
        """The token has other secrets, so that its deliveries may have another verdict."""
        ...

    def forgotten(self, tokens: Collection[str]) -> None:
        """Nothing of these tokens is kept any more; they count from 1 again."""
        ...


class Nobody:
    """The watcher of an inbox that nobody watches."""

    def arrived(self, token: str, sequence: int) -> None:
        """Nothing is done."""

    def amended(self, token: str, sequence: int) -> None:
        """Nothing is done."""

    def judged_anew(self, token: str) -> None:
        """Nothing is done."""

    def forgotten(self, tokens: Collection[str]) -> None:
        """Nothing is done."""


NOBODY = Nobody()


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """A delivery as it stands now, and how many news before it were lost."""

    delivery: ReceivedDelivery
    missed: int


class Subscription:
    """One watcher's news, at most `most` of them at a time; ask for them within the event loop."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: OrderedDict[tuple[str, int], Arrival] = OrderedDict()
        self._missed = 0
        self._ended = False
        self._something = asyncio.Event()

    def put(self, arrival: Arrival) -> None:
        """Tell the watcher of an arrival that is new or has changed; twice before it looks is once."""
        self._waiting[arrival.token, arrival.sequence] = arrival
        if len(self._waiting) > self._most:
            self._waiting.popitem(last=False)
            self._missed += 1
        self._something.set()

    def end(self) -> None:
        """Let the watcher's loop end, once it has read what waits."""
        self._ended = True
        self._something.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> News:
        while not self._waiting:
            if self._ended:
                raise StopAsyncIteration
            self._something.clear()
            await self._something.wait()
        _, arrival = self._waiting.popitem(last=False)
        missed, self._missed = self._missed, 0
        return News(delivery=arrival.delivery(), missed=missed)
