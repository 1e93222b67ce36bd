"""Signatures: deliveries that are signed, but not as their endpoint has to check them (section 6)."""

import hashlib
from collections.abc import Sequence
from typing import Final

import msgspec

from hookproof.mockserver.delivery.attempt.headers import Headers
from hookproof.mockserver.delivery.attempt.sender import AttemptSender
from hookproof.mockserver.delivery.attempt.signing import Signer
from hookproof.mockserver.delivery.store_port import EndpointSettings, PendingDelivery
from hookproof.mockserver.faults.registry import fault
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Encoding

SIGNED: Final = ("signing",)
# What a signature that nobody can check violates.
EVERY_SIGNATURE: Final = ("6-6", "6-7", "6-8", "6-10", "2.3-9", "2.4-3")


@fault(
    *EVERY_SIGNATURE,
    also=["1-1", "4.3-2", "4.3-3", "4.3-5", "4.3-6", "4.3-7", "4.3-16", "6-9"],
    seen="body re-serialised after signing",
    shows_in=SIGNED,
)
class BodyReserialised(Signer):
    """Signatures are made over the body as it is after reading and writing it again."""

    def headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, now: float, body: bytes
    ) -> Headers:
        """Over another spelling."""
        return super().headers(delivery, endpoint, now, msgspec.json.format(body, indent=1))


@fault(
    "6-7",
    "6-8",
    "6-10",
    "2.4-3",
    also=["4.3-2", "4.3-3", "4.3-5", "4.3-6", "4.3-16", "6-9"],
    seen="timestamp left out of the advanced payload",
    shows_in=SIGNED,
)
class TimestampNotSigned(Signer):
    """The advanced format shows one time and signs another one."""

    def headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, now: float, body: bytes
    ) -> Headers:
        """The time shown is a second later."""
        signed = super().headers(delivery, endpoint, now, body)
        if not endpoint.advanced_signatures:
            return signed
        shown = super().headers(delivery, endpoint, now + 2, b"")
        return tuple(
            (name, _with_time_of(value, other))
            for (name, value), (_, other) in zip(signed, shown, strict=True)
        )


def _with_time_of(value: str, other: str) -> str:
    """The first word that consists of digits after its sign, taken from the other text."""
    pieces, others = value.split(","), other.split(",")
    return ",".join([others[0], *pieces[1:]]) if len(pieces) > 1 else other


def waits_a_second(dialect: Dialect) -> bool:
    """Whether so much time passes between attempts that a time in whole seconds shows it."""
    return dialect.retry.initial_s.value >= 1


@fault(
    *EVERY_SIGNATURE,
    "6-11",
    also=["4.3-2", "4.3-3", "4.3-5", "4.3-6", "4.3-16", "6-9"],
    seen="seconds against milliseconds",
    shows_in=SIGNED,
)
class TimeInAnotherUnit(Signer):
    """The time in a signature is counted in a unit that is a thousand times as long."""

    def headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, now: float, body: bytes
    ) -> Headers:
        """Long ago."""
        return super().headers(delivery, endpoint, now / 1000, body)


@fault("6-11", seen="stale timestamp on retries", shows_in=["retries"], where=waits_a_second)
class StaleTimeOnRetries(Signer):
    """A repeated attempt is signed with the time of the first one."""

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(dialect)
        self._first: dict[int, float] = {}

    def headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, now: float, body: bytes
    ) -> Headers:
        """The first time, for ever."""
        return super().headers(delivery, endpoint, self._first.setdefault(delivery.id, now), body)


@fault("6-9", also=["6-8"], seen="a body that was read to its end", shows_in=["retries"])
class RetriesSignNothing(Signer):
    """A repeated attempt is signed as if its body were empty."""

    def headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, now: float, body: bytes
    ) -> Headers:
        """Over nothing after the first."""
        return super().headers(delivery, endpoint, now, b"" if delivery.attempts else body)


@fault("6-9", also=["6-8"], seen="retries unsigned", shows_in=["retries"])
class RetriesUnsigned(Signer):
    """A repeated attempt carries no signature."""

    def headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, now: float, body: bytes
    ) -> Headers:
        """None after the first."""
        return () if delivery.attempts else super().headers(delivery, endpoint, now, body)


@fault(
    "6-8",
    "6-6",
    "6-7",
    "2.3-9",
    "6-10",
    "2.4-3",
    also=["4.3-2", "4.3-3", "4.3-5", "4.3-6", "4.3-7", "4.3-16", "6-9"],
    seen="a secret in a variable that is shared",
    shows_in=SIGNED,
)
class SecretOfTheNeighbour(Signer):
    """A delivery is signed with the secret of the endpoint that was served before."""

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(dialect)
        self._before: Sequence[str] = ()

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        """The one before."""
        own = super().valid_secrets(endpoint, now)
        before, self._before = self._before or own, own
        return before


@fault("6-6", "6-8", "2.3-9", "2.4-3", also=["4.3-7", "6-9"], shows_in=SIGNED)
class SimpleSignedAsAdvanced(Signer):
    """Endpoints in the simple format get the advanced one."""

    def headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, now: float, body: bytes
    ) -> Headers:
        """Always advanced."""
        return super().headers(
            delivery, msgspec.structs.replace(endpoint, advanced_signatures=True), now, body
        )


@fault("6-7", "6-8", "6-10", "2.4-3", also=["4.3-3", "4.3-5", "6-9"], shows_in=SIGNED)
class SignatureCutShort(AttemptSender):
    """The header of the advanced format lacks its last four characters."""

    def _own_headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, body: bytes
    ) -> Headers:
        headers = super()._own_headers(delivery, endpoint, body)
        if not endpoint.advanced_signatures:
            return headers
        names = (self._dialect.signatures.advanced.header,)
        return tuple((name, value[:-4] if name in names else value) for name, value in headers)


@fault("2.4-3", "6-6", "6-7", "6-8", "6-10", shows_in=SIGNED)
class MadeSecretsTrimmed(Signer):
    """A secret that the service made signs without its last character."""

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        """Long ones are cut."""
        return [one[:-4] if len(one) >= 60 else one for one in super().valid_secrets(endpoint, now)]


@fault("6-10", shows_in=SIGNED)
class SignedTwice(AttemptSender):
    """The advanced format carries each signature twice."""

    def _own_headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, body: bytes
    ) -> Headers:
        headers = super()._own_headers(delivery, endpoint, body)
        scheme = self._dialect.signatures.advanced
        if not endpoint.advanced_signatures:
            return headers
        return tuple(
            (name, _doubled(value, scheme.separator) if name == scheme.header else value)
            for name, value in headers
        )


def _doubled(value: str, separator: str) -> str:
    return f"{value}{separator}{value.rsplit(separator, maxsplit=1)[-1]}"


@fault(
    "6-6",
    "6-7",
    "6-8",
    "6-10",
    "2.3-9",
    "2.4-3",
    also=["4.3-2", "4.3-3", "4.3-5", "4.3-6", "4.3-7", "4.3-16", "6-9"],
    seen="hexadecimal in capitals",
    shows_in=SIGNED,
    where=lambda dialect: dialect.signatures.simple.encoding is Encoding.HEX,
)
class OtherHash(Signer):
    """Deliveries are signed over the hash of their body."""

    def headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, now: float, body: bytes
    ) -> Headers:
        """Hashed before."""
        return super().headers(delivery, endpoint, now, hashlib.sha256(body).digest())
