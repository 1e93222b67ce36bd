"""Whether a delivery is signed as its dialect says (section 6, item 3), and if not, why not.

`verify` does no input or output, reads no clock and never raises: any bytes and headers end in
`Verified` or in `Unverified` with one `Reason`.
"""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass

from hookproof.receiver.signatures.secret_key import canonical_base64, secret_key
from hookproof.receiver.signatures.signed_message import (
    Headers,
    Reason,
    Refused,
    SignedMessage,
    read,
    signed_bytes,
)
from hookproof.spec.dialect.model import Secrets, SignatureScheme
from hookproof.spec.dialect.vocabulary import Encoding

__all__ = ["Reason", "Unverified", "Verified", "verify"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """A delivery that at least one secret signed.

    Secrets are named by their places in the order given: `secrets`, all that have a valid signature
    in the header; `in_order`, for each of the header's signatures the secret that made it, None if
    it is none of them. Signatures of versions that the scheme does not name are left out.
    `timestamp` is in Unix seconds; None: none was sent.
    """

    secrets: tuple[int, ...]
    in_order: tuple[int | None, ...]
    timestamp: float | None

    @property
    def signatures(self) -> int:
        """How many signatures of the scheme's versions the header holds, valid or not."""
        return len(self.in_order)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unverified:
    """A delivery that no secret is known to have signed, and why."""

    reason: Reason
    detail: str


def verify(
    scheme: SignatureScheme,
    secret_rules: Secrets,
    secrets: Sequence[str],
    headers: Headers,
    event_id_header: str,
    body: bytes,
    now: float,
) -> Verified | Unverified:
    """Judge one delivery; `headers` as sent, `body` raw, `now` in Unix seconds.

    Every signature is compared with every secret: which place a secret has among the living ones is
    not known here.
    """
    try:
        keys = _keys(secret_rules, secrets)
        message = read(scheme, headers, event_id_header)
        _check_age(scheme, message.timestamp, now)
        return _match(scheme, keys, message, body)
    except Refused as refused:
        return Unverified(reason=refused.reason, detail=refused.detail)


def _keys(rules: Secrets, secrets: Sequence[str]) -> list[bytes]:
    if not secrets:
        raise Refused(Reason.SECRET_NOT_USABLE, "no secret was given")
    return [_key(rules, secret, place) for place, secret in enumerate(secrets)]


def _key(rules: Secrets, secret: str, place: int) -> bytes:
    try:
        return secret_key(rules, secret)
    except ValueError as error:
        raise Refused(Reason.SECRET_NOT_USABLE, f"secret {place} {error}") from None


def _check_age(scheme: SignatureScheme, timestamp: float | None, now: float) -> None:
    if timestamp is None:
        return
    age, accepted = now - timestamp, scheme.tolerance_s
    if age > accepted:
        raise Refused(
            Reason.TIMESTAMP_TOO_OLD, f"it is {age:.3f} s old, {accepted:g} s are accepted"
        )
    # Asked this way round so that a clock that is no number accepts nothing.
    if not age >= -accepted:
        raise Refused(
            Reason.TIMESTAMP_TOO_FAR_AHEAD, f"it is {-age:.3f} s ahead, {accepted:g} s are accepted"
        )


def _match(
    scheme: SignatureScheme, keys: Sequence[bytes], message: SignedMessage, body: bytes
) -> Verified:
    signed = signed_bytes(scheme, message.fields, body)
    made = [hmac.digest(key, signed, scheme.hash.value) for key in keys]
    given = [_signature(scheme.encoding, text) for text in message.signatures]
    # Every comparison is made, whatever the ones before it said.
    equal = [[hmac.compare_digest(expected, signature) for expected in made] for signature in given]
    secrets = tuple(place for place in range(len(keys)) if any(row[place] for row in equal))
    if not secrets:
        size = len(made[0])
        whole = sum(len(signature) == size for signature in given)
        raise Refused(
            Reason.NO_SIGNATURE_MATCHES,
            f"signatures: {len(given)}, of which {whole} are {scheme.encoding} of {size} bytes; secrets: {len(keys)}",
        )
    in_order = tuple(row.index(True) if True in row else None for row in equal)
    return Verified(secrets=secrets, in_order=in_order, timestamp=message.timestamp)


def _signature(encoding: Encoding, text: str | None) -> bytes:
    """The bytes of a signature; no bytes at all for none, and for a text that is not in the
    encoding.
    """
    if text is None:
        return b""
    try:
        return bytes.fromhex(text) if encoding is Encoding.HEX else canonical_base64(text)
    except ValueError:
        return b""
