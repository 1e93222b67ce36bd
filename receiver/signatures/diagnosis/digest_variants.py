"""Other ways to make a digest of a key and a message."""

import hashlib
import hmac
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from hookproof.receiver.signatures.diagnosis.deviation import Aspect, Deviation, Variant, Variants
from hookproof.spec.dialect.vocabulary import Hash

# Names for hashlib and for readers, the likeliest first.
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
    """One construction with one hash."""

    hash: str
    kind: str = "hmac"

    @property
    def keyed(self) -> bool:
        """Whether the key matters at all."""
        return self.kind != "bare"

    def of(self, key: bytes, message: bytes) -> bytes:
        """The digest; raises ValueError for a hash that this machine refuses to compute."""
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


def digest_variants(expected: Hash, sizes: Collection[int]) -> Variants[Digest]:
    """The dialect's HMAC and other constructions, as far as they make signatures of the `sizes`
    received, in bytes.

    A signature may be cut off, so a digest may be longer than every size.
    """

    def make(distance: int) -> Iterator[Variant[Digest]]:
        if distance == 0:
            yield Variant(value=Digest(hash=expected.value))
        if distance == 1:
            yield from _other_hashes()
            for kind, words in CONSTRUCTIONS.items():
                yield _told(words, Digest(hash=expected.value, kind=kind))

    def _other_hashes() -> Iterator[Variant[Digest]]:
        for name, words in HASHES.items():
            size = _size(name)
            if name != expected and size and any(wanted <= size for wanted in sizes):
                yield _told(f"used {words} where {HASHES[expected]} is expected", Digest(hash=name))

    return Variants(make)


def _told(words: str, digest: Digest) -> Variant[Digest]:
    return Variant(value=digest, deviations=(Deviation(aspect=Aspect.HASH, words=words),))


def _size(name: str) -> int | None:
    """The size of a hash in bytes; None where it cannot be had, as MD5 on some machines."""
    try:
        hmac.digest(b"", b"", name)
    except ValueError:
        return None
    return hashlib.new(name).digest_size
