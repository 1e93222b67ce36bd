"""TLS settings for connections to endpoints: trusted authorities and client certificates."""

import os
import ssl
from collections import OrderedDict
from typing import Final

from hookproof.mockserver.delivery.store_port import ClientCertificate
from hookproof.process.private_folder import private_folder
from hookproof.spec.given_file import confirm_plain

KEPT_CONTEXTS: Final = 256


class CertificateError(Exception):
    """An mtls_client_cert cannot be used; the message contains nothing of the key."""


class TlsContexts:
    """One SSL context per client certificate; the KEPT_CONTEXTS used last are cached.

    `ca_file` (PEM) replaces the authorities of the system.
    """

    def __init__(self, ca_file: str | os.PathLike[str] | None) -> None:
        self._ca_file = ca_file
        self._without_certificate = self._new_context()
        self._with_certificate: OrderedDict[ClientCertificate, ssl.SSLContext] = OrderedDict()

    def context(self, certificate: ClientCertificate | None) -> ssl.SSLContext:
        """Return the context for a connection; raises CertificateError."""
        if certificate is None:
            return self._without_certificate
        context = self._with_certificate.get(certificate)
        if context is None:
            context = self._new_context()
            load_client_certificate(context, certificate)
            self._with_certificate[certificate] = context
            if len(self._with_certificate) > KEPT_CONTEXTS:
                self._with_certificate.popitem(last=False)
        self._with_certificate.move_to_end(certificate)
        return context

    def _new_context(self) -> ssl.SSLContext:
        cafile = None if self._ca_file is None else os.fspath(self._ca_file)
        if cafile is not None:
            confirm_plain(cafile)
        context = ssl.create_default_context(cafile=cafile)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        return context


def load_client_certificate(context: ssl.SSLContext, certificate: ClientCertificate) -> None:
    """Let a context present a client certificate; raises CertificateError."""
    # The ssl module reads certificates from files only, so the key is written to a private
    # temporary folder and removed right after.
    with private_folder() as folder:
        chain = folder / "chain.pem"
        chain.touch(mode=0o600)
        chain.write_text(f"{certificate.key}\n{certificate.certificate}\n", encoding="utf-8")
        try:
            # Without a password function an encrypted key would be asked for on the terminal.
            context.load_cert_chain(chain, password=lambda: "")
        except (ssl.SSLError, ValueError) as error:
            reason = getattr(error, "reason", None) or "not a certificate and its key in PEM"
            raise CertificateError(f"mtls_client_cert cannot be used: {reason}") from None
