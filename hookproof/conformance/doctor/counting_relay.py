"""A relay in front of the receiver that counts connections, to distinguish a target that cannot
reach the receiver from one that does not trust its CA.

A receiver does not see a target that aborts the TLS handshake. The relay does: it forwards bytes
unchanged.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from hookproof.process.exit_codes import CommandError
from hookproof.receiver.http.address import Address

CHUNK_SIZE = 65536


class Relay:
    """Counts the connections that it forwards; `port` is where it listens."""

    def __init__(self) -> None:
        self.connections = 0
        self.port = 0
        self._upstream: tuple[str, int] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def forward_to(self, host: str, port: int) -> None:
        self._upstream = (host, port)

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward one connection until either side ends it."""
        self.connections += 1
        with suppress(OSError):
            if self._upstream is not None:
                upstream = await asyncio.open_connection(*self._upstream)
                await self._forward_both(reader, writer, *upstream)
        writer.close()

    async def _forward_both(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        upstream_reader: asyncio.StreamReader,
        upstream_writer: asyncio.StreamWriter,
    ) -> None:
        directions = {
            asyncio.create_task(_forward(reader, upstream_writer)),
            asyncio.create_task(_forward(upstream_reader, writer)),
        }
        self._tasks |= directions
        try:
            await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for direction in directions:
                direction.cancel()
            await asyncio.gather(*directions, return_exceptions=True)
            self._tasks -= directions
            upstream_writer.close()


@asynccontextmanager
async def relay(bind: Address) -> AsyncIterator[Relay]:
    """A relay that listens at this address; raises CommandError if it cannot."""
    counting = Relay()
    connections: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(counting.accept(reader, writer))
        connections.add(task)
        task.add_done_callback(connections.discard)

    try:
        server = await asyncio.start_server(accept, bind.host, bind.port)
    except OSError as error:
        raise CommandError(
            f"receiver: cannot listen at {bind.host}:{bind.port}: {error.strerror or error}"
        ) from None
    counting.port = server.sockets[0].getsockname()[1]
    try:
        yield counting
    finally:
        server.close()
        for task in tuple(connections):
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        await server.wait_closed()


async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await reader.read(CHUNK_SIZE):
            writer.write(chunk)
            await writer.drain()
