"""Deliveries signed with a mistake, by code that shares nothing with the receiver's."""

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from tests.receiver.signatures.signature_vectors import SignedVector, find_vector

# The keys behind the secrets of the vectors with one secret.
KEYS = {
    "reference": b"living secret number 1 *********",
    "contrary": bytes((37 + at * 11) % 256 for at in range(32)),
    "standard-webhooks": bytes((37 + at * 11) % 256 for at in range(32)),
}
TIME = 1735689600
EVENT = b"01JD5V9QZK3M8N4P7R2S6T0WXY"

Encode = Callable[[bytes], str]


def in_hex(digest: bytes) -> str:
    return digest.hex()


def in_base64(digest: bytes) -> str:
    return base64.b64encode(digest).decode()


def in_base64url(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningFormat:
    """One dialect's advanced format, hand-written."""

    vector: str
    hash: str
    encode: Encode
    join: Callable[[bytes, bytes], bytes]
    value: Callable[[str, str], str]
    per_second: int = 1

    def time(self, moved: int = 0) -> bytes:
        return str((TIME + moved) * self.per_second).encode()


FORMATS: Mapping[str, SigningFormat] = {
    "reference": SigningFormat(
        vector="reference, advanced: a small object",
        hash="sha256",
        encode=in_hex,
        join=lambda time, body: time + b"," + body,
        value=lambda time, signature: f"t={time},v1={signature}",
    ),
    "contrary": SigningFormat(
        vector="contrary, advanced: a small object",
        hash="sha512",
        encode=in_base64,
        join=lambda time, body: EVENT + b"|" + time + b"|" + body,
        value=lambda _, signature: f"signed v1:{signature}",
        per_second=1000,
    ),
    "standard-webhooks": SigningFormat(
        vector="standard-webhooks, advanced: a small object",
        hash="sha256",
        encode=in_base64,
        join=lambda time, body: EVENT + b"." + time + b"." + body,
        value=lambda _, signature: f"v1,{signature}",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningMistake:
    """What a sender does wrong; what is None is done right.

    `expected` is part of the diagnosis. `signed` is the body that is signed, `sent` the one that
    arrives.
    """

    name: str
    expected: str
    sent: bytes = b'{"order":1}'
    signed: bytes | None = None
    key: Callable[[bytes, str], bytes] | None = None
    join: Callable[[bytes, bytes], bytes] | None = None
    time: bytes | None = None
    digest: Callable[[bytes, bytes, str], bytes] | None = None
    encode: Encode | None = None
    write: Callable[[str], str] | None = None
    only: tuple[str, ...] = field(default_factory=lambda: tuple(FORMATS))


def signed_with(dialect: str, *mistakes: SigningMistake) -> SignedVector:
    """The delivery of a sender that makes all of these mistakes at once."""
    form = FORMATS[dialect]
    vector = find_vector(form.vector)

    def first(attribute: str) -> object:
        values = (getattr(mistake, attribute) for mistake in mistakes)
        return next((value for value in values if value is not None), None)

    sent = next(
        (mistake.sent for mistake in mistakes if mistake.signed is not None), mistakes[0].sent
    )
    signed = first("signed")
    key, join, digest, encode, write = (
        first(name) for name in ("key", "join", "digest", "encode", "write")
    )
    time = first("time") or form.time()
    key_bytes = key(KEYS[dialect], vector.secrets[0]) if callable(key) else KEYS[dialect]
    content = sent if signed is None else signed
    message = (join if callable(join) else form.join)(time, content)
    digest_bytes = (digest if callable(digest) else hmac.digest)(key_bytes, message, form.hash)
    text = (encode if callable(encode) else form.encode)(digest_bytes)
    text = write(text) if callable(write) else text
    value = form.value(form.time().decode(), text)
    return replace(vector.with_value(value), body=sent)


def plain_hash(content: bytes, name: str) -> bytes:
    return hashlib.new(name, content).digest()
