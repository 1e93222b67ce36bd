"""Signatures of deliveries, made as a dialect's signature scheme says (section 6, item 3).

The scheme is data: which hash, which secrets, what is signed and how the header is written. `tests`
hold this to vectors that another tool computed.
"""

import base64
import binascii
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Final

from hookproof.mockserver.delivery.attempt.headers import Headers
from hookproof.mockserver.delivery.store_port import (
    EndpointSettings,
    PendingDelivery,
    SigningSecret,
)
from hookproof.spec.dialect.model import Dialect, Secrets, SignatureScheme
from hookproof.spec.dialect.vocabulary import Encoding, SecretForm, SigningSecrets, TimeUnit

PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
BODY: Final = "{body}"
KEYED: Final = 16384  # as many as one broadcast may need
# What every template may name.
MOMENT: Final = ("id", "timestamp")

CHOSEN: Final[Mapping[SigningSecrets, Callable[[Sequence[str]], Sequence[str]]]] = {
    SigningSecrets.NEWEST: lambda living: living[-1:],
    SigningSecrets.OLDEST: lambda living: living[:1],
    SigningSecrets.ALL_OLDEST_FIRST: lambda living: living,
    SigningSecrets.ALL_NEWEST_FIRST: lambda living: living[::-1],
}
ENCODED: Final[Mapping[Encoding, Callable[[bytes], str]]] = {
    Encoding.HEX: bytes.hex,
    Encoding.BASE64: lambda digest: base64.b64encode(digest).decode("ascii"),
}


class SigningFault(Exception):
    """A delivery cannot be signed; the message holds no secret."""


class Signer:
    """Signs attempts as one dialect says."""

    def __init__(self, dialect: Dialect) -> None:
        signatures = dialect.signatures
        self._formats = {
            advanced: SignatureFormat(signatures.scheme(advanced=advanced), signatures.secret)
            for advanced in (False, True)
        }

    def headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, now: float, body: bytes
    ) -> Headers:
        """The headers that sign one attempt at `now` (unix seconds); raises SigningFault."""
        form = self._formats[endpoint.advanced_signatures]
        return form.headers(self.living(endpoint, now), delivery.event_uid, now, body)

    def living(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        """The secrets that may sign at `now`, oldest first (section 4.3)."""
        return living_secrets(endpoint.secrets, now)


def living_secrets(secrets: Sequence[SigningSecret], now: float) -> list[str]:
    """The values of the secrets that are alive at `now`, oldest first; one lives until the instant
    it expires at.
    """
    return [
        secret.value for secret in secrets if secret.expires_at is None or now < secret.expires_at
    ]


class SignatureFormat:
    """One signature scheme with its templates made ready to be filled."""

    def __init__(self, scheme: SignatureScheme, rules: Secrets) -> None:
        self._scheme = scheme
        self._rules = rules
        # Looked up once, since members of enumerations are slow keys.
        self._chosen = CHOSEN[scheme.secrets]
        self._encoded = ENCODED[scheme.encoding]
        self._keyed = lru_cache(maxsize=KEYED)(self._with_key)
        # Split at the body first: placeholders inside it are the sender's text.
        self._around_body = [_format(part, MOMENT) for part in scheme.signed.split(BODY)]
        self._item = _format(scheme.item, (*MOMENT, "version", "signature"))
        self._value = _format(scheme.value, (*MOMENT, "signatures"))

    def headers(self, living: Sequence[str], event_uid: str, now: float, body: bytes) -> Headers:
        """The headers that sign one attempt at `now` (unix seconds) with the living secrets, oldest
        first.

        Raises SigningFault if there is no secret, or one that makes no key.
        """
        scheme = self._scheme
        chosen = self._chosen(living)
        if not chosen:
            raise SigningFault("the endpoint has no living secret")
        values = {"id": event_uid, "timestamp": timestamp(now, scheme.timestamp_unit)}
        signed = body.join([(part % values).encode("utf-8") for part in self._around_body])
        items = []
        for place, secret in enumerate(chosen):
            values["version"] = _version(scheme.versions, place)
            mac = self._keyed(secret).copy()
            mac.update(signed)
            values["signature"] = self._encoded(mac.digest())
            items.append(self._item % values)
        values["signatures"] = scheme.separator.join(items)
        signature = (scheme.header, self._value % values)
        if scheme.timestamp_header is None:
            return (signature,)
        return signature, (scheme.timestamp_header, values["timestamp"])

    def _with_key(self, secret: str) -> hmac.HMAC:
        """An HMAC that has taken in its key, which is half of its work over a short body."""
        return hmac.new(secret_key(secret, self._rules), digestmod=self._scheme.hash.value)


def timestamp(now: float, unit: TimeUnit) -> str:
    """Whole units since 1970, reckoned in decimals but for seconds, since a thousandth is no binary
    number.
    """
    if unit is TimeUnit.SECONDS:
        return str(int(now))
    return str(int(Decimal(repr(now)) / Decimal(repr(unit.in_seconds))))


def secret_key(secret: str, rules: Secrets) -> bytes:
    """The key of the HMAC behind a secret's text; raises SigningFault."""
    text = secret.removeprefix(rules.prefix)
    if rules.form is SecretForm.TEXT:
        return text.encode("utf-8")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise SigningFault(
            "a secret of the endpoint is not in the form that its dialect asks for"
        ) from None


def _version(versions: Sequence[str], place: int) -> str:
    return versions[min(place, len(versions) - 1)] if versions else ""


def _format(template: str, names: Sequence[str]) -> str:
    """A template for the % operator; other braces than those around the names are plain text."""
    escaped = template.replace("%", "%%")
    return PLACEHOLDER.sub(
        lambda found: f"%({found[1]})s" if found[1] in names else found[0], escaped
    )
