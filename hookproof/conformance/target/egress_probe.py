"""An egress probe: a listener at an address of this machine that a target must not reach.

A connection alone shows that the target does not guard against the address, whatever happens to the
TLS handshake, so nothing is read or sent.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address


class ProbeUnavailable(Exception):
    """It is not possible to listen at the address; the message says why."""


@dataclass(slots=True)
class EgressProbe:
    """A listener at `host`, and the addresses that connected to it, in order."""

    host: str
    port: int = 0
    peers: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        """An endpoint URL with this address (https, as section 2.3 requires)."""
        return f"https://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}/"

    async def accept(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.peers.append(str(writer.get_extra_info("peername")[0]))
        writer.transport.abort()


@asynccontextmanager
async def listen_for_egress(host: str) -> AsyncIterator[EgressProbe]:
    """Listen at this address until the block ends; raises ProbeUnavailable.

    A connection to the unspecified address reaches the machine itself, so its probe listens on the
    loopback address.
    """
    probe = EgressProbe(host)
    address = ip_address(host)
    bind = host if not address.is_unspecified else "127.0.0.1" if address.version == 4 else "::1"  # noqa: PLR2004
    try:
        server = await asyncio.start_server(probe.accept, bind, 0)
    except OSError as error:
        raise ProbeUnavailable(
            f"cannot listen at the egress probe {host}: {error.strerror or error}"
        ) from None
    probe.port = server.sockets[0].getsockname()[1]
    async with server:
        yield probe
