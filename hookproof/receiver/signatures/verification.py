"""Whether a delivery is signed as its dialect says (section 6, item 3), and if not, why not.

`verify` does no input or output, reads no clock and never raises: any bytes and headers result in
`Verified` or in `Unverified` with one `Reason`.
"""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass

from hookproof.receiver.signatures.base64_text import decode_base64
from hookproof.receiver.signatures.signed_message import (
    Headers,
    Reason,
    SignedMessage,
    VerificationRefused,
    read_headers,
    signed_bytes,
)
from hookproof.spec.dialect.signature_scheme import Secrets, SignatureScheme
from hookproof.spec.dialect.vocabulary import Encoding, SecretForm


def secret_key(rules: Secrets, secret: str) -> bytes:
    """Derive the key from a secret's text; raises ValueError, without the text in its message."""
    if not secret.startswith(rules.prefix):
        raise ValueError(f"does not begin with {rules.prefix!r}")
    text = secret.removeprefix(rules.prefix)
    try:
        # Base64 with padding and without stands for the same bytes, so both are accepted.
        key = (
            (secret if rules.prefix_in_key and text else text).encode()
            if rules.form is SecretForm.TEXT
            else decode_base64(rules.form, text, any_padding=True)
        )
    except ValueError:
        raise ValueError(f"is not {rules.form}") from None
    if not key:
        raise ValueError("is empty")
    return key


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
) -> Verified | Unverified:
    """Verify one delivery; `headers` as sent, `body` raw, `now` in Unix seconds.

    Every signature is compared with every secret, since the order of the secrets is not known here.
    """
    try:
        keys = _keys(secret_rules, secrets)
        message = read_headers(scheme, headers, event_id_header)
        _check_age(scheme, message.timestamp, now)
        return _match(scheme, keys, message, body)
    except VerificationRefused as refused:
        return Unverified(reason=refused.reason, detail=refused.detail)


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
    scheme: SignatureScheme, keys: Sequence[bytes], message: SignedMessage, body: bytes
) -> Verified:
    signed = signed_bytes(scheme, message.fields, body)
    digests = [hmac.digest(key, signed, scheme.hash.value) for key in keys]
    given = [_signature(scheme.encoding, text) for text in message.signatures]
    # Every comparison is made, whatever the previous ones resulted in: no timing side channel.
    equal = [
        [hmac.compare_digest(expected, signature) for expected in digests] for signature in given
    ]
    secrets = tuple(index for index in range(len(keys)) if any(row[index] for row in equal))
    if not secrets:
        size = len(digests[0])
        with_right_size = sum(len(signature) == size for signature in given)
        raise VerificationRefused(
            Reason.NO_SIGNATURE_MATCHES,
            f"signatures: {len(given)}, of which {with_right_size} are {scheme.encoding} of "
            f"{size} bytes; secrets: {len(keys)}",
        )
    in_order = tuple(row.index(True) if True in row else None for row in equal)
    return Verified(secrets=secrets, in_order=in_order, timestamp=message.timestamp)


def _signature(encoding: Encoding, text: str | None) -> bytes:
    """The bytes of a signature; empty if there is none or it is not in the encoding."""
    if text is None:
        return b""
    try:
        return bytes.fromhex(text) if encoding is Encoding.HEX else decode_base64(encoding, text)
    except ValueError:
        return b""
