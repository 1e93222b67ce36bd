"""Bytes as text, for signatures and secrets: hex, and base64 in the variants of dialects."""

import base64
import re
from typing import Final

from hookproof.spec.dialect.vocabulary import BASE64_VARIANTS, SecretForm

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


def to_text(word: str, content: bytes) -> str:
    """The text of some bytes in an encoding, or as a secret; hex where every text is a secret."""
    return encode_base64(word, content) if word in BASE64_VARIANTS else content.hex()


def from_text(word: str, text: str, *, any_padding: bool = False) -> bytes:
    """The bytes of such a text, as `decode_base64` has them; raises ValueError likewise."""
    if word == SecretForm.TEXT:
        return text.encode()
    if word != SecretForm.HEX:
        return decode_base64(word, text, any_padding=any_padding)
    if re.fullmatch("[0-9A-Fa-f]*", text) is None:  # fromhex takes spaces too
        raise ValueError("not hex")
    return bytes.fromhex(text)


def loose_base64(text: str) -> bytes:
    """Decode either alphabet, padded or not; raises ValueError."""
    text = text.rstrip("=").translate(STANDARD)
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
