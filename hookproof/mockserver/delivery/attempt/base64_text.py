"""Base64 in the variants that a dialect may name, for signatures and for secrets."""

import base64
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from hookproof.spec.dialect.groups.signature_vocabulary import BASE64_VARIANTS, Base64Variant

_URL_SAFE: Final = str.maketrans("+/", "-_")


def _encode(variant: Base64Variant, content: bytes) -> str:
    encode = base64.urlsafe_b64encode if variant.url_safe else base64.b64encode
    text = encode(content).decode("ascii")
    return text if variant.padded else text.rstrip("=")


# By the words of the dialect.
ENCODE_BASE64: Final[Mapping[str, Callable[[bytes], str]]] = {
    word: partial(_encode, variant) for word, variant in BASE64_VARIANTS.items()
}


def decode_base64(word: str, text: str) -> bytes:
    """The bytes behind a text, padded or not; raises ValueError for another alphabet."""
    if re.fullmatch(f"[{BASE64_VARIANTS[word].letters}]*={{0,2}}", text) is None:
        raise ValueError(f"the text is not {word}")
    return base64.urlsafe_b64decode(text.translate(_URL_SAFE) + "=" * (-len(text) % 4))
