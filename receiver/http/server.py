"""Listens for senders, and lets none of their connections outlive it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ssl import SSLContext
from typing import Final

from hookproof.receiver.clock import Clock
from hookproof.receiver.http.address import Address
from hookproof.receiver.http.connection import Connection, Handler

BACKLOG: Final = 1024
STOP_WITHIN_S: Final = 1.0


@asynccontextmanager
async def listening(
    handler: Handler,
    wanted: Address,
    context: SSLContext | None,
    *,
    clock: Clock,
    body_within_s: float,
) -> AsyncIterator[Address]:
    """Take requests within the block; the address with the port that was taken.

    Raises OSError or ValueError for an address that cannot be had. At the end of the block
    connections are closed, and those that are still there after STOP_WITHIN_S seconds are cut.
    """
    connections: set[Connection] = set()
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(handler, clock, body_within_s, connections),
        wanted.host,
        wanted.port,
        ssl=context,
        backlog=BACKLOG,
    )
    try:
        yield Address(host=wanted.host, port=server.sockets[0].getsockname()[1])
    finally:
        server.close()
        await _end(connections)


async def _end(connections: set[Connection]) -> None:
    for end in (Connection.close, Connection.abort):
        for connection in tuple(connections):
            end(connection)
        if connections:
            await asyncio.wait(
                [connection.ended for connection in connections], timeout=STOP_WITHIN_S
            )
