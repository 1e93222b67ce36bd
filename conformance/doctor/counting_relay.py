"""A relay before the receiver that counts connections: it tells a target that is out of reach from
one without trust.

A receiver sees nothing of a target that breaks off the TLS handshake. The relay does: it passes
bytes on as they are.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from hookproof.process.exit_codes import CommandError
from hookproof.receiver.http.address import Address

AT_ONCE = 65536


class Relay:
    """Counts the connections that it passes on; `port` is where it listens."""

    def __init__(self) -> None:
        self.connections = 0
        self.port = 0
        self._to: tuple[str, int] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def lead_to(self, host: str, port: int) -> None:
        """Pass connections on to this address from now on."""
        self._to = (host, port)

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass one connection on until either side ends it."""
        self.connections += 1
        with suppress(OSError):
            if self._to is not None:
                onward = await asyncio.open_connection(*self._to)
                await self._pass_both(reader, writer, *onward)
        writer.close()

    async def _pass_both(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        onward_reader: asyncio.StreamReader,
        onward_writer: asyncio.StreamWriter,
    ) -> None:
        ways = {
            asyncio.create_task(_pass(reader, onward_writer)),
            asyncio.create_task(_pass(onward_reader, writer)),
        }
        self._tasks |= ways
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            self._tasks -= ways
            onward_writer.close()


@asynccontextmanager
async def relay(bind: Address) -> AsyncIterator[Relay]:
    """A relay that listens at this address; raises CommandError if that cannot be had."""
    made = Relay()
    connections: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(made.accept(reader, writer))
        connections.add(task)
        task.add_done_callback(connections.discard)

    try:
        server = await asyncio.start_server(accept, bind.host, bind.port)
    except OSError as error:
        raise CommandError(
            f"receiver: cannot listen at {bind.host}:{bind.port}: {error.strerror or error}"
        ) from None
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        for task in tuple(connections):
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        await server.wait_closed()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(AT_ONCE):
            writer.write(piece)
            await writer.drain()
