"""Other ways to make a digest of a key and a message."""

import hashlib
import hmac
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from hookproof.receiver.signatures.diagnosis.deviation import Aspect, Deviation, Variant, Variants
from hookproof.receiver.signatures.schemes.algorithms import public_key_check
from hookproof.spec.dialect.signature_scheme import SignatureScheme
from hookproof.spec.dialect.vocabulary import Algorithm

# hashlib's names and those for people, the likeliest first.
HASHES: Final = {
    "sha256": "SHA-256",
    "sha512": "SHA-512",
    "sha1": "SHA-1",
    "md5": "MD5",
    "sha384": "SHA-384",
    "sha224": "SHA-224",
    "sha3_256": "SHA3-256",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """A construction with a hash, such as HMAC with SHA-256."""

    hash: str
    kind: str = "hmac"
    signatures: tuple[bytes, ...] | None = None

    @property
    def is_keyed(self) -> bool:
        """Whether the key matters."""
        return self.kind != "bare"

    def compute(self, key: bytes, message: bytes) -> bytes:
        """Compute the digest; raises ValueError if this machine does not support the hash.

        With a public key, this is the one of `signatures` that it verifies, or nothing.
        """
        if self.signatures is not None:
            algorithm = Algorithm(self.kind)
            verified = (
                signature
                for signature in self.signatures
                if public_key_check(algorithm, self.hash, key, message, signature)
            )
            return next(verified, b"")
        if self.kind == "hmac":
            return hmac.digest(key, message, self.hash)
        if self.kind == "swapped":
            return hmac.digest(message, key, self.hash)
        content = {"key first": key + message, "key last": message + key, "bare": message}[
            self.kind
        ]
        return hashlib.new(self.hash, content).digest()


CONSTRUCTIONS: Final = {
    "swapped": "took the message for the key of the HMAC, and the secret for its message",
    "key first": "hashed the secret and then the message, without HMAC",
    "key last": "hashed the message and then the secret, without HMAC",
    "bare": "hashed the message alone, without a secret",
}


def digest_variants(scheme: SignatureScheme, signatures: Collection[bytes]) -> Variants[Digest]:
    """The scheme's construction, and others that can produce the `signatures` received.

    A signature may be truncated, so a digest may be longer than every one of them.
    """
    expected, sizes = scheme.hash, {len(signature) for signature in signatures}
    algorithm = scheme.algorithm

    if algorithm.has_public_key:
        digest = Digest(hash=expected.value, kind=algorithm, signatures=tuple(signatures))
        return Variants(lambda distance: () if distance else (Variant(value=digest),))

    def generate(distance: int) -> Iterator[Variant[Digest]]:
        usual = "key first" if algorithm is Algorithm.PLAIN_HASH else "hmac"
        if distance == 0:
            yield Variant(value=Digest(hash=expected.value, kind=usual))
        if distance == 1:
            yield from _other_hashes()
            if usual != "hmac":
                yield _variant("used an HMAC", Digest(hash=expected.value))
            for kind, words in CONSTRUCTIONS.items():
                yield _variant(words, Digest(hash=expected.value, kind=kind))

    def _other_hashes() -> Iterator[Variant[Digest]]:
        for name, words in HASHES.items():
            digest_size = _size(name)
            if name != expected and digest_size and any(size <= digest_size for size in sizes):
                yield _variant(
                    f"used {words} where {HASHES[expected]} is expected", Digest(hash=name)
                )

    return Variants(generate)


def _variant(words: str, digest: Digest) -> Variant[Digest]:
    return Variant(value=digest, deviations=(Deviation(aspect=Aspect.HASH, words=words),))


def _size(name: str) -> int | None:
    """The size of a hash in bytes; None where it is not available, as MD5 on some machines."""
    try:
        hmac.digest(b"", b"", name)
    except ValueError:
        return None
    return hashlib.new(name).digest_size
