"""Rolling: what a roll does to an endpoint's secrets, at once and later (section 4.3)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import msgspec

from hookproof.mockserver.api.handlers.endpoints import EndpointHandlers
from hookproof.mockserver.api.service import OperationCall, OperationResult, Service
from hookproof.mockserver.delivery.attempt.signing import Signer
from hookproof.mockserver.delivery.store_port import EndpointSettings
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_responses import (
    GET_ENDPOINT,
    ROLL,
    Object,
    SpoiltAnswers,
)
from hookproof.mockserver.faults.support.misread_dialect import mistaken
from hookproof.mockserver.store.endpoints import EndpointTable, StoredSecret

SIGNED: Final = ("roll",)
SHOWN: Final = ("roll_answers",)
BOTH: Final = (*SIGNED, *SHOWN)


@fault("4.3-4", "4.3-6", "4.3-16", seen="expired keys that still sign", shows_in=SIGNED)
class ExpiredSecretsSign(Signer):
    """An old secret goes on signing after its time."""

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        """All of them."""
        return [secret.value for secret in endpoint.secrets]


@fault("4.3-2", "4.3-6", "4.3-7", "4.3-16", "6-10", seen="no overlap window", shows_in=SIGNED)
class NoOverlap(Signer):
    """An old secret stops signing at the roll, whatever its expiration is."""

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        """The newest alone."""
        return [endpoint.secrets[-1].value]


@fault(
    "4.3-3",
    "4.3-4",
    "4.3-5",
    "4.3-6",
    "4.3-7",
    "4.3-16",
    "6-10",
    seen="a stale cache after a roll",
    shows_in=SIGNED,
)
class FirstSecretSigns(Signer):
    """An endpoint goes on with the secrets that it had at its first delivery or roll."""

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        """The first alone."""
        return [endpoint.secrets[0].value]


@fault("4.3-4", "4.3-5", "4.3-16", shows_in=SIGNED)
class NobodySignsAtTheEnd(Signer):
    """Once an old secret has expired the endpoint is signed for with that one alone."""

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        """The last to expire, when none that expires is left."""
        living = super().valid_secrets(endpoint, now)
        expired = [
            one.value
            for one in endpoint.secrets
            if one.expires_at is not None and one.expires_at <= now
        ]
        return expired[-1:] if expired and len(living) == 1 else living


@fault("4.3-6", seen="a second roll inherits the first roll's window", shows_in=SIGNED)
class SecondRollEndsTheFirst(Signer):
    """After a second roll only the last of the replaced secrets goes on signing."""

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        """The last two."""
        return super().valid_secrets(endpoint, now)[-2:]


@fault(
    "4.3-4",
    "4.3-6",
    "4.3-16",
    seen="a window that is off by two seconds: a cache that lives as long",
    shows_in=SIGNED,
)
class ExpiryLate(Signer):
    """An old secret signs for some seconds longer than it said."""

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        """Those of some seconds ago."""
        return super().valid_secrets(endpoint, now - 2.5)


@fault("4.3-2", "4.3-6", "4.3-7", "4.3-15", "6-10", seen="minutes against seconds", shows_in=BOTH)
class ExpirationInAnotherUnit(EndpointHandlers):
    """The expiration of a roll is counted in a unit that is a thousand times as short."""

    def expire_secret(self, call: OperationCall) -> OperationResult:
        """A thousandth of it."""
        default = self._service.dialect.rolling.default_expiration.value
        length = call.body.get("expiration", default)
        return super().expire_secret(
            msgspec.structs.replace(call, body={**call.body, "expiration": length / 1000})
        )


@fault("4.3-10", "2.9-13", also=["4.3-14"], shows_in=SHOWN)
class RollAnswersWithoutUid(SpoiltAnswers):
    """The answer to a roll has the uid of the new secret as its own."""

    operations = (ROLL,)

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """Another uid."""
        return {**resource, "uid": resource["secrets"][-1]["uid"]}


@fault("4.3-11", shows_in=SHOWN)
class RollDisconfigures(EndpointTable):
    """A roll takes the description and the support_email of the endpoint away."""

    def roll(self, seq: int, secrets: Sequence[StoredSecret], *, updated_at: str) -> None:
        """A whole new document."""
        super().roll(seq, secrets, updated_at=updated_at)
        self._database.write(
            "UPDATE endpoints SET document = CAST(json_set(document, '$.name', '') AS BLOB) WHERE seq = ?",
            (seq,),
        )


@fault(
    "4.3-3",
    "4.3-5",
    "4.3-6",
    "4.3-7",
    "4.3-12",
    "6-10",
    seen="a secret that is read from the query",
    shows_in=BOTH,
)
class SentSecretIgnored(EndpointHandlers):
    """A roll brings in a secret that the service makes although one was sent."""

    def expire_secret(self, call: OperationCall) -> OperationResult:
        """Without it."""
        body = {name: value for name, value in call.body.items() if name != "secret"}
        return super().expire_secret(msgspec.structs.replace(call, body=body))


@fault(
    "4.3-3",
    "4.3-4",
    "4.3-5",
    "4.3-6",
    "4.3-7",
    "4.3-13",
    "4.3-16",
    "6-10",
    seen="right answer, no effect",
    shows_in=BOTH,
)
class RollNotStored(EndpointTable):
    """A roll is answered as it should be, and nothing is stored."""

    def roll(self, seq: int, secrets: Sequence[StoredSecret], *, updated_at: str) -> None:
        """Nothing."""


@fault("4.3-13", shows_in=SHOWN)
class RollNotFetched(SpoiltAnswers):
    """A fetched endpoint shows its first secret alone."""

    operations = (GET_ENDPOINT,)

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """The first."""
        return {**resource, "secrets": resource["secrets"][:1]}


@fault(
    "4.3-14",
    also=[
        "2.3-9",
        "2.4-5",
        "4.2-6",
        "4.3-2",
        "4.3-3",
        "4.3-5",
        "4.3-6",
        "4.3-7",
        "4.3-16",
        "6-6",
        "6-8",
        "6-10",
    ],
    seen="an UPDATE whose WHERE is too wide",
    shows_in=SHOWN,
)
class EverybodyRolled(EndpointTable):
    """A roll changes the secrets of the endpoint that was created next too."""

    def roll(self, seq: int, secrets: Sequence[StoredSecret], *, updated_at: str) -> None:
        """Two endpoints."""
        super().roll(seq, secrets, updated_at=updated_at)
        super().roll(seq + 1, secrets, updated_at=updated_at)


@fault("4.3-15", "4.3-16", shows_in=BOTH)
class ExpiresAtAtTheRoll(SpoiltAnswers):
    """A roll shows the time of the roll as expires_at of the old secret."""

    operations = (ROLL, GET_ENDPOINT)

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """The time of the roll."""
        secrets = [
            {**one, "expires_at": one["updated_at"]} if one.get("expires_at") else one
            for one in resource["secrets"]
        ]
        return {**resource, "secrets": secrets}


@fault("4.3-17", shows_in=SHOWN)
class NewSecretExpires(EndpointHandlers):
    """The secret that a roll brings in shows an expires_at."""

    def expire_secret(self, call: OperationCall) -> OperationResult:
        """The end of the old one, for the new one too."""
        reply = super().expire_secret(call)
        envelope = msgspec.json.decode(reply.body)
        secrets = envelope["data"]["secrets"]
        ends = {"expires_at": secrets[-2]["expires_at"]}
        envelope["data"]["secrets"] = [*secrets[:-1], {**secrets[-1], **ends}]
        return OperationResult(status=reply.status, body=msgspec.json.encode(envelope))


@fault(
    "4.3-18",
    shows_in=SHOWN,
    where=lambda dialect: "expiration" not in dialect.requests.expire_endpoint_secret_requires,
)
class OtherDefaultExpiration(EndpointHandlers):
    """Without expiration the old secret lives for an hour longer than the dialect says."""

    def __init__(self, service: Service) -> None:
        rolling = service.dialect.rolling
        longer = rolling.default_expiration.value + round(3600 / rolling.expiration_unit.in_seconds)
        super().__init__(
            replace(
                service, dialect=mistaken(service.dialect, "rolling.default_expiration", longer)
            )
        )


@fault(
    "4.3-19",
    shows_in=SHOWN,
    where=lambda dialect: "secret" not in dialect.requests.expire_endpoint_secret_requires,
)
class RollKeepsTheSecret(EndpointHandlers):
    """A roll without a secret brings in the old one again."""

    def expire_secret(self, call: OperationCall) -> OperationResult:
        """The same value."""
        if "secret" in call.body:
            return super().expire_secret(call)
        row = self._find(call)
        value = (
            self._service.serializer.secrets([], clear=True)
            and msgspec.json.decode(row.secrets)[-1]["value"]
        )
        return super().expire_secret(
            msgspec.structs.replace(call, body={**call.body, "secret": value})
        )


@fault("4.3-7", "4.3-16", shows_in=SIGNED)
class SimpleSignedByTheOther(Signer):
    """In the time of both secrets the simple format is signed by the one that the dialect does not
    name.
    """

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        """The other way round."""
        living = super().valid_secrets(endpoint, now)
        return living if endpoint.advanced_signatures else living[::-1]


@fault("6-10", seen="signatures in the order of a dictionary", shows_in=SIGNED)
class SignaturesInAnotherOrder(Signer):
    """The advanced format carries the signatures of two secrets the other way round."""

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        """The other way round."""
        living = super().valid_secrets(endpoint, now)
        return living[::-1] if endpoint.advanced_signatures else living
