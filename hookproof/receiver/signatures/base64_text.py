"""Base64 in the variants that a dialect may name, for signatures and for secrets."""

import base64
from typing import Final

from hookproof.spec.dialect.vocabulary import BASE64_VARIANTS

URL_SAFE: Final = str.maketrans("+/", "-_")
STANDARD: Final = str.maketrans("-_", "+/")


def encode_base64(word: str, content: bytes) -> str:
    """The text of some bytes in the variant that a dialect calls by this word."""
    variant = BASE64_VARIANTS[word]
    text = base64.b64encode(content).decode("ascii")
    text = text.translate(URL_SAFE) if variant.url_safe else text
    return text if variant.padded else text.rstrip("=")


def decode_base64(word: str, text: str, *, any_padding: bool = False) -> bytes:
    """Decode the canonical text of some bytes, with or without its padding if `any_padding`.

    Raises ValueError for any other text.
    """
    decoded = loose_base64(text)
    canonical = encode_base64(word, decoded)
    unpadded = canonical.rstrip("=")
    padded = unpadded + "=" * (-len(unpadded) % 4)
    if text not in ((padded, unpadded) if any_padding else (canonical,)):
        raise ValueError(f"not canonical {word}")
    return decoded


def loose_base64(text: str) -> bytes:
    """Decode either alphabet, padded or not; raises ValueError."""
    text = text.rstrip("=").translate(STANDARD)
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
