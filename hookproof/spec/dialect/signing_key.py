"""The keys of a service that signs with an algorithm that has public ones (section 6, item 3).

The library is imported late: it takes a while to load, and few dialects need it.
"""

import base64
from typing import Any, Final

from hookproof.spec.dialect.assumptions import as_acted_on
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Algorithm

PEM: Final = "-----BEGIN "
# In bytes: a public key of ed25519, or the seed of a private one (RFC 8032, section 5.1.5).
ED25519_KEY: Final = 32
P256_BITS: Final = 256


def signs_by_itself(dialect: Dialect, *, advanced: bool) -> bool:
    """Whether the service signs this format with a key of its own, so that no secret does."""
    return as_acted_on(dialect.signatures.scheme(advanced=advanced)).public_key is not None


def public_key(algorithm: Algorithm, text: str) -> bytes:
    """A public key in DER; raises ValueError, which says what was expected."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import (
        load_der_public_key,
        load_pem_public_key,
    )

    try:
        if PEM in text:
            return _in_der(algorithm, load_pem_public_key(text.encode()))
        content = base64.b64decode("".join(text.split()), validate=True)
        if algorithm is Algorithm.ED25519 and len(content) == ED25519_KEY:
            return _in_der(algorithm, Ed25519PublicKey.from_public_bytes(content))
        return _in_der(algorithm, load_der_public_key(content))
    except (ValueError, UnsupportedAlgorithm):
        words = f"expected a public key for {algorithm} in PEM, or in base64"
        raise ValueError(words) from None


def public_key_of(algorithm: Algorithm, private: str) -> bytes:
    """The public key in DER that belongs to a private one; raises ValueError likewise."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        return _in_der(algorithm, load_pem_private_key(private.encode(), None).public_key())
    except (ValueError, TypeError, UnsupportedAlgorithm):
        words = f"expected a private key for {algorithm} in PEM, without a password"
        raise ValueError(words) from None


def _in_der(algorithm: Algorithm, key: Any) -> bytes:
    """Raises ValueError for a key that is not of the kind that the algorithm has."""
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    match algorithm:
        case Algorithm.ED25519:
            fits = isinstance(key, Ed25519PublicKey)
        case Algorithm.ECDSA | Algorithm.ECDSA_RAW:
            fits = isinstance(key, EllipticCurvePublicKey) and key.key_size == P256_BITS
        case _:
            fits = isinstance(key, RSAPublicKey)
    if not fits:
        raise ValueError(f"it is no key for {algorithm}")
    content: bytes = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return content
