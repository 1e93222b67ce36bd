"""Kept connections: who needs one takes an idle one, or waits for its turn to make another.

A handshake costs more than a hundred deliveries, so few are made at once to one place: whoever
waits meanwhile gets the next connection that comes free. Without that bound a burst would open a
connection for each of its attempts.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Iterator
from typing import Final, NamedTuple

from hookproof.mockserver.delivery.http_client.connection import Connection
from hookproof.mockserver.delivery.store_port import ClientCertificate

IDLE_S: Final = 4.0  # shorter than the five seconds after which the least patient servers hang up
IDLE_CONNECTIONS: Final = 512
CONNECTING: Final = 16

Waiter = asyncio.Future[Connection | None]


class Place(NamedTuple):
    """Where requests go: what a URL and a client certificate say about the connection.

    A tuple, since every delivery looks it up a few times.
    """

    secure: bool
    host: str
    port: int
    certificate: ClientCertificate | None


class Pool:
    """The idle connections of each place, and the queue of those who need one."""

    def __init__(self) -> None:
        self._idle: dict[Place, list[Connection]] = {}
        self._idle_count = 0
        self._connecting: Counter[Place] = Counter()
        self._waiting: dict[Place, deque[Waiter]] = {}
        self._sweeper: asyncio.TimerHandle | None = None

    def take(self, place: Place) -> Connection | None:
        """An idle connection, if there is one."""
        idle = self._idle.get(place)
        if idle is None:
            return None
        oldest_use = asyncio.get_running_loop().time() - IDLE_S
        while idle:
            connection = idle.pop()
            self._idle_count -= 1
            if connection.usable and connection.idle_since > oldest_use:
                return connection
            connection.abort()
        del self._idle[place]
        return None

    async def turn(self, place: Place) -> Connection | None:
        """Wait for a connection that comes free, or for the right to make one (None), which `made`
        gives back.
        """
        if self._connecting[place] < CONNECTING:
            self._connecting[place] += 1
            return None
        waiter: Waiter = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(place, deque()).append(waiter)
        try:
            return await waiter
        except asyncio.CancelledError:
            if not waiter.cancelled():
                self._pass_on(place, waiter.result())
            raise

    def made(self, place: Place) -> None:
        """A connection was made, or could not be: another one may be."""
        for waiter in self._waiters(place):
            waiter.set_result(None)
            return
        self._connecting[place] -= 1
        if not self._connecting[place]:
            del self._connecting[place]

    def give_back(self, place: Place, connection: Connection) -> None:
        """A connection is free for the next request, if it can take one."""
        if not connection.usable:
            connection.abort()
            return
        for waiter in self._waiters(place):
            waiter.set_result(connection)
            return
        if self._idle_count >= IDLE_CONNECTIONS:
            connection.abort()
            return
        loop = asyncio.get_running_loop()
        connection.idle_since = loop.time()
        self._idle.setdefault(place, []).append(connection)
        self._idle_count += 1
        if self._sweeper is None:
            self._sweeper = loop.call_later(IDLE_S, self._sweep)

    def close(self) -> None:
        """Forget the idle connections; closing them is for whoever made them."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        self._idle.clear()

    def _waiters(self, place: Place) -> Iterator[Waiter]:
        """Those who still wait, first come first; each one given is out of the queue."""
        queue = self._waiting.get(place)
        while queue:
            waiter = queue.popleft()
            if not queue:
                del self._waiting[place]
            if not waiter.done():
                yield waiter

    def _pass_on(self, place: Place, result: Connection | None) -> None:
        """Whoever got this has given up in the same moment."""
        if result is None:
            self.made(place)
        else:
            self.give_back(place, result)

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        oldest_use = loop.time() - IDLE_S
        for place, idle in list(self._idle.items()):
            stays = [
                connection
                for connection in idle
                if connection.usable and connection.idle_since > oldest_use
            ]
            for connection in set(idle).difference(stays):
                connection.abort()
            self._idle_count -= len(idle) - len(stays)
            self._idle[place] = stays
            if not stays:
                del self._idle[place]
        self._sweeper = loop.call_later(IDLE_S, self._sweep) if self._idle else None
