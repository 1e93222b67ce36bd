"""The closed word lists of the two signature formats and of signing secrets.

Like those in `..vocabulary`, each class is the possible answers to one kind of question.
"""

from enum import StrEnum


class Hash(StrEnum):
    """The hash of the HMAC that signs a delivery."""

    SHA256 = "sha256"
    SHA512 = "sha512"


class Encoding(StrEnum):
    """How the bytes of a signature are written in a header."""

    HEX = "hex"
    BASE64 = "base64"


class SecretForm(StrEnum):
    """How the text of a secret, without its prefix, becomes the key of the HMAC."""

    TEXT = "text"
    BASE64 = "base64"


class SigningSecrets(StrEnum):
    """Which of the valid secrets sign a delivery, in the order of their signatures."""

    NEWEST = "newest"
    OLDEST = "oldest"
    ALL_OLDEST_FIRST = "all_oldest_first"
    ALL_NEWEST_FIRST = "all_newest_first"
