"""Listens for senders, and closes all their connections when it stops."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from ssl import SSLContext
from typing import Final

from hookproof.receiver.clock import Clock
from hookproof.receiver.http.address import Address
from hookproof.receiver.http.connection import (
    BodyBudget,
    ConnectionHandler,
    Handshakes,
    SenderConnection,
)

BACKLOG: Final = 1024
STOP_WITHIN_S: Final = 1.0


@asynccontextmanager
async def listen(
    handler: ConnectionHandler,
    wanted: Address | socket.socket,
    context: SSLContext | None,
    *,
    clock: Clock,
    body_within_s: float,
    handshakes: Handshakes | None = None,
    budget: BodyBudget | None = None,
) -> AsyncIterator[Address]:
    """Accept requests within the block, at an address or a bound socket; yields the address with
    the actual port.

    What is under way on all connections counts in `budget`, which several listeners may share. TLS
    handshakes are counted in `handshakes`, without TLS every connection as one that was begun.
    Raises OSError or ValueError if the address cannot be used. At the end of the block connections
    are closed; those still open after STOP_WITHIN_S seconds are aborted.
    """
    connections: set[SenderConnection] = set()
    budget = budget or BodyBudget()
    counts = handshakes if context is not None else None
    if context is not None and counts is not None:
        counts.count_beginnings(context)

    def accept() -> SenderConnection:
        if context is None and handshakes is not None:
            handshakes.begun += 1
        return SenderConnection(handler, clock, body_within_s, connections, counts, budget)

    create_server = partial(
        asyncio.get_running_loop().create_server, accept, ssl=context, backlog=BACKLOG
    )
    if isinstance(wanted, Address):
        server = await create_server(wanted.host, wanted.port)
    else:
        server = await create_server(sock=wanted)
    try:
        host, port, *_ = server.sockets[0].getsockname()
        yield Address(host=wanted.host if isinstance(wanted, Address) else host, port=port)
    finally:
        server.close()
        await _end(connections)


async def _end(connections: set[SenderConnection]) -> None:
    for end in (SenderConnection.close, SenderConnection.abort):
        for connection in tuple(connections):
            end(connection)
        if connections:
            await asyncio.wait(
                [connection.ended for connection in connections], timeout=STOP_WITHIN_S
            )
