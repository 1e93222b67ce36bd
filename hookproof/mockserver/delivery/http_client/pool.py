"""The connection pool: a request uses an idle connection, or waits for its turn to open one.

A TLS handshake costs more than a hundred deliveries, so only MAX_CONNECTING of them run at once per
destination, and a waiting request gets the next connection that is released. Without this limit a
burst would open one connection per attempt.
"""

import asyncio
from collections import Counter, deque
from typing import Final, NamedTuple

from hookproof.mockserver.delivery.http_client.connection import EndpointConnection
from hookproof.mockserver.delivery.store_port import ClientCertificate

# Shorter than five seconds, the shortest keep-alive timeout that is common among servers.
IDLE_S: Final = 4.0
MAX_IDLE_CONNECTIONS: Final = 512
MAX_CONNECTING: Final = 16

Waiter = asyncio.Future[EndpointConnection | None]


class ConnectionKey(NamedTuple):
    """What requests that share a connection have in common.

    A tuple, because every delivery looks it up several times.
    """

    secure: bool
    host: str
    port: int
    certificate: ClientCertificate | None


class ConnectionPool:
    """The idle connections by key, and the queue of requests that need one."""

    def __init__(self) -> None:
        self._idle: dict[ConnectionKey, list[EndpointConnection]] = {}
        self._idle_count = 0
        self._connecting: Counter[ConnectionKey] = Counter()
        self._waiting: dict[ConnectionKey, deque[Waiter]] = {}
        self._sweeper: asyncio.TimerHandle | None = None

    def take_idle(self, key: ConnectionKey) -> EndpointConnection | None:
        """Remove an idle connection and return it, or None if there is none."""
        idle = self._idle.get(key)
        if idle is None:
            return None
        oldest_use = asyncio.get_running_loop().time() - IDLE_S
        while idle:
            connection = idle.pop()
            self._idle_count -= 1
            if connection.is_usable and connection.idle_since > oldest_use:
                return connection
            connection.abort()
        del self._idle[key]
        return None

    async def wait_for_turn(self, key: ConnectionKey) -> EndpointConnection | None:
        """Wait for a released connection, or for the right to open one.

        Returns None for the right to open one: call `end_turn` once it is open or has failed.
        """
        if self._connecting[key] < MAX_CONNECTING:
            self._connecting[key] += 1
            return None
        waiter: Waiter = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, deque()).append(waiter)
        try:
            return await waiter
        except asyncio.CancelledError:
            # The waiter may have got its result in the same iteration of the event loop.
            if not waiter.cancelled():
                self._give_back(key, waiter.result())
            raise

    def end_turn(self, key: ConnectionKey) -> None:
        """Let the next waiter open a connection."""
        waiter = self._pop_waiter(key)
        if waiter is not None:
            waiter.set_result(None)
            return
        self._connecting[key] -= 1
        if not self._connecting[key]:
            del self._connecting[key]

    def release(self, key: ConnectionKey, connection: EndpointConnection) -> None:
        """Give a connection to the next waiter, or keep it for later if it is still usable."""
        if not connection.is_usable:
            connection.abort()
            return
        waiter = self._pop_waiter(key)
        if waiter is not None:
            waiter.set_result(connection)
            return
        if self._idle_count >= MAX_IDLE_CONNECTIONS:
            connection.abort()
            return
        loop = asyncio.get_running_loop()
        connection.idle_since = loop.time()
        self._idle.setdefault(key, []).append(connection)
        self._idle_count += 1
        if self._sweeper is None:
            self._sweeper = loop.call_later(IDLE_S, self._sweep)

    async def close_idle(self) -> bool:
        """Close the idle connections, as descriptors ran short; return whether there were any."""
        closing = [connection for idle in self._idle.values() for connection in idle]
        self._idle.clear()
        self._idle_count = 0
        for connection in closing:
            connection.abort()
        if closing:
            await asyncio.wait([connection.lost for connection in closing])
        return bool(closing)

    def close(self) -> None:
        """Forget the idle connections; the transport that opened them closes them."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        self._idle.clear()

    def _pop_waiter(self, key: ConnectionKey) -> Waiter | None:
        """Remove and return the request that has waited longest, or None if none waits."""
        queue = self._waiting.get(key)
        while queue:
            waiter = queue.popleft()
            if not queue:
                del self._waiting[key]
            if not waiter.done():
                return waiter
        return None

    def _give_back(self, key: ConnectionKey, result: EndpointConnection | None) -> None:
        if result is None:
            self.end_turn(key)
        else:
            self.release(key, result)

    def _sweep(self) -> None:
        """Close the connections that were idle for too long."""
        loop = asyncio.get_running_loop()
        oldest_use = loop.time() - IDLE_S
        for key, idle in list(self._idle.items()):
            kept = [
                connection
                for connection in idle
                if connection.is_usable and connection.idle_since > oldest_use
            ]
            for connection in set(idle).difference(kept):
                connection.abort()
            self._idle_count -= len(idle) - len(kept)
            self._idle[key] = kept
            if not kept:
                del self._idle[key]
        self._sweeper = loop.call_later(IDLE_S, self._sweep) if self._idle else None
