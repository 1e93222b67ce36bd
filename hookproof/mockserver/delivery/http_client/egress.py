"""The egress guard: decides which addresses the server may connect to.

Endpoint URLs come from strangers, so by default deliveries go to this machine only; other networks
have to be allowed explicitly. A name is resolved once per connection, every address of it is
checked, and the connection uses the checked address: a name that changes its address in between
(DNS rebinding) has no effect. An address that embeds another one is checked as both.
"""

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from threading import Thread
from typing import Final

IPAddress = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
# Resolves a host name to addresses as text, the preferred one first; raises OSError.
Resolve = Callable[[str], Awaitable[Sequence[str]]]

LOOKUP_THREADS: Final = 16

LOOPBACK: Final = (ip_network("127.0.0.0/8"), ip_network("::1/128"))

# Cloud metadata services, and addresses that do not belong to a single machine. They stay closed
# whatever is allowed.
ALWAYS_CLOSED: Final = tuple(
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

# RFC 2606 and RFC 6761: names that are never assigned, so they are not looked up.
RESERVED_NAMES: Final = ("invalid", "test", "example")


class EgressRefused(Exception):
    """The guard does not allow this connection; the message says why."""


def embedded_addresses(address: IPAddress) -> Iterator[IPv4Address]:
    """Yield the IPv4 addresses inside an IPv6 address: NAT64, 6to4 and Teredo."""
    if isinstance(address, IPv4Address):
        return
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if any(address in network for network in NAT64) and address not in LOOPBACK[1]:
        yield IPv4Address(int(address) & 0xFFFFFFFF)


class EgressGuard:
    """Resolves a host to checked addresses. `allowed` adds networks to the loopback networks."""

    def __init__(self, allowed: Sequence[Network] = (), resolve: Resolve | None = None) -> None:
        self._allowed = (*LOOPBACK, *allowed)
        self._resolve = resolve or NameResolver().addresses

    async def addresses(self, host: str) -> tuple[str, ...]:
        """Return the addresses to connect to for a host name or an address literal.

        Raises EgressRefused if the host is a reserved name or any of its addresses is closed, and
        OSError if it has no address.
        """
        name = host.rstrip(".").lower()
        if name.rpartition(".")[2] in RESERVED_NAMES:
            raise EgressRefused(f"{host} is a reserved name that is never assigned")
        try:
            addresses = [str(ip_address(host))]
        except ValueError:
            addresses = list(await self._resolve(name))
        return tuple(str(self._checked(host, text)) for text in addresses)

    def _checked(self, host: str, text: str) -> IPAddress:
        address = ip_address(text)
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        for candidate in (address, *embedded_addresses(address)):
            if any(candidate in network for network in ALWAYS_CLOSED) or not any(
                candidate in network for network in self._allowed
            ):
                raise EgressRefused(
                    f"{host} leads to {text}, which is closed; --allow-egress CIDR opens a network"
                )
        return address


class NameResolver:
    """Resolves names in its own threads: one lookup per name at a time, LOOKUP_THREADS in all.

    A lookup cannot be cancelled. The threads are daemons, so a lookup that hangs blocks neither
    other work nor the exit of the process. `lookup` blocks and raises OSError.
    """

    def __init__(self, lookup: Callable[[str], tuple[str, ...]] | None = None) -> None:
        self._lookup = lookup or resolve_name
        self._free = asyncio.Semaphore(LOOKUP_THREADS)
        self._under_way: dict[str, asyncio.Future[tuple[str, ...]]] = {}

    async def addresses(self, name: str) -> tuple[str, ...]:
        """Return the addresses of a name without duplicates; raises OSError."""
        while (result := self._under_way.get(name)) is None:
            await self._free.acquire()
            if name in self._under_way:  # another caller started the lookup in the meantime
                self._free.release()
                continue
            self._start_lookup(name)
        return await asyncio.shield(result)

    def _start_lookup(self, name: str) -> None:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[tuple[str, ...]] = loop.create_future()
        self._under_way[name] = future

        def finish(result: tuple[str, ...] | Exception) -> None:
            del self._under_way[name]
            self._free.release()
            if isinstance(result, Exception):
                future.set_exception(result)
                future.exception()  # marked as retrieved: all callers may have given up
            else:
                future.set_result(result)

        def run_lookup() -> None:
            result: tuple[str, ...] | Exception
            try:
                result = self._lookup(name)
            except Exception as error:  # noqa: BLE001  it is raised where the result is awaited
                result = error
            with suppress(RuntimeError):  # the loop is closed, nothing waits for the result
                loop.call_soon_threadsafe(finish, result)

        try:
            Thread(target=run_lookup, name=f"look-up of {name}", daemon=True).start()
        except RuntimeError as error:  # no further thread can be started
            loop.call_soon(finish, OSError(errno.EAGAIN, str(error)))


def resolve_name(name: str) -> tuple[str, ...]:
    """Ask the system for the addresses of a name; raises OSError."""
    try:
        entries = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except UnicodeError:
        raise OSError(f"{name} is not a host name") from None
    return tuple(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in entries))
