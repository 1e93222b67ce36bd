"""Client certificates of the receiver's own authority, written as the dialect says (2.3)."""

import base64
import ssl
from dataclasses import dataclass
from typing import Final

from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.receiver.client.control_api import IssuedCertificate
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import CertificateEncoding

END: Final = "-----END CERTIFICATE-----"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientPair:
    """A certificate in PEM, and what an endpoint is given for it."""

    certificate: str
    mtls_client_cert: dict[str, str]


async def issue_client_pair(context: ExperimentContext, name: str) -> ClientPair:
    """A new pair with this common name; in PEM where the dialect does not say how to write it."""
    issued = await context.receiver.client_certificate(name)
    return ClientPair(
        certificate=issued.client_cert, mtls_client_cert=written_pair(issued, context.dialect)
    )


def written_pair(issued: IssuedCertificate, dialect: Dialect) -> dict[str, str]:
    certificate, key = issued.client_cert, issued.client_key
    if dialect.requests.client_certificate.prefers(CertificateEncoding.BASE64_DER):
        leaf = certificate[: certificate.index(END) + len(END)]
        certificate = _base64(ssl.PEM_cert_to_DER_cert(leaf))
        private_key = load_pem_private_key(key.encode(), password=None)
        key = _base64(private_key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()))
    return {"client_cert": certificate, "client_key": key}


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
