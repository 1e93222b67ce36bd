"""Signs deliveries by the signature scheme of a dialect (section 6, item 3).

The scheme is data: the hash, the secrets that sign, the text that is signed and the format of the
header. The tests compare the signatures with vectors that openssl computed.
"""

import base64
import hashlib
import hmac
import re
import time
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache, partial
from typing import Final

from hookproof.mockserver.delivery.attempt.headers import Headers
from hookproof.mockserver.delivery.store_port import (
    EndpointSettings,
    PendingDelivery,
    SigningSecret,
)
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.signature_scheme import Secrets, SignatureScheme
from hookproof.spec.dialect.vocabulary import (
    BASE64_VARIANTS,
    Algorithm,
    Base64Variant,
    Encoding,
    SecretForm,
    SignatureTime,
    SigningSecrets,
)

_URL_SAFE: Final = str.maketrans("+/", "-_")


def _encode(variant: Base64Variant, content: bytes) -> str:
    encode = base64.urlsafe_b64encode if variant.url_safe else base64.b64encode
    text = encode(content).decode("ascii")
    return text if variant.padded else text.rstrip("=")


# By the words of the dialect.
ENCODE_BASE64: Final[Mapping[str, Callable[[bytes], str]]] = {
    word: partial(_encode, variant) for word, variant in BASE64_VARIANTS.items()
}


def decode_base64(word: str, text: str) -> bytes:
    """The bytes behind a text, padded or not; raises ValueError for another alphabet."""
    if re.fullmatch(f"[{BASE64_VARIANTS[word].letters}]*={{0,2}}", text) is None:
        raise ValueError(f"the text is not {word}")
    return base64.urlsafe_b64decode(text.translate(_URL_SAFE) + "=" * (-len(text) % 4))


def decode_key(form: SecretForm, text: str) -> bytes:
    """The bytes that a secret in hex or base64 stands for; raises ValueError likewise."""
    if form is not SecretForm.HEX:
        return decode_base64(form, text)
    if re.search(r"\s", text):
        raise ValueError("the text is not hex")
    return bytes.fromhex(text)


PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
BODY: Final = "{body}"
KEPT_MACS: Final = 16384  # as many as one broadcast may need
# The placeholders that every template may contain.
COMMON_PLACEHOLDERS: Final = ("id", "timestamp")

# Each function gets the valid secrets, oldest first.
SELECT_SECRETS: Final[Mapping[SigningSecrets, Callable[[Sequence[str]], Sequence[str]]]] = {
    SigningSecrets.NEWEST: lambda secrets: secrets[-1:],
    SigningSecrets.OLDEST: lambda secrets: secrets[:1],
    SigningSecrets.ALL_OLDEST_FIRST: lambda secrets: secrets,
    SigningSecrets.ALL_NEWEST_FIRST: lambda secrets: secrets[::-1],
}
ENCODE_DIGEST: Final[Mapping[Encoding, Callable[[bytes], str]]] = {
    Encoding.HEX: bytes.hex,
    **{Encoding(word): encode for word, encode in ENCODE_BASE64.items()},
}


# Stands for the secret where none signs.
OWN_KEY: Final = ""


class SigningError(Exception):
    """A delivery cannot be signed; the message contains no secret."""


class Signer:
    """Signs attempts under one dialect."""

    def __init__(self, dialect: Dialect) -> None:
        signatures = dialect.signatures
        self._formats = {
            advanced: SignatureFormat(signatures.scheme(advanced=advanced), signatures.secret)
            for advanced in (False, True)
        }

    def headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, now: float, body: bytes
    ) -> Headers:
        """Return the headers that sign one attempt at `now` (unix seconds); raises SigningError."""
        signature_format = self._formats[endpoint.advanced_signatures]
        secrets = self.valid_secrets(endpoint, now)
        return signature_format.headers(secrets, delivery.event_uid, now, body, endpoint.url)

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        """Return the secrets that may sign at `now`, oldest first (section 4.3)."""
        return secrets_valid_at(endpoint.secrets, now)


def secrets_valid_at(secrets: Sequence[SigningSecret], now: float) -> list[str]:
    """Return the values of the secrets that are not expired at `now`, in the same order.

    At the very time of its expiration a secret is expired.
    """
    return [
        secret.value for secret in secrets if secret.expires_at is None or now < secret.expires_at
    ]


class SignatureFormat:
    """One signature scheme with its templates prepared for filling in."""

    def __init__(self, scheme: SignatureScheme, rules: Secrets) -> None:
        self._scheme = scheme
        self._rules = rules
        # Looked up once, because enumeration members are slow dictionary keys.
        self._select_secrets = SELECT_SECRETS[scheme.secrets]
        self._encode_digest = ENCODE_DIGEST[scheme.encoding]
        self._mac_for = lru_cache(maxsize=KEPT_MACS)(self._new_mac)
        self._signature = self._signature_by(scheme)
        # Split at the body: what looks like a placeholder inside the body is the sender's text.
        self._around_body = [
            _percent_format(part, (*COMMON_PLACEHOLDERS, "url"))
            for part in scheme.signed.split(BODY)
        ]
        self._item = _percent_format(scheme.item, (*COMMON_PLACEHOLDERS, "version", "signature"))
        self._value = _percent_format(scheme.value, (*COMMON_PLACEHOLDERS, "signatures"))

    def headers(
        self, secrets: Sequence[str], event_uid: str, now: float, body: bytes, url: str = ""
    ) -> Headers:
        """Return the headers that sign one attempt at `now` (unix seconds).

        `secrets` are the valid ones, oldest first; `url` is the endpoint's. Raises SigningError if
        there is no secret, or if one cannot be decoded into a key.
        """
        scheme = self._scheme
        selected = self._select_secrets(secrets) if scheme.public_key is None else (OWN_KEY,)
        if not selected:
            raise SigningError("the endpoint has no valid secret")
        values = {
            "id": event_uid,
            "timestamp": timestamp(now, scheme.timestamp_unit),
            "url": url,
        }
        signed = body.join([(part % values).encode("utf-8") for part in self._around_body])
        items = []
        for index, secret in enumerate(selected):
            values["version"] = _version(scheme.versions, index)
            values["signature"] = self._encode_digest(self._signature(secret, signed))
            items.append(self._item % values)
        values["signatures"] = scheme.separator.join(items)
        signature = (scheme.header, self._value % values)
        if scheme.timestamp_header is None:
            return (signature,)
        return signature, (scheme.timestamp_header, values["timestamp"])

    def _signature_by(self, scheme: SignatureScheme) -> Callable[[str, bytes], bytes]:
        """What signs a message with a secret, or with the key of the service whatever that is."""
        if not scheme.algorithm.has_public_key:
            return self._mac if scheme.algorithm is Algorithm.HMAC else self._plain_hash
        # Imported late, since few dialects need it and cryptography takes a while to load.
        from hookproof.mockserver.delivery.attempt.private_keys import key_of_pem, signer

        if scheme.public_key is None:
            seeded = lru_cache(maxsize=KEPT_MACS)(self._seeded)
            return lambda secret, signed: seeded(secret)(signed)
        if scheme.private_key is None:
            raise SigningError(
                "the dialect has the public_key of its signatures alone: the reference server signs"
                " by a private_key beside it"
            )
        sign = signer(scheme.algorithm, scheme.hash.value, key_of_pem(scheme.private_key))
        return lambda _secret, signed: sign(signed)

    def _seeded(self, secret: str) -> Callable[[bytes], bytes]:
        from hookproof.mockserver.delivery.attempt.private_keys import key_of_seed, signer

        try:
            key = key_of_seed(secret_key(secret, self._rules))
        except ValueError:
            raise SigningError("a secret of the endpoint is no private key of ed25519") from None
        return signer(self._scheme.algorithm, self._scheme.hash.value, key)

    def _mac(self, secret: str, signed: bytes) -> bytes:
        mac = self._mac_for(secret).copy()
        mac.update(signed)
        return mac.digest()

    def _plain_hash(self, secret: str, signed: bytes) -> bytes:
        return hashlib.new(
            self._scheme.hash.value, secret_key(secret, self._rules) + signed
        ).digest()

    def _new_mac(self, secret: str) -> hmac.HMAC:
        """Return an HMAC that has processed its key: half of the work for a short body."""
        return hmac.new(secret_key(secret, self._rules), digestmod=self._scheme.hash.value)


def timestamp(now: float, form: SignatureTime) -> str:
    """Return the whole units since 1970, or the second."""
    if form is SignatureTime.SECONDS:
        return str(int(now))
    if form is SignatureTime.RFC3339:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    # In decimals, because a thousandth is not exact in binary.
    return str(int(Decimal(repr(now)) / Decimal(repr(form.in_seconds))))


def secret_key(secret: str, rules: Secrets) -> bytes:
    """Return the HMAC key of a secret; raises SigningError."""
    text = secret.removeprefix(rules.prefix)
    if rules.form is SecretForm.TEXT:
        return (secret if rules.prefix_in_key else text).encode("utf-8")
    try:
        return decode_key(rules.form, text)
    except ValueError:
        raise SigningError(
            "a secret of the endpoint is not in the form that the dialect requires"
        ) from None


def _version(versions: Sequence[str], index: int) -> str:
    label = versions[min(index, len(versions) - 1)] if versions else ""
    return label.replace("{n}", str(index + 1))


def _percent_format(template: str, names: Sequence[str]) -> str:
    """Convert a template for the % operator; braces around anything but `names` are plain text."""
    escaped = template.replace("%", "%%")
    return PLACEHOLDER.sub(
        lambda match: f"%({match[1]})s" if match[1] in names else match[0], escaped
    )
