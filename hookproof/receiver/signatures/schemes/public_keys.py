"""Public and private keys, and what algorithms with such keys need besides.

Imported only where such a key is used, since cryptography takes a while to load.
"""

from base64 import b64encode
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_private_key,
    load_der_public_key,
    load_pem_private_key,
    load_pem_public_key,
)
from cryptography.x509 import load_pem_x509_certificate

from hookproof.receiver.signatures.schemes.model import CURVE_SIGNATURE
from hookproof.spec.dialect.signing_key import ED25519_KEY
from hookproof.spec.dialect.vocabulary import Algorithm

RSA_BITS: Final = 2048
# Private keys of RSA are checked when they are loaded, which takes a tenth of a second each time.
MOST_KEPT: Final = 16
HASHES: Final[Mapping[str, type[hashes.HashAlgorithm]]] = {
    "sha1": hashes.SHA1,
    "sha256": hashes.SHA256,
    "sha512": hashes.SHA512,
}
PrivateKey = ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
KINDS: Final[Mapping[Algorithm, tuple[type[PrivateKey], str]]] = {
    Algorithm.ED25519: (ed25519.Ed25519PrivateKey, "of ed25519"),
    Algorithm.ECDSA: (ec.EllipticCurvePrivateKey, "on P-256"),
    Algorithm.ECDSA_RAW: (ec.EllipticCurvePrivateKey, "on P-256"),
    Algorithm.RSA: (rsa.RSAPrivateKey, "of RSA"),
    Algorithm.RSA_PSS: (rsa.RSAPrivateKey, "of RSA"),
}


def is_signed(
    algorithm: Algorithm, hash_name: str, key: bytes, message: bytes, signature: bytes
) -> bool:
    """Whether a public key, in DER or the 32 bytes of ed25519, verifies a signature."""
    chosen = HASHES[hash_name]()
    try:
        loaded = _loaded(algorithm, key)
        match algorithm, loaded:
            case Algorithm.ED25519, ed25519.Ed25519PublicKey():
                loaded.verify(signature, message)
            case Algorithm.ECDSA, ec.EllipticCurvePublicKey():
                loaded.verify(signature, message, ec.ECDSA(chosen))
            case Algorithm.ECDSA_RAW, ec.EllipticCurvePublicKey():
                loaded.verify(_in_der(signature), message, ec.ECDSA(chosen))
            case ((Algorithm.RSA | Algorithm.RSA_PSS), rsa.RSAPublicKey()):
                loaded.verify(signature, message, _padding(algorithm, chosen), chosen)
            case _:
                return False
    except (InvalidSignature, UnsupportedAlgorithm, ValueError):
        return False
    return True


@lru_cache(maxsize=MOST_KEPT)
def _loaded(algorithm: Algorithm, key: bytes) -> PublicKeyTypes:
    if algorithm is Algorithm.ED25519 and len(key) == ED25519_KEY:
        return ed25519.Ed25519PublicKey.from_public_bytes(key)
    return load_der_public_key(key)


def _padding(algorithm: Algorithm, chosen: hashes.HashAlgorithm) -> padding.AsymmetricPadding:
    if algorithm is Algorithm.RSA:
        return padding.PKCS1v15()
    return padding.PSS(padding.MGF1(chosen), chosen.digest_size)


def _in_der(signature: bytes) -> bytes:
    """A signature of ECDSA on P-256 with its numbers in DER; raises ValueError."""
    if len(signature) != CURVE_SIGNATURE:
        raise ValueError(f"it has {len(signature)} bytes")
    half = CURVE_SIGNATURE // 2
    return encode_dss_signature(
        int.from_bytes(signature[:half], "big"), int.from_bytes(signature[half:], "big")
    )


@lru_cache(maxsize=MOST_KEPT)
def der_of_pem(text: str) -> bytes:
    """The key within PEM, in DER: a public one, that of a certificate, or a private one.

    Of a chain of certificates it is the first. Raises ValueError.
    """
    content = text.replace("\\n", "\n").encode()
    try:
        if "PRIVATE KEY-----" in text:
            return private_der(load_pem_private_key(content, None))  # type: ignore[arg-type]
        is_certificate = "CERTIFICATE-----" in text
        key: PublicKeyTypes = (
            load_pem_x509_certificate(content).public_key()
            if is_certificate
            else load_pem_public_key(content)
        )
    except (TypeError, UnsupportedAlgorithm) as error:
        raise ValueError(str(error)) from None
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def public_text(seed: bytes) -> str:
    """The public key of a private one of ed25519, in base64; raises ValueError."""
    if len(seed) != ED25519_KEY:
        raise ValueError(f"has {len(seed)} bytes, and a private key of ed25519 has {ED25519_KEY}")
    key = ed25519.Ed25519PrivateKey.from_private_bytes(seed).public_key()
    return b64encode(key.public_bytes_raw()).decode()


def private_der(key: PrivateKey) -> bytes:
    return key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())


def private_pem(key: PrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@lru_cache(maxsize=MOST_KEPT)
def private_key(algorithm: Algorithm, key: bytes) -> PrivateKey:
    """The private key of an algorithm: in DER (PKCS #8), or the seed of ed25519, with the public
    key after it or not (RFC 8032). Raises ValueError, to stand after the name of the key.
    """
    kind, words = KINDS[algorithm]
    if algorithm is Algorithm.ED25519 and len(key) in {ED25519_KEY, 2 * ED25519_KEY}:
        return ed25519.Ed25519PrivateKey.from_private_bytes(key[:ED25519_KEY])
    try:
        loaded = load_der_private_key(key, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        loaded = None
    if not isinstance(loaded, kind) or not _has_right_curve(loaded):
        of_ed25519 = algorithm is Algorithm.ED25519
        form = f": it has {len(key)} bytes" if of_ed25519 else " (PKCS #8 in DER or PEM)"
        raise ValueError(f"is no private key {words}{form}")
    return loaded


def _has_right_curve(key: PrivateKey) -> bool:
    return not isinstance(key, ec.EllipticCurvePrivateKey) or isinstance(key.curve, ec.SECP256R1)


def new_private_key(algorithm: Algorithm) -> PrivateKey:
    kind, _ = KINDS[algorithm]
    if kind is ed25519.Ed25519PrivateKey:
        return ed25519.Ed25519PrivateKey.generate()
    if kind is ec.EllipticCurvePrivateKey:
        return ec.generate_private_key(ec.SECP256R1())
    return rsa.generate_private_key(public_exponent=65537, key_size=RSA_BITS)


def sign_with(algorithm: Algorithm, hash_name: str, key: bytes, message: bytes) -> bytes:
    """The signature of a private key; raises ValueError for one that is none."""
    loaded, chosen = private_key(algorithm, key), HASHES[hash_name]()
    if isinstance(loaded, ed25519.Ed25519PrivateKey):
        return loaded.sign(message)
    if isinstance(loaded, rsa.RSAPrivateKey):
        return loaded.sign(message, _padding(algorithm, chosen), chosen)
    signature = loaded.sign(message, ec.ECDSA(chosen))
    if algorithm is Algorithm.ECDSA:
        return signature
    half = CURVE_SIGNATURE // 2
    return b"".join(number.to_bytes(half, "big") for number in decode_dss_signature(signature))
