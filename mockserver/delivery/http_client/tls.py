"""TLS towards endpoints: the authorities that are trusted, and the client certificate that an
endpoint asks for.
"""

import os
import ssl
import tempfile
from collections import OrderedDict
from pathlib import Path
from typing import Final

from hookproof.mockserver.delivery.store_port import ClientCertificate

KEPT_CONTEXTS: Final = 256


class CertificateFault(Exception):
    """An mtls_client_cert cannot be used; the message says why and holds nothing of the key."""


class TlsContexts:
    """One context per client certificate, the latest ones kept. `ca_file` replaces the system's
    authorities.
    """

    def __init__(self, ca_file: str | os.PathLike[str] | None) -> None:
        self._ca_file = ca_file
        self._plain = self._fresh()
        self._with_certificate: OrderedDict[ClientCertificate, ssl.SSLContext] = OrderedDict()

    def context(self, certificate: ClientCertificate | None) -> ssl.SSLContext:
        """The context for a connection; raises CertificateFault."""
        if certificate is None:
            return self._plain
        context = self._with_certificate.get(certificate)
        if context is None:
            context = self._fresh()
            present(context, certificate)
            self._with_certificate[certificate] = context
            if len(self._with_certificate) > KEPT_CONTEXTS:
                self._with_certificate.popitem(last=False)
        self._with_certificate.move_to_end(certificate)
        return context

    def _fresh(self) -> ssl.SSLContext:
        context = ssl.create_default_context(
            cafile=None if self._ca_file is None else os.fspath(self._ca_file)
        )
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        return context


def present(context: ssl.SSLContext, certificate: ClientCertificate) -> None:
    """Let a context show a client certificate; raises CertificateFault.

    The ssl module reads certificates from files only, so the key lies for a moment in a folder of
    our own.
    """
    with tempfile.TemporaryDirectory() as folder:
        chain = Path(folder, "chain.pem")
        chain.touch(mode=0o600)
        chain.write_text(f"{certificate.key}\n{certificate.certificate}\n", encoding="utf-8")
        try:
            context.load_cert_chain(
                chain, password=lambda: ""
            )  # without it an encrypted key asks on the terminal
        except (ssl.SSLError, ValueError) as error:
            reason = getattr(error, "reason", None) or "not a certificate and its key in PEM"
            raise CertificateFault(f"mtls_client_cert cannot be used: {reason}") from None
