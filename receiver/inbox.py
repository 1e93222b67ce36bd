"""What has arrived, by token, kept within bounds; whoever waits for a number of deliveries is woken here.

The inbox is full when it holds too many deliveries or too many bytes. Then the oldest are dropped, and counted: a
reader is always told how many deliveries are missing from what it was given.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from receiver.delivery import ReceivedDelivery


@dataclass(slots=True, kw_only=True)
class _Tray:
    """The deliveries of one token by sequence, and how many requests there ever were."""

    issued: bool = False
    arrived: int = 0
    deliveries: dict[int, ReceivedDelivery] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The answer to a query.

    `complete` says whether as many requests arrived as were waited for; `dropped`, how many of those that arrived are
    missing from `deliveries` for want of room.
    """

    deliveries: tuple[ReceivedDelivery, ...]
    complete: bool
    dropped: int


class Inbox:
    """All deliveries of all tokens.

    It holds at most `most_deliveries`, whose headers and bodies are at most `most_bytes` together. What arrived is kept
    at once: a sender that leaves at that moment, which cancels whatever waits on its behalf, can't undo it. `on_done`
    is told each delivery that was answered whole or broken off; it must not wait.
    """

    def __init__(
        self, *, most_deliveries: int, most_bytes: int, on_done: Callable[[ReceivedDelivery], None] | None = None
    ) -> None:
        self._on_done = on_done
        self._most_deliveries = most_deliveries
        self._most_bytes = most_bytes
        self._next_arrival = asyncio.Event()
        self._trays: dict[str, _Tray] = {}
        self._oldest_first: deque[tuple[str, int]] = deque()
        self._bytes = 0

    def issue(self, token: str) -> None:
        """Keep count of a token's requests even when none of them is kept any more."""
        self._trays.setdefault(token, _Tray()).issued = True

    def record(self, token: str, delivery: Callable[[int], ReceivedDelivery]) -> ReceivedDelivery:
        """Keep the delivery that is made for its sequence number, and wake those who wait for it."""
        sequence = self._count(token)
        kept = self._trays[token].deliveries[sequence] = delivery(sequence)
        self._oldest_first.append((token, sequence))
        self._bytes += _weight(kept)
        self._make_room()
        return kept

    def drop(self, token: str) -> None:
        """Count a request that arrived and cannot be kept."""
        self._count(token)

    def complete(self, delivery: ReceivedDelivery, *, status: int, at: float) -> None:
        """Note that a delivery was answered whole, at a monotonic time in seconds."""
        self._amend(delivery, replace(delivery, status=status, completed_monotonic=at))

    def close(self, delivery: ReceivedDelivery, *, at: float) -> None:
        """Note that a delivery's sender left before the answer was whole, at a monotonic time in seconds."""
        self._amend(delivery, replace(delivery, closed_monotonic=at))

    async def wait(self, token: str, *, after: int, count: int, timeout_s: float) -> Found:
        """The deliveries of a token with a sequence above `after`, once `count` of them arrived or time is up."""
        try:
            async with asyncio.timeout(timeout_s):
                while self._arrived(token) - after < count:
                    await self._next_arrival.wait()
        except TimeoutError:
            return self._found(token, after, complete=False)
        return self._found(token, after, complete=True)

    def clear(self) -> None:
        """Forget all deliveries and tokens."""
        self._trays.clear()
        self._oldest_first.clear()
        self._bytes = 0

    def _count(self, token: str) -> int:
        """Count a request and wake all who wait; its sequence number."""
        tray = self._trays.setdefault(token, _Tray())
        tray.arrived += 1
        self._next_arrival.set()
        self._next_arrival = asyncio.Event()
        return tray.arrived

    def _arrived(self, token: str) -> int:
        tray = self._trays.get(token)
        return tray.arrived if tray else 0

    def _found(self, token: str, after: int, *, complete: bool) -> Found:
        tray = self._trays.get(token, _Tray())
        asked = range(after + 1, tray.arrived + 1)
        kept = tuple(tray.deliveries[sequence] for sequence in asked if sequence in tray.deliveries)
        return Found(deliveries=kept, complete=complete, dropped=len(asked) - len(kept))

    def _amend(self, delivery: ReceivedDelivery, amended: ReceivedDelivery) -> None:
        """Put one delivery in the place of another, unless that was dropped or forgotten meanwhile."""
        tray = self._trays.get(delivery.token)
        if tray is not None and tray.deliveries.get(delivery.sequence) is delivery:
            tray.deliveries[delivery.sequence] = amended
        if self._on_done is not None:
            self._on_done(amended)

    def _make_room(self) -> None:
        while len(self._oldest_first) > self._most_deliveries or self._bytes > self._most_bytes:
            token, sequence = self._oldest_first.popleft()
            tray = self._trays[token]
            self._bytes -= _weight(tray.deliveries.pop(sequence))
            # Anyone can send to a token of their own making; only trays that hold something may take up room.
            if not tray.deliveries and not tray.issued:
                del self._trays[token]


def _weight(delivery: ReceivedDelivery) -> int:
    return len(delivery.body) + sum(len(name) + len(value) for name, value in delivery.headers)
