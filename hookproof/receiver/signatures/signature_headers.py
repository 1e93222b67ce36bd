"""Finds the headers of deliveries that have the form of a signature (section 6, item 3).

For senders whose way of signing is not known: neither a secret nor an answer of a dialect is used.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from hookproof.receiver.signatures.bytes_as_text import decode_base64
from hookproof.receiver.signatures.signed_message import Headers
from hookproof.spec.dialect.vocabulary import BASE64_VARIANTS

# The hashes that MACs are made with, by the number of their bytes.
HASHES: Final = {20: "sha1", 32: "sha256", 48: "sha384", 64: "sha512"}
# What an endpoint was given to expect, or was fetched for it.
CREDENTIALS: Final = frozenset({"authorization", "proxy-authorization", "cookie"})
HEX: Final = re.compile("(?:[0-9A-Fa-f]{2})+")
ENCODED_TEXT: Final = re.compile(r"[0-9A-Za-z+/_-]{27,128}={0,2}")
USUAL_NAME: Final = re.compile("sign|hmac|mac$", re.IGNORECASE)
# One body alone does not show that the text differs from body to body.
FEWEST_BODIES: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureHeader:
    """A header with a text of a MAC's size, another one for each body.

    `name` and `value` are those of its first delivery, `size` is in bytes.
    """

    name: str
    value: str
    size: int
    deliveries: int

    @property
    def has_usual_name(self) -> bool:
        """Whether its name alone says that it holds a signature."""
        return USUAL_NAME.search(self.name) is not None

    def __str__(self) -> str:
        return f"{self.name} ({self.size} bytes, different on each of {self.deliveries} deliveries)"


def signature_headers(deliveries: Iterable[tuple[Headers, bytes]]) -> tuple[SignatureHeader, ...]:
    """The headers that may carry the signatures of these deliveries, given as headers and body; the
    likeliest first.

    A plain digest of the body is not a signature. Equal bodies may have equal signatures.
    """
    carried: dict[str, list[tuple[str, str, bytes]]] = {}
    for headers, body in deliveries:
        for name, value in headers:
            carried.setdefault(name.lower(), []).append((name, value, body))
    found = [
        SignatureHeader(name=each[0][0], value=each[0][1], size=size, deliveries=len(each))
        for lower, each in carried.items()
        if lower not in CREDENTIALS and (size := _mac_size(each))
    ]
    return tuple(sorted(found, key=lambda header: not header.has_usual_name))


def may_be_signed(deliveries: Sequence[tuple[Headers, bytes]]) -> bool:
    """Whether any header of these deliveries may hold a signature of any kind, as far as they show.

    A signature is long, and another one for each body.
    """
    bodies: dict[str, set[bytes]] = {}
    for headers, body in deliveries:
        for name, value in headers:
            for text in ENCODED_TEXT.findall(value) if name.lower() not in CREDENTIALS else ():
                bodies.setdefault(text, set()).add(body)
    several = len({body for _, body in deliveries}) >= FEWEST_BODIES
    return not several or any(len(each) == 1 for each in bodies.values())


def _mac_size(carried: Sequence[tuple[str, str, bytes]]) -> int:
    """The size of the texts of a header that differ from body to body; 0 if not all have one."""
    bodies: dict[bytes, set[bytes]] = {}  # by the text that they came with
    for _, value, body in carried:
        for text in _possible_macs(value, body):
            bodies.setdefault(text, set()).add(body)
    sizes = [
        [len(text) for text in _possible_macs(value, body) if len(bodies[text]) == 1]
        for _, value, body in carried
    ]
    several = len({body for _, _, body in carried}) >= FEWEST_BODIES
    return sizes[0][0] if several and all(sizes) else 0


def _possible_macs(value: str, body: bytes) -> Iterator[bytes]:
    """The bytes of each text in a header's value that may be a MAC of this body."""
    for text in ENCODED_TEXT.findall(value):
        content = _decoded(text)
        name = HASHES.get(len(content))
        if name and hashlib.new(name, body, usedforsecurity=False).digest() != content:
            yield content


def _decoded(text: str) -> bytes:
    """The bytes that a text stands for in hex or base64; none if it is neither."""
    if HEX.fullmatch(text) and len(text) // 2 in HASHES:
        return bytes.fromhex(text)
    for variant in BASE64_VARIANTS:
        try:
            return decode_base64(variant, text)
        except ValueError:
            continue
    return b""
