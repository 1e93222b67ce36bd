"""Whether a delivery is signed as its dialect says (section 6, item 3), and if not, why not.

`verify` does no input or output, reads no clock and never raises: any bytes and headers result in
`Verified` or in `Unverified` with one `Reason`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hookproof.receiver.signatures.bytes_as_text import from_text
from hookproof.receiver.signatures.schemes.algorithms import signature_check, signature_size
from hookproof.receiver.signatures.schemes.model import (
    SIGNATURE_BASE,
    ProviderScheme,
    ProviderSecrets,
)
from hookproof.receiver.signatures.schemes.request_parts import (
    PartMissing,
    RequestLine,
    prepared_request,
)
from hookproof.receiver.signatures.signed_message import (
    Headers,
    Reason,
    SignedMessage,
    VerificationRefused,
    read_headers,
    signed_bytes,
)
from hookproof.spec.dialect.answer import NOT_ASKED
from hookproof.spec.dialect.signature_scheme import Secrets, SignatureScheme
from hookproof.spec.dialect.vocabulary import Algorithm, SecretForm

# What PEM begins with (RFC 7468).
PEM: Final = "-----BEGIN "
# How the public key of a dialect is written.
PUBLIC_KEY: Final = ProviderSecrets(
    prefix="", form=SecretForm.BASE64, generated_bytes=32, other_forms=NOT_ASKED, in_pem=True
)


def secret_key(rules: Secrets, secret: str) -> bytes:
    """Derive the key from a secret's text; raises ValueError, without the text in its message."""
    provided = rules if isinstance(rules, ProviderSecrets) else None
    if not (secret.startswith(rules.prefix) or (provided and provided.prefix_optional)):
        raise ValueError(f"does not begin with {rules.prefix!r}")
    text = secret.removeprefix(rules.prefix)
    form: str = rules.form
    try:
        if provided and provided.in_pem and PEM in text:
            form = "a key or a certificate in PEM"
            key = _der(text)
        elif rules.prefix_in_key and text:
            key = secret.encode()
        else:
            # Base64 with padding and without stands for the same bytes, so both are accepted.
            key = from_text(rules.form, text, any_padding=True)
    except ValueError:
        raise ValueError(f"is not {form}") from None
    if not key:
        raise ValueError("is empty")
    return key


def verifying_keys(
    scheme: SignatureScheme, rules: Secrets, secrets: Sequence[str]
) -> tuple[Secrets, Sequence[str]]:
    """What verifies by a dialect's scheme, and its rules: the key of the service, the public keys
    of secrets that are private ones, or the secrets. Raises VerificationRefused.
    """
    if isinstance(scheme, ProviderScheme) or not scheme.algorithm.has_public_key:
        return rules, secrets
    if scheme.public_key is not None:
        return PUBLIC_KEY, (scheme.public_key,)
    from hookproof.receiver.signatures.schemes.public_keys import public_text

    keys = []
    for index, secret in enumerate(secrets):
        try:
            keys.append(public_text(secret_key(rules, secret)))
        except ValueError as error:
            raise VerificationRefused(Reason.SECRET_NOT_USABLE, f"secret {index} {error}") from None
    return PUBLIC_KEY, keys


def _der(text: str) -> bytes:
    # Imported late, since cryptography takes a while to load.
    from hookproof.receiver.signatures.schemes.public_keys import der_of_pem

    return der_of_pem(text)


__all__ = ["Reason", "Unverified", "Verified", "verify"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """A delivery that at least one secret signed.

    Secrets are identified by their index in the order given. `secrets` are all that have a valid
    signature in the header; `in_order` has for each signature in the header the secret that made
    it, or None. Signatures of versions that the scheme does not name are left out. `timestamp` is
    in Unix seconds, None if none was sent.
    """

    secrets: tuple[int, ...]
    in_order: tuple[int | None, ...]
    timestamp: float | None

    @property
    def signatures(self) -> int:
        """The number of signatures of the scheme's versions in the header, valid or not."""
        return len(self.in_order)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unverified:
    """A delivery that none of the secrets signed, and why it is not verified."""

    reason: Reason
    detail: str


def verify(
    scheme: SignatureScheme,
    secret_rules: Secrets,
    secrets: Sequence[str],
    headers: Headers,
    event_id_header: str | None,
    body: bytes,
    now: float,
    line: RequestLine | None = None,
) -> Verified | Unverified:
    """Verify one delivery; `headers` as sent, `body` raw, `now` in Unix seconds.

    Every signature is compared with every secret, since the order of the secrets is not known here.
    `line`, the method and the URL, is needed by schemes that sign them.
    """
    if isinstance(scheme, ProviderScheme) and scheme.signs_messages:
        return _verify_messages(scheme, secret_rules, secrets, headers, body, now, line)
    try:
        keys = _keys(*verifying_keys(scheme, secret_rules, secrets))
        headers, body, parts = prepared(scheme, headers, body, line)
        message = read_headers(scheme, headers, event_id_header)
        _check_age(scheme, message.timestamp, now)
        return _match(scheme, keys, message, signed_bytes(scheme, message.fields, body, parts))
    except VerificationRefused as refused:
        return Unverified(reason=refused.reason, detail=refused.detail)


def _verify_messages(
    scheme: ProviderScheme,
    rules: Secrets,
    secrets: Sequence[str],
    headers: Headers,
    body: bytes,
    now: float,
    line: RequestLine | None,
) -> Verified | Unverified:
    """Verify HTTP message signatures: each has a time and signs a message of its own (RFC 9421)."""
    from hookproof.receiver.signatures.schemes.message_signatures import EXPIRES, each_signature

    verified: list[Verified] = []
    in_order: list[int | None] = []
    refusals: list[VerificationRefused] = []
    for alone in each_signature(headers):
        try:
            keys = _keys(rules, secrets)
            read, _, parts = prepared(scheme, alone, body, line)
            base = parts[SIGNATURE_BASE]
            message = read_headers(scheme, read, None)
            _check_age(scheme, message.timestamp, now)
            _check_expiry(next((text for name, text in read if name == EXPIRES), None), now)
            found = _match(scheme, keys, message, base)
            _check_digest(base, headers, body)
        except VerificationRefused as refused:
            refusals.append(refused)
            in_order.append(None)
        else:
            verified.append(found)
            in_order += found.in_order
    if not verified:
        return Unverified(reason=refusals[0].reason, detail=refusals[0].detail)
    return Verified(
        secrets=tuple(sorted({index for each in verified for index in each.secrets})),
        in_order=tuple(in_order),
        timestamp=verified[0].timestamp,
    )


def _check_digest(base: bytes, headers: Headers, body: bytes) -> None:
    from hookproof.receiver.signatures.schemes.message_signatures import covers_digest, has_digest

    if covers_digest(base) and not has_digest(headers, body):
        raise VerificationRefused(
            Reason.NO_SIGNATURE_MATCHES, "the Content-Digest that was signed is not the body's"
        )


def _check_expiry(text: str | None, now: float) -> None:
    if text is not None and not now <= int(text):
        raise VerificationRefused(
            Reason.TIMESTAMP_TOO_OLD, f"it says that it expires at {text}, in Unix seconds"
        )


def prepared(
    scheme: SignatureScheme, headers: Headers, body: bytes, line: RequestLine | None
) -> tuple[Headers, bytes, Mapping[str, bytes]]:
    """What a scheme reads; raises VerificationRefused if it is not there."""
    try:
        return prepared_request(scheme, headers, body, line)
    except PartMissing as missing:
        raise VerificationRefused(Reason.MALFORMED, str(missing)) from None


def _keys(rules: Secrets, secrets: Sequence[str]) -> list[bytes]:
    if not secrets:
        raise VerificationRefused(Reason.SECRET_NOT_USABLE, "no secret was given")
    return [_key(rules, secret, index) for index, secret in enumerate(secrets)]


def _key(rules: Secrets, secret: str, index: int) -> bytes:
    try:
        return secret_key(rules, secret)
    except ValueError as error:
        raise VerificationRefused(Reason.SECRET_NOT_USABLE, f"secret {index} {error}") from None


def _check_age(scheme: SignatureScheme, timestamp: float | None, now: float) -> None:
    if timestamp is None:
        return
    age, accepted = now - timestamp, scheme.tolerance_s
    if age > accepted:
        raise VerificationRefused(
            Reason.TIMESTAMP_TOO_OLD, f"it is {age:.3f} s old, {accepted:g} s are accepted"
        )
    # Written this way round so that a `now` that is not a number is not accepted.
    if not age >= -accepted:
        raise VerificationRefused(
            Reason.TIMESTAMP_TOO_FAR_AHEAD, f"it is {-age:.3f} s ahead, {accepted:g} s are accepted"
        )


def _match(
    scheme: SignatureScheme, keys: Sequence[bytes], message: SignedMessage, signed: bytes
) -> Verified:
    checks = [signature_check(scheme, key, signed) for key in keys]
    given = [_signature(scheme, text) for text in message.signatures]
    # Every comparison is made, whatever the previous ones resulted in: no timing side channel.
    equal = [[check(signature) for check in checks] for signature in given]
    secrets = tuple(index for index in range(len(keys)) if any(row[index] for row in equal))
    if not secrets:
        raise VerificationRefused(
            Reason.NO_SIGNATURE_MATCHES, _what_was_given(scheme, given, len(keys))
        )
    in_order = tuple(row.index(True) if True in row else None for row in equal)
    return Verified(secrets=secrets, in_order=in_order, timestamp=message.timestamp)


def _what_was_given(scheme: SignatureScheme, given: Sequence[bytes], keys: int) -> str:
    size = signature_size(scheme)
    if size is None:
        return f"signatures: {len(given)}; secrets: {keys}"
    with_right_size = sum(len(signature) == size for signature in given)
    return (
        f"signatures: {len(given)}, of which {with_right_size} are {scheme.encoding} of "
        f"{size} bytes; secrets: {keys}"
    )


def _signature(scheme: SignatureScheme, text: str | None) -> bytes:
    """The bytes of a signature; empty if there is none or it is not in the encoding."""
    if text is None:
        return b""
    if isinstance(scheme, ProviderScheme) and scheme.algorithm is Algorithm.TOKEN:
        return text.encode()
    try:
        return from_text(scheme.encoding, text)
    except ValueError:
        return b""
