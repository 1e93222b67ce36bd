"""Deliveries signed with a mistake, by code that shares nothing with the receiver's."""

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.receiver.signatures.signature_vectors import SignedVector, find_vector

# The keys behind the secrets of the vectors with one secret.
KEYS = {
    "reference": b"living secret number 1 *********",
    "contrary": bytes((37 + at * 11) % 256 for at in range(32)),
    "standard-webhooks": bytes((37 + at * 11) % 256 for at in range(32)),
}
# The key of another endpoint.
OTHER_KEY = b"\x07" * 24
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
    """One dialect's advanced format, hand-written.

    `join(time, body)` is what is signed; `value(time, signature)` is the header's value.
    """

    vector: str
    hash: str
    encode: Encode
    join: Callable[[bytes, bytes], bytes]
    value: Callable[[str, str], str]
    per_second: int = 1

    @property
    def time(self) -> bytes:
        """The right time, as it is signed and sent."""
        return str(TIME * self.per_second).encode()


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
    arrives. The steps are `key(right key, text of the secret)`, `join(time, body)`,
    `digest(key, message, name of the hash)`, `encode(digest)` and `write(encoded digest)`. `only`
    names the dialects in which the mistake can be made.
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

    def step(name: str, right: Any) -> Any:
        """What the first mistake that concerns a step does in it; `right` if none does."""
        wrong = (getattr(mistake, name) for mistake in mistakes)
        return next((value for value in wrong if value is not None), right)

    sent = next(
        (mistake.sent for mistake in mistakes if mistake.signed is not None), mistakes[0].sent
    )
    key = step("key", lambda right_key, _: right_key)(KEYS[dialect], vector.secrets[0])
    message = step("join", form.join)(step("time", form.time), step("signed", sent))
    digest = step("digest", hmac.digest)(key, message, form.hash)
    encoded = step("encode", form.encode)(digest)
    signature = step("write", str)(encoded)
    value = form.value(form.time.decode(), signature)
    return replace(vector.with_value(value), body=sent)


def plain_hash(content: bytes, name: str) -> bytes:
    return hashlib.new(name, content).digest()
