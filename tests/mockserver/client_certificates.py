"""Client certificates for endpoints, in every encoding that a dialect can have (section 2.3)."""

import base64
import ssl
from functools import cache

import trustme
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import CertificateEncoding


@cache
def certificate_and_key(name: str = "the-client") -> dict[str, str]:
    """An mtls_client_cert that can be presented, in PEM (section 2.3)."""
    issued = trustme.CA().issue_cert(name)
    return {
        "client_cert": issued.cert_chain_pems[0].bytes().decode(),
        "client_key": issued.private_key_pem.bytes().decode(),
    }


def written(pair: dict[str, str], dialect: Dialect) -> dict[str, str]:
    """The pair as the dialect has it."""
    if not dialect.requests.client_certificate.prefers(CertificateEncoding.BASE64_DER):
        return pair
    key = load_pem_private_key(pair["client_key"].encode(), password=None)
    parts = {
        "client_cert": ssl.PEM_cert_to_DER_cert(pair["client_cert"]),
        "client_key": key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()),
    }
    return {name: base64.b64encode(part).decode() for name, part in parts.items()}
