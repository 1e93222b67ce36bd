"""Signatures that do not verify, or are not in the right format (section 6)."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Final

import msgspec

from hookproof.mockserver.delivery.attempt.headers import Headers
from hookproof.mockserver.delivery.attempt.sender import AttemptSender
from hookproof.mockserver.delivery.attempt.signing import Signer
from hookproof.mockserver.delivery.store_port import EndpointSettings, PendingDelivery
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_endpoints import AlteredSettings
from hookproof.mockserver.store.deliveries import Deliveries
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import BASE64_VARIANTS, Encoding, SecretForm

SIGNED: Final = ("signing",)
# What a signature that does not verify violates.
EVERY_SIGNATURE: Final = (
    "signed_simple signed_advanced advanced_layout simple_by_default shown_secret_signs"
)


@fault(
    EVERY_SIGNATURE,
    seen="body re-serialised after signing",
    shows_in=SIGNED,
)
class BodyReserialised(Signer):
    """A JSON body is signed with indentation, and delivered as it was."""

    def headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, now: float, body: bytes
    ) -> Headers:
        if endpoint.content_type.endswith("json"):
            body = msgspec.json.format(body, indent=1)
        return super().headers(delivery, endpoint, now, body)


@fault("signed_advanced advanced_layout", shows_in=SIGNED)
class AdvancedSignsLatin1(Signer):
    """The advanced format signs the text of a body in Latin-1, while it is delivered in UTF-8."""

    def headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, now: float, body: bytes
    ) -> Headers:
        if endpoint.advanced_signatures:
            body = body.decode().encode("latin-1", errors="replace")
        return super().headers(delivery, endpoint, now, body)


@fault(
    "signed_advanced advanced_layout shown_secret_signs",
    shows_in=SIGNED,
)
class OtherTimestampShown(Signer):
    """The advanced format shows a time two seconds after the one that it signs."""

    def headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, now: float, body: bytes
    ) -> Headers:
        signed = super().headers(delivery, endpoint, now, body)
        if not endpoint.advanced_signatures:
            return signed
        shown = super().headers(delivery, endpoint, now + 2, b"")
        return tuple(
            (name, _with_time_of(value, other))
            for (name, value), (_, other) in zip(signed, shown, strict=True)
        )


def _with_time_of(value: str, other: str) -> str:
    """The value with the first item of the other one, which holds the time."""
    pieces, others = value.split(","), other.split(",")
    return ",".join([others[0], *pieces[1:]]) if len(pieces) > 1 else other


def waits_a_second(dialect: Dialect) -> bool:
    """Whether retries are so far apart that times in whole seconds differ."""
    return dialect.retry.initial_s.value >= 1


@fault(
    f"{EVERY_SIGNATURE} signed_time",
    seen="seconds against milliseconds",
    shows_in=SIGNED,
)
class TimeInAnotherUnit(Signer):
    """The time in a signature is counted in a unit a thousand times too long."""

    def headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, now: float, body: bytes
    ) -> Headers:
        return super().headers(delivery, endpoint, now / 1000, body)


@fault("signed_time", seen="stale timestamp on retries", shows_in=["retries"], where=waits_a_second)
class StaleTimeOnRetries(Signer):
    """A retry is signed with the time of the first attempt."""

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(dialect)
        self._first: dict[int, float] = {}

    def headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, now: float, body: bytes
    ) -> Headers:
        return super().headers(delivery, endpoint, self._first.setdefault(delivery.id, now), body)


@fault(
    EVERY_SIGNATURE,
    seen="a prefix that is cut off everywhere",
    shows_in=SIGNED,
    where=lambda dialect: dialect.signatures.secret.prefix_in_key,
)
class PrefixNotInTheKey(Signer):
    """The prefix of a secret is left out of the key that it is part of."""

    def __init__(self, dialect: Dialect) -> None:
        signatures = dialect.signatures
        secret = replace(signatures.secret, prefix_in_key=False)
        super().__init__(replace(dialect, signatures=replace(signatures, secret=secret)))


def labels_count(dialect: Dialect) -> bool:
    return any("{n}" in label for label in dialect.signatures.advanced.versions)


@fault(
    "new_secret_signs each_old_secret_signs advanced_layout",
    seen="one label for all signatures",
    shows_in=["roll"],
    where=labels_count,
)
class LabelsDoNotCount(Signer):
    """Every signature has the label of the first one, where labels count."""

    def __init__(self, dialect: Dialect) -> None:
        signatures = dialect.signatures
        labels = tuple(label.replace("{n}", "1") for label in signatures.advanced.versions)
        advanced = replace(signatures.advanced, versions=labels)
        super().__init__(replace(dialect, signatures=replace(signatures, advanced=advanced)))


@fault("retries_signed", seen="a body that was read to its end", shows_in=["retries"])
class RetriesSignNothing(Signer):
    """A retry is signed as if its body were empty."""

    def headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, now: float, body: bytes
    ) -> Headers:
        return super().headers(delivery, endpoint, now, b"" if delivery.attempts else body)


@fault("retries_signed", seen="retries unsigned", shows_in=["retries"])
class RetriesUnsigned(Signer):
    """A retry carries no signature."""

    def headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, now: float, body: bytes
    ) -> Headers:
        return () if delivery.attempts else super().headers(delivery, endpoint, now, body)


class SecretsOfAnother(AlteredSettings):
    """Signs with the secrets of the endpoint that `other` selects, if there is one."""

    other: ClassVar[str] = ""

    def alter_settings(self, endpoint: EndpointSettings) -> EndpointSettings:
        own = "SELECT project, seq FROM endpoints WHERE uid = ?"
        place = self._database.read(own, (endpoint.uid,)).fetchone()
        other = place and self._database.read(self.other, place).fetchone()
        settings = Deliveries.endpoint(self, other[0]) if other else None
        secrets = endpoint.secrets if settings is None else settings.secrets
        return msgspec.structs.replace(endpoint, secrets=secrets)


@fault(
    "own_secret_signs signed_simple signed_advanced simple_by_default advanced_layout"
    " shown_secret_signs",
    seen="a secret in a variable that is shared",
    shows_in=SIGNED,
)
class SecretOfTheNeighbour(SecretsOfAnother):
    """A delivery is signed with the secrets of the endpoint that was created after its own, unless
    that has several secrets.
    """

    other = "SELECT uid FROM endpoints WHERE project = ? AND seq > ? ORDER BY seq LIMIT 1"

    def alter_settings(self, endpoint: EndpointSettings) -> EndpointSettings:
        return super().alter_settings(endpoint) if len(endpoint.secrets) == 1 else endpoint


@fault(
    "own_secret_signs signed_simple signed_advanced advanced_layout shown_secret_signs",
    seen="one secret for a whole account",
    shows_in=SIGNED,
)
class SecretsOfTheFirst(SecretsOfAnother):
    """Every delivery is signed with the secrets of the first endpoint of its project."""

    other = "SELECT uid FROM endpoints WHERE project = ? AND seq < ? ORDER BY seq LIMIT 1"


@fault("signed_simple simple_by_default shown_secret_signs", shows_in=SIGNED)
class SimpleSignedAsAdvanced(Signer):
    """Endpoints with the simple format get the advanced one."""

    def headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, now: float, body: bytes
    ) -> Headers:
        return super().headers(
            delivery, msgspec.structs.replace(endpoint, advanced_signatures=True), now, body
        )


@fault(
    "signed_advanced advanced_layout shown_secret_signs old_secret_signs new_secret_signs"
    " each_old_secret_signs expiry_meant",
    shows_in=[*SIGNED, "roll"],
)
class SignatureCutShort(AttemptSender):
    """The signature header of the advanced format lacks its last four characters."""

    def _own_headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, body: bytes
    ) -> Headers:
        headers = super()._own_headers(delivery, endpoint, body)
        if not endpoint.advanced_signatures:
            return headers
        cut_name = self._dialect.signatures.advanced.header
        return tuple((name, value[:-4] if name == cut_name else value) for name, value in headers)


@fault("shown_secret_signs signed_simple signed_advanced advanced_layout", shows_in=SIGNED)
class LongSecretsTrimmed(Signer):
    """A secret of 60 characters or more signs without its last four characters."""

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        return [
            secret[:-4] if len(secret) >= 60 else secret
            for secret in super().valid_secrets(endpoint, now)
        ]


def _takes_any_text(dialect: Dialect) -> bool:
    return dialect.signatures.secret.form is SecretForm.TEXT


@fault("signed_simple signed_advanced advanced_layout", shows_in=SIGNED, where=_takes_any_text)
class SpacesAroundSecretsNotInTheKey(Signer):
    """Deliveries are signed with a secret without the spaces around it."""

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        return [secret.strip() for secret in super().valid_secrets(endpoint, now)]


@fault(
    "signed_simple signed_advanced advanced_layout shown_secret_signs",
    shows_in=SIGNED,
    where=_takes_any_text,
)
class KeysCutTo64Bytes(Signer):
    """Only the first 64 bytes of a secret are the key, as where a block of the hash is the most."""

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        return [
            secret.encode()[:64].decode(errors="ignore")
            for secret in super().valid_secrets(endpoint, now)
        ]


@fault("signed_simple signed_advanced advanced_layout", shows_in=SIGNED, where=_takes_any_text)
class KeysInLatin1(Signer):
    """What Latin-1 lacks is a question mark in the key of a secret."""

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        return [
            secret.encode("latin-1", errors="replace").decode("latin-1")
            for secret in super().valid_secrets(endpoint, now)
        ]


@fault("advanced_layout", shows_in=SIGNED)
class SignedTwice(AttemptSender):
    """The advanced format carries its last signature twice."""

    def _own_headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, body: bytes
    ) -> Headers:
        headers = super()._own_headers(delivery, endpoint, body)
        scheme = self._dialect.signatures.advanced
        if not endpoint.advanced_signatures:
            return headers
        return tuple(
            (name, _with_last_repeated(value, scheme.separator) if name == scheme.header else value)
            for name, value in headers
        )


def _with_last_repeated(value: str, separator: str) -> str:
    return f"{value}{separator}{value.rsplit(separator, maxsplit=1)[-1]}"


@fault(
    "signed_simple signed_advanced advanced_layout simple_by_default shown_secret_signs",
    shows_in=SIGNED,
    where=lambda dialect: dialect.signatures.simple.encoding is Encoding.HEX,
)
class BodyHashSigned(Signer):
    """The SHA-256 digest of the body is signed in place of the body."""

    def headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, now: float, body: bytes
    ) -> Headers:
        return super().headers(delivery, endpoint, now, hashlib.sha256(body).digest())


def _is_url_safe(dialect: Dialect) -> bool:
    variant = BASE64_VARIANTS.get(dialect.signatures.simple.encoding)
    return variant is not None and variant.url_safe


@fault("signed_simple simple_by_default shown_secret_signs", shows_in=SIGNED, where=_is_url_safe)
class OtherAlphabetSigned(AttemptSender):
    """Signatures of the simple format are padded base64, not base64url."""

    def _own_headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, body: bytes
    ) -> Headers:
        headers = super()._own_headers(delivery, endpoint, body)
        if endpoint.advanced_signatures:
            return headers
        header = self._dialect.signatures.simple.header
        return tuple(
            # Without the padding some would be right, namely those in the letters of both.
            (name, value.replace("-", "+").replace("_", "/") + "=" if name == header else value)
            for name, value in headers
        )
