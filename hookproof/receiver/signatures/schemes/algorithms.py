"""The algorithms of signatures. None is written here: they are those of hmac and cryptography."""

import hashlib
import hmac
from collections.abc import Callable
from functools import partial

from hookproof.receiver.signatures.schemes.model import CURVE_SIGNATURE
from hookproof.spec.dialect.signature_scheme import SignatureScheme
from hookproof.spec.dialect.vocabulary import Algorithm

# Whether these bytes are the signature.
Check = Callable[[bytes], bool]


def signature_check(scheme: SignatureScheme, key: bytes, message: bytes) -> Check:
    """What tells whether a signature of this message was made with this key; never raises."""
    algorithm = scheme.algorithm
    if algorithm.has_public_key:
        return partial(public_key_check, algorithm, scheme.hash.value, key, message)
    if algorithm is Algorithm.HMAC:
        expected = hmac.digest(key, message, scheme.hash.value)
    elif algorithm is Algorithm.PLAIN_HASH:
        expected = hashlib.new(scheme.hash.value, key + message).digest()
    else:
        expected = key
    return partial(hmac.compare_digest, expected)


def signature_size(scheme: SignatureScheme) -> int | None:
    """The number of bytes of a signature; None if it is not always the same."""
    match scheme.algorithm:
        case Algorithm.HMAC | Algorithm.PLAIN_HASH:
            return hashlib.new(scheme.hash.value, usedforsecurity=False).digest_size
        case Algorithm.ED25519 | Algorithm.ECDSA_RAW:
            return CURVE_SIGNATURE
        case _:
            return None


def public_key_check(
    algorithm: Algorithm, hash_name: str, key: bytes, message: bytes, signature: bytes
) -> bool:
    """Whether a public key verifies a signature; a key that is none verifies nothing."""
    # Imported late, since few schemes need it and cryptography takes a while to load.
    from hookproof.receiver.signatures.schemes.public_keys import is_signed

    return is_signed(algorithm, hash_name, key, message, signature)
