"""Signs a delivery by the same data by which `verification` checks it: the other direction.

    contract = contract_of_scheme(load_scheme("stripe"))
    key = signing_key(contract, "whsec_...")
    sign(contract, [key], headers=(), body=b"{}", line=line, at=time.time(), event_id="evt_1")

Both share the data of a scheme, so that neither proves the other: the tests compare what is signed
here with signatures made by hand from the documentation of each sender.
"""

import hashlib
import hmac
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from secrets import token_bytes, token_hex
from typing import Final

from hookproof.receiver.signatures.bytes_as_text import to_text
from hookproof.receiver.signatures.judgement import Contract
from hookproof.receiver.signatures.schemes.model import ProviderScheme, ProviderSecrets
from hookproof.receiver.signatures.schemes.request_parts import (
    MEMBER,
    NO_LINE,
    PartMissing,
    RequestLine,
    prepared_request,
    with_members,
)
from hookproof.receiver.signatures.signed_message import (
    PLACEHOLDER,
    VerificationRefused,
    label_at,
    signed_bytes,
)
from hookproof.receiver.signatures.verification import secret_key
from hookproof.spec.dialect.signature_scheme import SignatureScheme
from hookproof.spec.dialect.vocabulary import (
    PUBLIC_KEY_ALGORITHMS,
    Algorithm,
    SignatureTime,
    SigningSecrets,
)

Headers = tuple[tuple[str, str], ...]
# Of a new secret, or of the seed of a private key of ed25519 (RFC 8032).
SEED_BYTES: Final = 32
# Algorithms whose private keys are structures, and not any bytes of the right length.
IN_DER: Final = PUBLIC_KEY_ALGORITHMS - {Algorithm.ED25519}
ALL: Final = frozenset({SigningSecrets.ALL_OLDEST_FIRST, SigningSecrets.ALL_NEWEST_FIRST})


class CannotSign(ValueError):
    """What is to be signed lacks something that the scheme signs; the message says what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedDelivery:
    """All headers, those of the signature last, and the body, which may hold the signature."""

    headers: Headers
    body: bytes


def has_time(contract: Contract) -> bool:
    """Whether a delivery says when it was signed."""
    scheme = contract.signature
    return scheme.timestamp_header is not None or "{timestamp}" in scheme.signed + scheme.value


def signs_time(contract: Contract) -> bool:
    """Whether this time is signed."""
    scheme = contract.signature
    signs_messages = isinstance(scheme, ProviderScheme) and scheme.signs_messages
    return signs_messages or "{timestamp}" in scheme.signed


def signs_body(contract: Contract) -> bool:
    """Whether the whole body is signed, or a digest of it."""
    scheme = contract.signature
    if isinstance(scheme, ProviderScheme) and scheme.signs_messages:
        return any("content-digest" in name for name in scheme.covered)
    named = any(part in scheme.signed for part in ("{body}", "{form}", "{crc32}"))
    return named and scheme.algorithm.signs


def both_sign(contract: Contract) -> bool:
    """Whether the old and the new secret sign while a secret is rolled."""
    return contract.signature.secrets in ALL


def signing_key(contract: Contract, secret: str) -> bytes:
    """The key that signs; raises CannotSign, without the secret in its message."""
    rules = contract.secret
    if isinstance(rules, ProviderSecrets) and rules.private_prefix:
        rules = replace(rules, prefix=rules.private_prefix)
    try:
        key = secret_key(rules, secret)
        if contract.signature.algorithm.has_public_key:
            _signature(contract.signature, key, b"")
    except ValueError as error:
        raise CannotSign(f"the secret {error}") from None
    return key


def new_secret(contract: Contract) -> str:
    """The text of a random secret, such as this scheme has."""
    rules, algorithm = contract.secret, contract.signature.algorithm
    if algorithm is Algorithm.BASIC:
        return f"hookproof:{token_hex(16)}"
    provided = rules if isinstance(rules, ProviderSecrets) else None
    if provided and provided.in_pem:
        return _new_key(algorithm, as_pem=True).decode()
    key = _new_key(algorithm) if algorithm in IN_DER else token_bytes(SEED_BYTES)
    prefix = (provided and provided.private_prefix) or rules.prefix
    return prefix + to_text(rules.form, key)


def sign(
    contract: Contract,
    keys: Sequence[bytes],
    *,
    headers: Headers,
    body: bytes,
    line: RequestLine | None,
    at: float,
    event_id: str,
) -> SignedDelivery:
    """A delivery that these keys sign, in this order; `at` is in Unix seconds.

    Raises CannotSign.
    """
    scheme = contract.signature
    if isinstance(scheme, ProviderScheme) and scheme.signs_messages:
        return _sign_message(scheme, keys, headers, body, line, at)
    fields = {"id": event_id}
    if has_time(contract):
        fields["timestamp"] = time_text(scheme, at)
    own: list[tuple[str, str]] = []
    if contract.event_id_header is not None:
        own.append((contract.event_id_header, event_id))
    if scheme.timestamp_header is not None:
        own.append((scheme.timestamp_header, fields["timestamp"]))
    try:
        body = _with_members(scheme, body, own)
        message = _message(scheme, fields, (*headers, *own), body, line)
        own.append((scheme.header, _value(scheme, fields, [*_signatures(scheme, keys, message)])))
        body = _with_members(scheme, body, own)
    except (ValueError, VerificationRefused) as error:
        raise CannotSign(str(error)) from None
    outside = [each for each in own if not each[0].startswith(MEMBER)]
    if not all(value.isprintable() and value.isascii() for _, value in outside):
        raise CannotSign("what is to stand in a header is not printable ASCII")
    return SignedDelivery(headers=(*headers, *outside), body=body)


def time_text(scheme: SignatureScheme, at: float) -> str:
    """A time in Unix seconds as the scheme writes it."""
    if scheme.timestamp_unit is SignatureTime.RFC3339:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    # Rounded first: 1.001 s are 1000.9999999999999 ms.
    return str(math.floor(round(at / scheme.timestamp_unit.in_seconds, 3)))


def _with_members(
    scheme: SignatureScheme, body: bytes, headers: Sequence[tuple[str, str]]
) -> bytes:
    members = {name.removeprefix(MEMBER): text for name, text in headers if name.startswith(MEMBER)}
    if not members or not isinstance(scheme, ProviderScheme):
        return body
    return with_members(scheme, body, members)


def _message(
    scheme: SignatureScheme,
    fields: Mapping[str, str],
    headers: Headers,
    body: bytes,
    line: RequestLine | None,
) -> bytes:
    try:
        _, body, parts = prepared_request(scheme, headers, body, line)
    except PartMissing as missing:
        raise CannotSign(str(missing)) from None
    return signed_bytes(scheme, fields, body, parts)


def _signatures(scheme: SignatureScheme, keys: Sequence[bytes], message: bytes) -> Sequence[str]:
    return [_text(scheme, _signature(scheme, key, message)) for key in keys]


def _text(scheme: SignatureScheme, signature: bytes) -> str:
    if scheme.algorithm is Algorithm.TOKEN:
        return signature.decode()
    return to_text(scheme.encoding, signature)


def _value(scheme: SignatureScheme, fields: Mapping[str, str], signatures: Sequence[str]) -> str:
    items = [
        _filled(scheme.item, {"version": label_at(scheme, index), "signature": signature})
        for index, signature in enumerate(signatures)
    ]
    return _filled(scheme.value, {**fields, "signatures": scheme.separator.join(items)})


def _filled(template: str, values: Mapping[str, str]) -> str:
    return PLACEHOLDER.sub(lambda match: values[match[1]], template)


def _signature(scheme: SignatureScheme, key: bytes, message: bytes) -> bytes:
    """Raises ValueError for a key that cannot sign."""
    match scheme.algorithm:
        case Algorithm.HMAC:
            return hmac.digest(key, message, scheme.hash.value)
        case Algorithm.PLAIN_HASH:
            return hashlib.new(scheme.hash.value, key + message).digest()
        case Algorithm.TOKEN | Algorithm.BASIC:  # the secret itself
            return key
        case algorithm:
            from hookproof.receiver.signatures.schemes.public_keys import sign_with

            return sign_with(algorithm, scheme.hash.value, key, message)


def _new_key(algorithm: Algorithm, *, as_pem: bool = False) -> bytes:
    """A new private key, in DER or PEM."""
    from hookproof.receiver.signatures.schemes.public_keys import (
        new_private_key,
        private_der,
        private_pem,
    )

    key = new_private_key(algorithm)
    return private_pem(key).encode() if as_pem else private_der(key)


def _sign_message(
    scheme: ProviderScheme,
    keys: Sequence[bytes],
    headers: Headers,
    body: bytes,
    line: RequestLine | None,
    at: float,
) -> SignedDelivery:
    """A delivery with an HTTP message signature of each key (RFC 9421); raises CannotSign."""
    from hookproof.receiver.signatures.schemes.message_signatures import (
        INPUT,
        NotReadable,
        new_input,
        signature_base,
        with_digest,
    )

    if line is None or not line.is_plain:
        raise CannotSign(NO_LINE)
    try:
        headers = tuple(with_digest(scheme, headers, body))
        covered = new_input(scheme, math.floor(at))
        base = signature_base(covered, headers, line.method, line.url)
        signatures = _signatures(scheme, keys, base)
    except (NotReadable, ValueError) as problem:
        raise CannotSign(str(problem)) from None
    inputs = [f"sig{number}={covered}" for number in range(1, len(keys) + 1)]
    items = [f"sig{number}=:{text}:" for number, text in enumerate(signatures, 1)]
    own = ((INPUT, ", ".join(inputs)), (scheme.header, ", ".join(items)))
    return SignedDelivery(headers=(*headers, *own), body=body)
