"""Connections to endpoints: checked addresses, TLS, keep-alive, one request at a time on each.

A lean client protocol on the HTTP/1.1 reader: what is sent is exactly what the caller made, redirects are an answer
like any other, and nothing is decompressed.
"""

import asyncio
import re
import ssl
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import quote, urlsplit

from mockserver.delivery.connection import Connection, TlsFault
from mockserver.delivery.egress import EgressGuard
from mockserver.delivery.http1 import ConnectionFault, Response, request_bytes
from mockserver.delivery.port import ClientCertificate
from mockserver.delivery.tls import TlsContexts

IDLE_S: Final = 4.0  # shorter than the five seconds after which the least patient servers hang up
IDLE_CONNECTIONS: Final = 512
SHARE_S: Final = 3.0  # for each address of a name but the last, so that one dead address does not use up the time-out
HEAD: Final = "HEAD"
BODILESS: Final = frozenset({HEAD, "GET"})
HOST: Final = re.compile(r"[\x21-\x7e]+")
PATH: Final = "%/?:@!$&'()*+,;=-._~"
PORTS: Final = {"https": 443, "http": 80}


class AddressFault(Exception):
    """A URL that names no place to send to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where requests go: what a URL and a client certificate say about the connection."""

    secure: bool
    host: str
    port: int
    certificate: ClientCertificate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A parsed URL: the place, the value of the Host header and the request target."""

    place: Place
    authority: str
    target: str


@lru_cache(maxsize=4096)
def parse_url(url: str, certificate: ClientCertificate | None = None) -> Address:
    """Take a URL apart; raises AddressFault."""
    try:
        parts = urlsplit(url)
        port, host = parts.port, (parts.hostname or "").encode("idna").decode("ascii")
    except ValueError as error:
        raise AddressFault(f"{url!r} is no URL: {error}") from None
    if parts.scheme not in PORTS or not host or not HOST.fullmatch(host):
        raise AddressFault(f"{url!r} is no http or https URL with a host")
    target = quote(parts.path or "/", safe=PATH) + (f"?{quote(parts.query, safe=PATH)}" if parts.query else "")
    bracketed = f"[{host}]" if ":" in host else host
    default = PORTS[parts.scheme]
    place = Place(secure=parts.scheme == "https", host=host, port=port or default, certificate=certificate)
    return Address(
        place=place, authority=bracketed if place.port == default else f"{bracketed}:{place.port}", target=target
    )


class Transport:
    """Sends requests over kept connections."""

    def __init__(self, guard: EgressGuard, tls: TlsContexts) -> None:
        self._guard = guard
        self._tls = tls
        self._idle: dict[Place, list[Connection]] = {}
        self._idle_count = 0
        self._open: set[Connection] = set()
        self._sweeper: asyncio.TimerHandle | None = None

    async def exchange(
        self,
        method: str,
        address: Address,
        headers: Iterable[tuple[str, str]],
        body: bytes,
        *,
        sent: Callable[[], None] = lambda: None,
    ) -> Response:
        """Send one request and read its response; `sent` is called as the bytes go out.

        The caller bounds the time by cancelling. Raises EgressRefused, CertificateFault, TlsFault, ConnectionFault and
        ProtocolFault.
        """
        framing = [("Host", address.authority)]
        if body or method not in BODILESS:
            framing.append(("Content-Length", str(len(body))))
        request = request_bytes(method, address.target, (*framing, *headers), body)
        connection = self._take(address.place) or await self._connect(address.place)
        try:
            answer = connection.send(request, bodiless=method == HEAD)
            sent()
            response = await answer
        except BaseException:
            connection.abort()
            raise
        self._keep(address.place, connection)
        return response

    async def close(self) -> None:
        """Close all connections and wait until they are gone."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        self._idle.clear()
        going = list(self._open)
        for connection in going:
            connection.abort()
        if going:
            await asyncio.wait([connection.lost for connection in going])
        self._guard.close()

    async def _connect(self, place: Place) -> Connection:
        context = self._tls.context(place.certificate) if place.secure else None
        try:
            addresses = await self._guard.addresses(place.host)
        except OSError as error:
            raise ConnectionFault(f"{place.host} has no address: {error}") from None
        problem: OSError = OSError("the name has no address")
        for left, address in zip(reversed(range(len(addresses))), addresses, strict=True):
            try:
                async with asyncio.timeout(SHARE_S if left else None):
                    return await self._open_to(place, address, context)
            except ssl.SSLError as error:
                reason = error.verify_message if isinstance(error, ssl.SSLCertVerificationError) else error.reason
                raise TlsFault(f"no TLS with {place.host}:{place.port}: {reason}") from None
            except OSError as error:
                problem = error
        raise ConnectionFault(f"no connection to {place.host}:{place.port}: {problem}")

    async def _open_to(self, place: Place, address: str, context: ssl.SSLContext | None) -> Connection:
        name = place.host if context is not None else None
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(Connection, address, place.port, ssl=context, server_hostname=name)
        self._open.add(connection)
        connection.lost.add_done_callback(lambda _: self._open.discard(connection))
        return connection

    def _take(self, place: Place) -> Connection | None:
        idle = self._idle.get(place)
        if idle is None:
            return None
        oldest_use = asyncio.get_running_loop().time() - IDLE_S
        while idle:
            connection = idle.pop()
            self._idle_count -= 1
            if connection.usable and connection.idle_since > oldest_use:
                return connection
            connection.abort()
        del self._idle[place]
        return None

    def _keep(self, place: Place, connection: Connection) -> None:
        if not connection.usable or self._idle_count >= IDLE_CONNECTIONS:
            connection.abort()
            return
        loop = asyncio.get_running_loop()
        connection.idle_since = loop.time()
        self._idle.setdefault(place, []).append(connection)
        self._idle_count += 1
        if self._sweeper is None:
            self._sweeper = loop.call_later(IDLE_S, self._sweep)

    def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        oldest_use = loop.time() - IDLE_S
        for place, idle in list(self._idle.items()):
            stays = [connection for connection in idle if connection.usable and connection.idle_since > oldest_use]
            for connection in set(idle).difference(stays):
                connection.abort()
            self._idle_count -= len(idle) - len(stays)
            self._idle[place] = stays
            if not stays:
                del self._idle[place]
        self._sweeper = loop.call_later(IDLE_S, self._sweep) if self._idle else None
