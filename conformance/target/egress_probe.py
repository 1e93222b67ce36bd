"""A probe: an address that belongs to this machine and that a target must not reach, with somebody
there who counts.

Whoever connects has passed the target's guard, whatever comes of the TLS handshake, so nothing is
ever read or said.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address


class ProbeUnavailable(Exception):
    """Nobody can listen at the address; the message says why."""


@dataclass(slots=True)
class EgressProbe:
    """A listener at `host`, and the addresses that connected to it, in order."""

    host: str
    port: int = 0
    peers: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        """An endpoint URL that leads there (https, as section 2.3 asks)."""
        return f"https://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}/"

    async def _seen(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.peers.append(str(writer.get_extra_info("peername")[0]))
        writer.transport.abort()


@asynccontextmanager
async def listen_for_egress(host: str) -> AsyncIterator[EgressProbe]:
    """A probe at this address until the block ends; raises ProbeUnavailable.

    The unspecified address is no place to listen, but connecting there leads to the machine itself.
    """
    probe = EgressProbe(host)
    address = ip_address(host)
    place = host if not address.is_unspecified else "127.0.0.1" if address.version == 4 else "::1"  # noqa: PLR2004
    try:
        server = await asyncio.start_server(probe._seen, place, 0)  # noqa: SLF001 its own handler
    except OSError as error:
        raise ProbeUnavailable(
            f"nobody can listen at the probe {host}: {error.strerror or error}"
        ) from None
    probe.port = server.sockets[0].getsockname()[1]
    async with server:
        yield probe
