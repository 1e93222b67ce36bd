"""Ports at which nobody listens until they are opened: until then senders are refused there."""

import socket
from collections.abc import Awaitable, Callable
from typing import Final

# A port stays reserved until the receiver ends.
MOST_PORTS: Final = 64

# Accepts deliveries at a bound socket from now on.
StartListening = Callable[[socket.socket], Awaitable[None]]


class TooManyPorts(Exception):
    """All the ports that one receiver reserves are in use."""


class UnknownPort(LookupError):
    """The port was never reserved, or is open."""


class ClosedPorts:
    """Reserves ports of a host, and opens them."""

    def __init__(self, host: str, start_listening: StartListening) -> None:
        self._host = host
        self._start_listening = start_listening
        self._closed: dict[int, socket.socket] = {}
        self._reserved = 0

    def reserve(self) -> int:
        """Return a port that nobody else gets; raises TooManyPorts or OSError."""
        if self._reserved == MOST_PORTS:
            raise TooManyPorts(f"a receiver reserves {MOST_PORTS} ports, and no more")
        family, *_, address = socket.getaddrinfo(self._host, 0, type=socket.SOCK_STREAM)[0]
        reserved = socket.socket(family, socket.SOCK_STREAM)
        try:
            reserved.bind(address)
        except OSError:
            reserved.close()
            raise
        port: int = reserved.getsockname()[1]
        self._closed[port] = reserved
        self._reserved += 1
        return port

    async def open(self, port: int) -> None:
        """Listen at a reserved port; raises UnknownPort."""
        reserved = self._closed.pop(port, None)
        if reserved is None:
            raise UnknownPort(f"the port {port} is not reserved, or is open")
        try:
            await self._start_listening(reserved)
        except OSError:
            reserved.close()
            raise

    def close(self) -> None:
        """Give up the ports that were never opened."""
        for reserved in self._closed.values():
            reserved.close()
        self._closed.clear()
