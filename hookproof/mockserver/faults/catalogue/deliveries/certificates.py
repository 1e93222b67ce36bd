"""Certificates of endpoints that are accepted although they prove nothing (section 6)."""

import ssl
from collections.abc import Iterable
from typing import Any, Final

from hookproof.mockserver.delivery.http_client.connection import EndpointConnection, TlsError
from hookproof.mockserver.delivery.http_client.egress import EgressGuard
from hookproof.mockserver.delivery.http_client.http1 import Response
from hookproof.mockserver.delivery.http_client.pool import ConnectionKey
from hookproof.mockserver.delivery.http_client.tls import TlsContexts
from hookproof.mockserver.delivery.http_client.transport import ParsedUrl, Transport
from hookproof.mockserver.faults.registry import fault

SHOWN: Final = ("certificates",)
# X509_V_FLAG_NO_CHECK_TIME of OpenSSL, which the ssl module does not name.
NO_CHECK_TIME: Final = 0x200000
# A header of token requests that deliveries do not have.
ACCEPT_JSON: Final = ("Accept", "application/json")


@fault(
    "certificates_verified token_certificates_verified",
    seen="verification switched off for tests",
    shows_in=SHOWN,
)
class CertificatesNotVerified(TlsContexts):
    """Every certificate of an endpoint is accepted."""

    def _new_context(self) -> ssl.SSLContext:
        context = super()._new_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context


@fault(
    "certificates_verified token_certificates_verified",
    seen="the chain checked without the name",
    shows_in=SHOWN,
)
class CertificateOfAnyHost(TlsContexts):
    """A certificate is accepted for every host if a trusted authority issued it."""

    def _new_context(self) -> ssl.SSLContext:
        context = super()._new_context()
        context.check_hostname = False
        return context


@fault(
    "certificates_verified token_certificates_verified",
    seen="a clock that is not trusted",
    shows_in=SHOWN,
)
class CertificateOfAnyTime(TlsContexts):
    """A certificate is accepted before it is valid and after it has expired."""

    def _new_context(self) -> ssl.SSLContext:
        context = super()._new_context()
        context.verify_flags |= NO_CHECK_TIME
        return context


@fault(
    "token_certificates_verified", seen="a library with an HTTP client of its own", shows_in=SHOWN
)
class TokenUrlsNotVerified(Transport):
    """Every certificate of a token URL is accepted."""

    def __init__(self, guard: EgressGuard, tls: TlsContexts) -> None:
        super().__init__(guard, tls)
        self._careless = Transport(guard, CertificatesNotVerified(None))

    async def exchange(
        self,
        method: str,
        url: ParsedUrl,
        headers: Iterable[tuple[str, str]],
        *further: Any,
        **more: Any,
    ) -> Response:
        sent = tuple(headers)
        exchange = self._careless.exchange if ACCEPT_JSON in sent else super().exchange
        return await exchange(method, url, sent, *further, **more)

    async def close(self) -> None:
        await super().close()
        await self._careless.close()


@fault("no_plain_http", seen="a second try without TLS", shows_in=SHOWN)
class DowngradedToPlainHttp(Transport):
    """Where TLS fails, the request is sent over plain HTTP."""

    async def _connect(self, key: ConnectionKey) -> EndpointConnection:
        try:
            return await super()._connect(key)
        except TlsError:
            return await super()._connect(key._replace(secure=False))
