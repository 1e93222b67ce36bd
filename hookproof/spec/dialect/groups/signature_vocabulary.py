"""The closed word lists of the two signature formats and of signing secrets.

Like those in `..vocabulary`, each class is the possible answers to one kind of question.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Hash(StrEnum):
    """The hash of the HMAC that signs a delivery."""

    SHA256 = "sha256"
    SHA512 = "sha512"


class Encoding(StrEnum):
    """How the bytes of a signature are written in a header."""

    HEX = "hex"
    BASE64 = "base64"
    BASE64_UNPADDED = "base64_unpadded"
    BASE64URL = "base64url"
    BASE64URL_UNPADDED = "base64url_unpadded"


class SecretForm(StrEnum):
    """How the text of a secret, without its prefix, becomes the key of the HMAC."""

    TEXT = "text"
    BASE64 = "base64"
    BASE64_UNPADDED = "base64_unpadded"
    BASE64URL = "base64url"
    BASE64URL_UNPADDED = "base64url_unpadded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Base64Variant:
    """A way to write base64 (RFC 4648): in the alphabet of section 4 or 5, with padding or without.

    `letters` are those of the alphabet, for a set of characters in a regular expression.
    """

    url_safe: bool
    padded: bool

    @property
    def letters(self) -> str:
        return "-_0-9A-Za-z" if self.url_safe else "+/0-9A-Za-z"


# By the words that Encoding and SecretForm have in common.
BASE64_VARIANTS: Final[Mapping[str, Base64Variant]] = {
    "base64": Base64Variant(url_safe=False, padded=True),
    "base64_unpadded": Base64Variant(url_safe=False, padded=False),
    "base64url": Base64Variant(url_safe=True, padded=True),
    "base64url_unpadded": Base64Variant(url_safe=True, padded=False),
}


class SigningSecrets(StrEnum):
    """Which of the valid secrets sign a delivery, in the order of their signatures."""

    NEWEST = "newest"
    OLDEST = "oldest"
    ALL_OLDEST_FIRST = "all_oldest_first"
    ALL_NEWEST_FIRST = "all_newest_first"
