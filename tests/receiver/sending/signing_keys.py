"""Secrets that sign, and what verifies what they sign."""

import base64
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_der_private_key,
)

from hookproof.receiver.sending.signing import new_secret, signing_key
from hookproof.receiver.signatures.judgement import Contract
from hookproof.receiver.signatures.schemes.model import ProviderScheme
from hookproof.spec.dialect.vocabulary import Algorithm
from tests.receiver.signatures.schemes.provider_signers import private_pem, rsa_key

RSA: Final = {Algorithm.RSA, Algorithm.RSA_PSS}
FORM: Final = (("Content-Type", "application/x-www-form-urlencoded"),)


def two_secrets(contract: Contract) -> tuple[str, str]:
    """Two secrets of a scheme."""
    if contract.signature.algorithm in RSA:
        return private_pem(rsa_key()), private_pem(rsa_key(2))
    return new_secret(contract), new_secret(contract)


def verifying_secret(contract: Contract, secret: str) -> str:
    """The secret itself, or the public key of a private one, written as the scheme writes it."""
    scheme = contract.signature
    assert isinstance(scheme, ProviderScheme)
    if not scheme.algorithm.has_public_key:
        return secret
    key = signing_key(contract, secret)
    if "PRIVATE KEY" in secret:
        pem = load_der_private_key(key, None).public_key()
        return pem.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    if scheme.algorithm is Algorithm.ECDSA:
        loaded = load_der_private_key(key, None)
        shown = loaded.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    else:
        shown = Ed25519PrivateKey.from_private_bytes(key).public_key().public_bytes_raw()
    if "whsk_" in secret:
        return f"whpk_{base64.b64encode(shown).decode()}"
    return shown.hex() if len(secret) == 64 else base64.b64encode(shown).decode()
