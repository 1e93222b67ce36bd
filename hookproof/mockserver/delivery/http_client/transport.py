"""Sends HTTP requests to endpoints: checked addresses, TLS, connections that are kept alive.

A minimal client on top of the HTTP/1.1 reader: it sends exactly the given headers and body, returns
redirects like any other response, and decompresses nothing.
"""

import asyncio
import errno
import re
import ssl
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from typing import ClassVar, Final
from urllib.parse import quote, urlsplit

from hookproof.control.authority import is_well_formed
from hookproof.mockserver.delivery.http_client.connection import EndpointConnection, TlsError
from hookproof.mockserver.delivery.http_client.egress import EgressGuard
from hookproof.mockserver.delivery.http_client.http1 import (
    ConnectionFailed,
    Response,
    build_request,
)
from hookproof.mockserver.delivery.http_client.pool import ConnectionKey, ConnectionPool
from hookproof.mockserver.delivery.http_client.tls import TlsContexts
from hookproof.mockserver.delivery.own_trouble import OwnTrouble, is_own_trouble
from hookproof.mockserver.delivery.store_port import ClientCertificate

# The time for each address of a name except the last, so that an unreachable address does not use
# up the whole timeout.
ADDRESS_TIMEOUT_S: Final = 3.0
NO_DESCRIPTORS: Final = (errno.EMFILE, errno.ENFILE)
HEAD: Final = "HEAD"
# Methods whose requests need no Content-Length without a body, RFC 9110, section 8.6.
BODILESS: Final = frozenset({HEAD, "GET"})
HOST: Final = re.compile(r"[\x21-\x7e]+")
PATH_CHARACTERS: Final = "%/?:@!$&'()*+,;=-._~"
PORTS: Final = {"https": 443, "http": 80}


# A host that ends in a number, or that has a colon, is an address and no name (URL standard,
# section 3.5), whatever else it looks like.
ODD_ADDRESS: Final = re.compile(r":|(?:^|\.)(?:[0-9]+|0[xX][0-9a-fA-F]*)\.?$")


class UrlError(Exception):
    """A URL that requests cannot be sent to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedUrl:
    """A URL in the parts that a request needs; `authority` is the value of the Host header."""

    key: ConnectionKey
    authority: str
    target: str


@lru_cache(maxsize=16384)  # as many as one broadcast may reach
def parse_url(url: str, certificate: ClientCertificate | None = None) -> ParsedUrl:
    """Split a URL that a request is to be sent to into its parts.

    Raises UrlError, also for what other software may read as another destination: user
    information, which may look like a host, port 0, and numbers that stand for an address.
    """
    parsed = split_url(url, certificate)
    authority = urlsplit(url).netloc
    if "@" in authority:
        raise UrlError("the URL has user information, which is not sent")
    if parsed.key.port == 0:
        raise UrlError("nothing can be reached at port 0")
    if is_odd_address(authority, parsed.key.host):
        raise UrlError(f"{parsed.key.host} is an address in an unusual form")
    return parsed


def is_odd_address(authority: str, host: str) -> bool:
    """Whether a host, which the URL has in its authority, is an address, but not in the form of
    RFC 3986, section 3.2.2.
    """
    return bool(ODD_ADDRESS.search(host)) and not _is_plain_address(authority, host)


def split_url(url: str, certificate: ClientCertificate | None = None) -> ParsedUrl:
    """Split any URL with a host into its parts; raises UrlError."""
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname or ""
        host = host if host.isascii() else host.encode("idna").decode("ascii")
    except ValueError as error:
        raise UrlError(f"{url!r} is not a URL: {error}") from None
    is_usable = parts.scheme in PORTS and is_well_formed(url, parts)
    if not is_usable or not HOST.fullmatch(host):
        raise UrlError(f"{url!r} is not an http or https URL with a host")
    target = quote(parts.path or "/", safe=PATH_CHARACTERS) + (
        f"?{quote(parts.query, safe=PATH_CHARACTERS)}" if parts.query else ""
    )
    bracketed = f"[{host}]" if ":" in host else host
    default = PORTS[parts.scheme]
    key = ConnectionKey(
        secure=parts.scheme == "https",
        host=host,
        port=default if port is None else port,
        certificate=certificate,
    )
    return ParsedUrl(
        key=key,
        authority=bracketed if key.port == default else f"{bracketed}:{key.port}",
        target=target,
    )


def _is_plain_address(authority: str, host: str) -> bool:
    """Whether a host is an address as RFC 3986, section 3.2.2, writes it, and as the URL has it."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return host in authority.lower() and "%" not in host


class Transport:
    """Sends requests over pooled connections."""

    connection_class: ClassVar = EndpointConnection

    def __init__(self, guard: EgressGuard, tls: TlsContexts) -> None:
        self._guard = guard
        self._tls = tls
        self._pool = ConnectionPool()
        self._open: set[EndpointConnection] = set()

    async def exchange(
        self,
        method: str,
        url: ParsedUrl,
        headers: Iterable[tuple[str, str]],
        body: bytes,
        *,
        timeout_s: float,
        on_sent: Callable[[], None] = lambda: None,
    ) -> Response:
        """Send one request and return its response.

        `on_sent` is called when the request is written to the connection. `timeout_s` covers
        everything from connecting to the last byte of the response. Raises EgressRefused,
        CertificateError, TlsError, ConnectionFailed, ProtocolError, TimeoutError and OwnTrouble.
        """
        deadline = asyncio.get_running_loop().time() + timeout_s
        framing = [("Host", url.authority)]
        if body or method not in BODILESS:
            framing.append(("Content-Length", str(len(body))))
        request = build_request(method, url.target, (*framing, *headers), body)
        connection = self._pool.take_idle(url.key)
        if connection is None:
            async with asyncio.timeout_at(deadline):
                connection = await self._open_or_released(url.key)
        try:
            future = connection.send(request, bodiless=method == HEAD, deadline=deadline)
            on_sent()
            response = await future
        except BaseException:
            connection.abort()
            raise
        self._pool.release(url.key, connection)
        return response

    async def close(self) -> None:
        """Close all connections and wait until they are closed."""
        self._pool.close()
        closing = list(self._open)
        for connection in closing:
            connection.abort()
        if closing:
            await asyncio.wait([connection.lost for connection in closing])

    async def _open_or_released(self, key: ConnectionKey) -> EndpointConnection:
        released = await self._pool.wait_for_turn(key)
        if released is not None:
            return released
        try:
            return await self._connect(key)
        except (OSError, MemoryError) as error:
            if is_own_trouble(error):
                raise OwnTrouble(str(error) or "no memory") from None
            raise
        finally:
            self._pool.end_turn(key)

    async def _connect(self, key: ConnectionKey) -> EndpointConnection:
        context = self._tls.context(key.certificate) if key.secure else None
        try:
            addresses = await self._guard.addresses(key.host)
        except OSError as error:
            if is_own_trouble(error):
                raise
            raise ConnectionFailed(f"{key.host} has no address: {error}") from None
        last_error: OSError = OSError("the name has no address")
        for left, address in zip(reversed(range(len(addresses))), addresses, strict=True):
            try:
                async with asyncio.timeout(ADDRESS_TIMEOUT_S if left else None):
                    return await self._connect_to(key, address, context)
            except ssl.SSLError as error:
                reason = (
                    error.verify_message
                    if isinstance(error, ssl.SSLCertVerificationError)
                    else error.reason
                )
                raise TlsError(f"no TLS with {key.host}:{key.port}: {reason}") from None
            except OSError as error:
                if is_own_trouble(error):
                    raise
                last_error = error
        raise ConnectionFailed(f"no connection to {key.host}:{key.port}: {last_error}")

    async def _connect_to(
        self, key: ConnectionKey, address: str, context: ssl.SSLContext | None
    ) -> EndpointConnection:
        try:
            connection = await self._open_connection(key, address, context)
        except OSError as error:
            if error.errno not in NO_DESCRIPTORS or not await self._pool.close_idle():
                raise
            connection = await self._open_connection(key, address, context)
        self._open.add(connection)
        connection.lost.add_done_callback(lambda _: self._open.discard(connection))
        return connection

    async def _open_connection(
        self, key: ConnectionKey, address: str, context: ssl.SSLContext | None
    ) -> EndpointConnection:
        name = key.host if context is not None else None
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(
            self.connection_class, address, key.port, ssl=context, server_hostname=name
        )
        return connection
