"""The body behind the Content-Digest that an HTTP message signature covers (RFC 9530)."""

from collections.abc import Mapping
from typing import Final

from hookproof.receiver.signatures.diagnosis.body_variants import body_variants
from hookproof.receiver.signatures.diagnosis.deviation import Aspect, Deviation, KnownValues
from hookproof.receiver.signatures.schemes.model import SIGNATURE_BASE
from hookproof.receiver.signatures.signed_message import Headers

# How many changes of the body are tried together.
MOST_CHANGES: Final = 2


def covers_other_body(parts: Mapping[str, bytes], headers: Headers, body: bytes) -> bool:
    """Whether the digest of another body was signed."""
    base = parts.get(SIGNATURE_BASE)
    if base is None:
        return False
    from hookproof.receiver.signatures.schemes.message_signatures import covers_digest, has_digest

    return covers_digest(base) and not has_digest(headers, body)


def deviations_of_digest(
    headers: Headers, body: bytes, known: KnownValues, length: int | None
) -> tuple[tuple[Deviation, ...], bytes]:
    """What was done to the body whose digest was signed, and this body, empty if it is not found.

    `length` is that of Content-Length.
    """
    from hookproof.receiver.signatures.schemes.message_signatures import has_digest

    variants = body_variants(body, known.bodies, length)
    for changes in range(1, MOST_CHANGES + 1):
        for variant in variants.at(changes, rare=True):
            if has_digest(headers, variant.value):
                return variant.deviations, variant.value
    words = "signed the Content-Digest of another body than the one here"
    return (Deviation(aspect=Aspect.BODY, words=words),), b""
