"""Certificates of endpoints that are accepted although they prove nothing (section 6)."""

import ssl
from typing import Final

from hookproof.mockserver.delivery.http_client.tls import TlsContexts
from hookproof.mockserver.faults.registry import fault

SHOWN: Final = ("certificates",)
# X509_V_FLAG_NO_CHECK_TIME of OpenSSL, which the ssl module does not name.
NO_CHECK_TIME: Final = 0x200000


@fault("6-21", seen="verification switched off for tests", shows_in=SHOWN)
class CertificatesNotVerified(TlsContexts):
    """Every certificate of an endpoint is accepted."""

    def _new_context(self) -> ssl.SSLContext:
        context = super()._new_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context


@fault("6-21", seen="the chain checked without the name", shows_in=SHOWN)
class CertificateOfAnyHost(TlsContexts):
    """A certificate is accepted for every host if a trusted authority issued it."""

    def _new_context(self) -> ssl.SSLContext:
        context = super()._new_context()
        context.check_hostname = False
        return context


@fault("6-21", seen="a clock that is not trusted", shows_in=SHOWN)
class CertificateOfAnyTime(TlsContexts):
    """A certificate is accepted before it is valid and after it has expired."""

    def _new_context(self) -> ssl.SSLContext:
        context = super()._new_context()
        context.verify_flags |= NO_CHECK_TIME
        return context
