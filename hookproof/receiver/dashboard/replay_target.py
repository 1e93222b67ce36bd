"""Where a delivery may be replayed to: this machine, and what `--allow-replay` permits.

A name is resolved once, every address found is checked, and the connection goes to a checked
address, so a name that resolves differently in between gains nothing.
"""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

from hookproof.control.authority import is_well_formed

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
# Resolves a host name to addresses as text, the preferred one first; raises OSError.
Resolve = Callable[[str], Awaitable[Sequence[str]]]

LOOPBACK: Final[tuple[Network, ...]] = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
PRINTABLE: Final = re.compile(r"[!-~]{1,2000}")
HOST_NAME: Final = re.compile(r"(?!-)[0-9A-Za-z._-]{1,253}")
PORTS: Final = {"http": 80, "https": 443}


class ReplayRefused(Exception):
    """The delivery is not sent there; the message says why, in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayTarget:
    """The parts of a URL; `path` includes the query, `authority` is as in a Host header."""

    tls: bool
    host: str
    port: int
    authority: str
    path: str

    @classmethod
    def parse(cls, url: str) -> "ReplayTarget":
        """Read an http or https URL; raises ReplayRefused."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            host = port = None
        if (
            not PRINTABLE.fullmatch(url)
            or not host
            or not is_well_formed(url, parts)
            or parts.scheme not in PORTS
            or parts.username is not None
        ):
            raise ReplayRefused(
                f"{url[:80]!r} is not a URL to replay to; give one like http://127.0.0.1:8000/hooks"
            )
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return cls(
            tls=parts.scheme == "https",
            host=host,
            port=PORTS[parts.scheme] if port is None else port,
            authority=parts.netloc,
            path=path,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayAllowance:
    """What replays may reach besides loopback: networks, and hosts by name at any address."""

    networks: tuple[Network, ...] = ()
    names: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, texts: Sequence[str]) -> "ReplayAllowance":
        """Read networks (CIDR or an address) and host names; raises ValueError."""
        networks, names = [], set()
        for text in texts:
            try:
                networks.append(ip_network(text))
            except ValueError:
                if not HOST_NAME.fullmatch(text) or text.replace(".", "").isdigit():
                    raise ValueError(
                        f"{text!r} is neither a network like 10.0.0.0/8 nor a host name"
                    ) from None
                names.add(text.lower().rstrip("."))
        return cls(networks=tuple(networks), names=frozenset(names))

    async def addresses(self, target: ReplayTarget, resolve: Resolve) -> tuple[Address, ...]:
        """The addresses to connect to.

        Raises ReplayRefused if any address of the host is not permitted.
        """
        try:
            addresses: Sequence[str] = (str(ip_address(target.host)),)
        except ValueError:
            addresses = await _resolve_or_refuse(target.host, resolve)
        by_name = target.host.rstrip(".") in self.names
        return tuple(self._check_address(target.host, text, by_name=by_name) for text in addresses)

    def _check_address(self, host: str, text: str, *, by_name: bool) -> Address:
        address = ip_address(text)
        if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        # Link-local addresses include the metadata services of clouds; the others do not name a
        # single machine.
        is_forbidden = address.is_link_local or address.is_multicast or address.is_unspecified
        is_permitted = by_name or any(address in network for network in (*LOOPBACK, *self.networks))
        if is_forbidden or not is_permitted:
            subject = host if host == text else f"{host} resolves to {text}, which"
            hint = (
                "no option opens it" if is_forbidden else "--allow-replay opens a network or a host"
            )
            raise ReplayRefused(
                f"{subject} is closed to replays, which go to this machine only; {hint}"
            )
        return address


THIS_MACHINE: Final = ReplayAllowance()


async def _resolve_or_refuse(host: str, resolve: Resolve) -> Sequence[str]:
    try:
        addresses = await resolve(host)
    except OSError as error:
        raise ReplayRefused(f"{host} has no address: {error.strerror or error}") from None
    if not addresses:
        raise ReplayRefused(f"{host} has no address")
    return addresses


async def resolve_host(host: str) -> Sequence[str]:
    """Resolve a host name with the system's resolver; raises OSError."""
    loop = asyncio.get_running_loop()
    try:
        addresses = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except UnicodeError:
        raise OSError("it is not a host name") from None
    return tuple(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in addresses))
