"""Dialects of services that sign with private keys: one of their own, or each endpoint's secret."""

import base64
from functools import cache
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Algorithm
from tests.spec.dialect_variants import variant

ALGORITHMS = tuple(each for each in Algorithm if each.has_public_key)
FORMATS = ("simple", "advanced")
# Each secret is the seed of a private key of ed25519, as the `v1a` of Standard Webhooks has it.
SEEDS: dict[str, Any] = {
    "signatures.secret.prefix": "whsk_",
    "signatures.secret.form": "base64",
    **{f"signatures.{name}.algorithm": "ed25519" for name in FORMATS},
    **{f"signatures.{name}.hash": "sha512" for name in FORMATS},
    **{f"signatures.{name}.encoding": "base64" for name in FORMATS},
}


@cache
def _rsa_key() -> rsa.RSAPrivateKey:
    """One for all: to make it takes a while."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@cache
def key_pair(algorithm: Algorithm) -> tuple[str, str]:
    """A public key in base64, and the private one in PEM."""
    if algorithm is Algorithm.ED25519:
        key: Any = ed25519.Ed25519PrivateKey.generate()
    elif "ecdsa" in algorithm:
        key = ec.generate_private_key(ec.SECP256R1())
    else:
        key = _rsa_key()
    public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return base64.b64encode(public).decode(), private.decode()


def own_key_answers(algorithm: Algorithm) -> dict[str, Any]:
    """The answers of a service with one key of its own, by their dotted names."""
    public, private = key_pair(algorithm)
    answers = {
        "algorithm": algorithm.value,
        "hash": "sha512" if algorithm is Algorithm.ED25519 else "sha256",
        "encoding": "base64",
        "public_key": public,
        "private_key": private,
    }
    return {f"signatures.{name}.{part}": each for name in FORMATS for part, each in answers.items()}


def own_key_dialect(algorithm: Algorithm) -> Dialect:
    return variant(own_key_answers(algorithm))


def seeds_dialect() -> Dialect:
    return variant(SEEDS)


def seed_secret(letter: str = "a") -> str:
    """A secret of such a dialect."""
    return "whsk_" + base64.b64encode(letter.encode() * 32).decode()
