"""Signs with private keys (section 6, item 3); imported only where a dialect asks for that."""

from collections.abc import Callable, Mapping
from typing import Final

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from hookproof.spec.dialect.vocabulary import Algorithm

PrivateKey = Ed25519PrivateKey | ec.EllipticCurvePrivateKey | RSAPrivateKey
HASHES: Final[Mapping[str, type[hashes.HashAlgorithm]]] = {
    "sha1": hashes.SHA1,
    "sha256": hashes.SHA256,
    "sha512": hashes.SHA512,
}


def key_of_pem(text: str) -> PrivateKey:
    key = load_pem_private_key(text.encode(), None)
    assert isinstance(key, PrivateKey)
    return key


def key_of_seed(seed: bytes) -> PrivateKey:
    """Raises ValueError if it has not 32 bytes."""
    return Ed25519PrivateKey.from_private_bytes(seed)


def signer(algorithm: Algorithm, hash_name: str, key: PrivateKey) -> Callable[[bytes], bytes]:
    """What signs a message with the key of an algorithm; the dialect was read, so that it fits."""
    chosen = HASHES[hash_name]()
    if isinstance(key, Ed25519PrivateKey):
        return key.sign
    if isinstance(key, RSAPrivateKey):
        pss = padding.PSS(padding.MGF1(chosen), chosen.digest_size)
        padded = pss if algorithm is Algorithm.RSA_PSS else padding.PKCS1v15()
        return lambda message: key.sign(message, padded, chosen)

    def in_der(message: bytes) -> bytes:
        return key.sign(message, ec.ECDSA(chosen))

    return in_der if algorithm is Algorithm.ECDSA else lambda each: _raw(in_der(each), key.key_size)


def _raw(signature: bytes, bits: int) -> bytes:
    """The two numbers one after the other (RFC 9421, section 3.3.4)."""
    size = (bits + 7) // 8
    return b"".join(number.to_bytes(size, "big") for number in decode_dss_signature(signature))
