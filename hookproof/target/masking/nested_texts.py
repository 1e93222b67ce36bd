"""JSON within a JSON text: as a text, as an array of bytes, as base64.

Servers show what they store in such ways, for instance the payload of an event.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

from hookproof.process.encoded_credentials import array_like, byte_array
from hookproof.target.masking.credential_places import NAMES, TEXT

# A text with such a name in it is JSON within JSON; other texts need not be read.
_NAME_WITHIN: Final = re.compile(rb'\\(?:"|u0022)(?:%s)\\+(?:"|u0022)' % NAMES, re.IGNORECASE)
_TEXT: Final = re.compile(TEXT, re.DOTALL)
# An array of bytes that may be JSON: it begins with a bracket, a quote or white space.
_BYTES: Final = re.compile(rb"\[\s*(?:123|91|34|32|10|13|9)(?:\s*,\s*\d{1,3}){7,}+\s*\]")
# The beginning of an object or a list in base64, and all that follows; JSON may escape a slash.
_BASE64: Final = re.compile(rb'"((?:e[yw]|W[13wyz])(?:[A-Za-z0-9+_-]|\\*/){8,}+={0,2})')
_BASE64_BEGINS: Final = ("ey", "ew", "W1", "W3", "Ww", "Wy", "Wz")


class Nested(NamedTuple):
    """A content within another: where it stands, what it is, and how it is written there."""

    start: int
    end: int
    content: bytes
    written: Callable[[bytes], bytes]


def has_nested_texts(content: bytes) -> bool:
    return _NAME_WITHIN.search(content) is not None


def may_be_nested(text: str) -> bool:
    """Whether a text may be JSON, or base64 of it."""
    return '"' in text or text.startswith(_BASE64_BEGINS)


def nested_texts(content: bytes) -> Iterator[Nested]:
    for text in _TEXT.finditer(content):
        if _NAME_WITHIN.search(text[0]) and (inner := _of_text(text[0])) is not None:
            yield Nested(*text.span(), inner, _text_like(text[0]))


def nested_bytes(content: bytes) -> Iterator[Nested]:
    for numbers in _BYTES.finditer(content):
        try:
            inner = byte_array(json.loads(numbers[0]))
        except ValueError:
            continue
        if inner is not None:
            yield Nested(*numbers.span(), inner, partial(array_like, numbers[0]))


def nested_base64(content: bytes) -> Iterator[Nested]:
    for encoded in _BASE64.finditer(content):
        inner = decoded(encoded[1])
        if inner is not None and inner[:1] in {b"{", b"["}:
            yield Nested(*encoded.span(1), inner, _base64_like(encoded[1]))


def decoded(encoded: bytes) -> bytes | None:
    """What base64 stands for, in either alphabet, with or without padding."""
    plain = encoded.replace(b"\\", b"").rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    try:
        return base64.b64decode(plain + b"=" * (-len(plain) % 4), validate=True)
    except binascii.Error:
        return None


def _base64_like(old: bytes) -> Callable[[bytes], bytes]:
    def written(new: bytes) -> bytes:
        urls = b"-" in old or b"_" in old
        encoded = (base64.urlsafe_b64encode if urls else base64.b64encode)(new)
        encoded = encoded if old.endswith(b"=") else encoded.rstrip(b"=")
        return encoded.replace(b"/", b"\\/") if b"\\" in old else encoded

    return written


def _of_text(written: bytes) -> bytes | None:
    try:
        text = json.loads(written.decode(), strict=False)
        return str(text).encode("utf-8", "surrogatepass")
    except ValueError:
        return None


def _text_like(old: bytes) -> Callable[[bytes], bytes]:
    def written(new: bytes) -> bytes:
        text = json.dumps(new.decode("utf-8", "surrogatepass"), ensure_ascii=old.isascii())
        text = text.replace("/", "\\/") if b"\\/" in old else text
        return text.encode("utf-8", "surrogatepass")

    return written
