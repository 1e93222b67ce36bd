"""The egress guard: which addresses a connection may go to.

Endpoint URLs come from strangers, so a delivery goes to this machine alone unless a network is
allowed by name. A name is looked up once per connection, every address found is checked, and the
connection goes to the checked address: a name that changes its address in between gains nothing.
Addresses that carry another one inside are judged by both.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from threading import Thread
from typing import Final

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
# Looks a host name up: its addresses as text, the preferred one first; raises OSError.
Resolve = Callable[[str], Awaitable[Sequence[str]]]

LOOKUP_THREADS: Final = 16

LOOPBACK: Final = (ip_network("127.0.0.0/8"), ip_network("::1/128"))

# Cloud metadata services, and addresses that name no single machine: no allowance opens them.
NEVER: Final = tuple(
    ip_network(text)
    for text in (
        "0.0.0.0/8",
        "100.100.100.200/32",
        "168.63.129.16/32",
        "169.254.0.0/16",
        "192.0.0.192/32",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "::/128",
        "fd00:ec2::/32",
        "fe80::/10",
        "ff00::/8",
    )
)
# RFC 6052 and RFC 8215: an IPv4 address in the last 32 bits.
NAT64: Final = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"), ip_network("::/96"))

# RFC 2606 and RFC 6761: names that are nobody's, not even worth asking for.
RESERVED_NAMES: Final = ("invalid", "test", "example")


class EgressRefused(Exception):
    """The guard lets no connection go there; the message says why."""


def carried(address: Address) -> Iterator[IPv4Address]:
    """The IPv4 addresses inside an IPv6 one: NAT64, 6to4 and Teredo."""
    if isinstance(address, IPv4Address):
        return
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if any(address in network for network in NAT64) and address not in LOOPBACK[1]:
        yield IPv4Address(int(address) & 0xFFFFFFFF)


class EgressGuard:
    """Turns a host into checked addresses. `allowed` adds networks to the loopback ones."""

    def __init__(self, allowed: Sequence[Network] = (), resolve: Resolve | None = None) -> None:
        self._allowed = (*LOOPBACK, *allowed)
        self._resolve = resolve or Lookup().addresses

    async def addresses(self, host: str) -> tuple[str, ...]:
        """The addresses to connect to for a host name or an address literal.

        Raises EgressRefused if the host is a reserved name or any of its addresses is closed,
        OSError without any.
        """
        name = host.rstrip(".").lower()
        if name.rpartition(".")[2] in RESERVED_NAMES:
            raise EgressRefused(f"{host} is a reserved name that belongs to nobody")
        try:
            found = [str(ip_address(host))]
        except ValueError:
            found = list(await self._resolve(name))
        return tuple(str(self._checked(host, text)) for text in found)

    def _checked(self, host: str, text: str) -> Address:
        address = ip_address(text)
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        for face in (address, *carried(address)):
            if any(face in network for network in NEVER) or not any(
                face in network for network in self._allowed
            ):
                raise EgressRefused(
                    f"{host} leads to {text}, which is closed; --allow-egress CIDR opens a network"
                )
        return address


class Lookup:
    """Looks names up in threads of its own, one look-up at a time for a name, LOOKUP_THREADS at a
    time in all.

    A look-up cannot be cancelled. The threads are daemons, so that one whose name server is silent
    keeps neither the threads of anything else nor the end of the process waiting. `ask` blocks and
    raises OSError.
    """

    def __init__(self, ask: Callable[[str], tuple[str, ...]] | None = None) -> None:
        self._ask = ask or look_up
        self._free = asyncio.Semaphore(LOOKUP_THREADS)
        self._under_way: dict[str, asyncio.Future[tuple[str, ...]]] = {}

    async def addresses(self, name: str) -> tuple[str, ...]:
        """The addresses of a name, each once; raises OSError."""
        while (answer := self._under_way.get(name)) is None:
            await self._free.acquire()
            if name in self._under_way:  # somebody else began while this one waited
                self._free.release()
                continue
            self._begin(name)
        return await asyncio.shield(answer)

    def _begin(self, name: str) -> None:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[tuple[str, ...]] = loop.create_future()
        self._under_way[name] = answer

        def over(found: tuple[str, ...] | Exception) -> None:
            del self._under_way[name]
            self._free.release()
            if isinstance(found, Exception):
                answer.set_exception(found)
                answer.exception()  # seen, even if everybody who waited has given up
            else:
                answer.set_result(found)

        def ask() -> None:
            found: tuple[str, ...] | Exception
            try:
                found = self._ask(name)
            except Exception as problem:  # noqa: BLE001  it belongs to whoever waits
                found = problem
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(over, found)

        Thread(target=ask, name=f"look-up of {name}", daemon=True).start()


def look_up(name: str) -> tuple[str, ...]:
    """Ask the system for the addresses of a name; raises OSError."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except UnicodeError:
        raise OSError(f"{name} is no host name") from None
    return tuple(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))
