"""Connections to endpoints: checked addresses, TLS, keep-alive, one request at a time on each.

A lean client protocol on the HTTP/1.1 reader: what is sent is exactly what the caller made,
redirects are an answer like any other, and nothing is decompressed.
"""

import asyncio
import re
import ssl
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import quote, urlsplit

from hookproof.mockserver.delivery.http_client.connection import Connection, TlsFault
from hookproof.mockserver.delivery.http_client.egress import EgressGuard
from hookproof.mockserver.delivery.http_client.http1 import ConnectionFault, Response, request_bytes
from hookproof.mockserver.delivery.http_client.pool import Place, Pool
from hookproof.mockserver.delivery.http_client.tls import TlsContexts
from hookproof.mockserver.delivery.store_port import ClientCertificate

# for each address of a name but the last, so that one dead address does not use up the time-out
SHARE_S: Final = 3.0
HEAD: Final = "HEAD"
BODILESS: Final = frozenset({HEAD, "GET"})
HOST: Final = re.compile(r"[\x21-\x7e]+")
PATH: Final = "%/?:@!$&'()*+,;=-._~"
PORTS: Final = {"https": 443, "http": 80}


class AddressFault(Exception):
    """A URL that names no place to send to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A parsed URL: the place, the value of the Host header and the request target."""

    place: Place
    authority: str
    target: str


@lru_cache(maxsize=16384)  # as many as one broadcast may reach
def parse_url(url: str, certificate: ClientCertificate | None = None) -> Address:
    """Take a URL apart; raises AddressFault."""
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname or ""
        host = host if host.isascii() else host.encode("idna").decode("ascii")
    except ValueError as error:
        raise AddressFault(f"{url!r} is no URL: {error}") from None
    if parts.scheme not in PORTS or not host or not HOST.fullmatch(host):
        raise AddressFault(f"{url!r} is no http or https URL with a host")
    target = quote(parts.path or "/", safe=PATH) + (
        f"?{quote(parts.query, safe=PATH)}" if parts.query else ""
    )
    bracketed = f"[{host}]" if ":" in host else host
    default = PORTS[parts.scheme]
    place = Place(
        secure=parts.scheme == "https", host=host, port=port or default, certificate=certificate
    )
    return Address(
        place=place,
        authority=bracketed if place.port == default else f"{bracketed}:{place.port}",
        target=target,
    )


class Transport:
    """Sends requests over kept connections."""

    def __init__(self, guard: EgressGuard, tls: TlsContexts) -> None:
        self._guard = guard
        self._tls = tls
        self._pool = Pool()
        self._open: set[Connection] = set()

    async def exchange(
        self,
        method: str,
        address: Address,
        headers: Iterable[tuple[str, str]],
        body: bytes,
        *,
        timeout_s: float,
        sent: Callable[[], None] = lambda: None,
    ) -> Response:
        """Send one request and read its response; `sent` is called as the bytes go out.

        All of it, from connecting to the response's last byte, takes `timeout_s` at most. Raises
        EgressRefused, CertificateFault, TlsFault, ConnectionFault, ProtocolFault and TimeoutError.
        """
        deadline = asyncio.get_running_loop().time() + timeout_s
        framing = [("Host", address.authority)]
        if body or method not in BODILESS:
            framing.append(("Content-Length", str(len(body))))
        request = request_bytes(method, address.target, (*framing, *headers), body)
        connection = self._pool.take(address.place)
        if connection is None:
            async with asyncio.timeout_at(deadline):
                connection = await self._new_or_released(address.place)
        try:
            answer = connection.send(request, bodiless=method == HEAD, deadline=deadline)
            sent()
            response = await answer
        except BaseException:
            connection.abort()
            raise
        self._pool.give_back(address.place, connection)
        return response

    async def close(self) -> None:
        """Close all connections and wait until they are gone."""
        self._pool.close()
        going = list(self._open)
        for connection in going:
            connection.abort()
        if going:
            await asyncio.wait([connection.lost for connection in going])

    async def _new_or_released(self, place: Place) -> Connection:
        """A new connection, or one that comes free while enough others are being made."""
        released = await self._pool.turn(place)
        if released is not None:
            return released
        try:
            return await self._connect(place)
        finally:
            self._pool.made(place)

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
                reason = (
                    error.verify_message
                    if isinstance(error, ssl.SSLCertVerificationError)
                    else error.reason
                )
                raise TlsFault(f"no TLS with {place.host}:{place.port}: {reason}") from None
            except OSError as error:
                problem = error
        raise ConnectionFault(f"no connection to {place.host}:{place.port}: {problem}")

    async def _open_to(
        self, place: Place, address: str, context: ssl.SSLContext | None
    ) -> Connection:
        name = place.host if context is not None else None
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(
            Connection, address, place.port, ssl=context, server_hostname=name
        )
        self._open.add(connection)
        connection.lost.add_done_callback(lambda _: self._open.discard(connection))
        return connection
