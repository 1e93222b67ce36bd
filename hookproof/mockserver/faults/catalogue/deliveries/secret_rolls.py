"""What a roll does to an endpoint's secrets, at once and later (section 4.3)."""

import asyncio
from collections.abc import Sequence
from typing import Final

import msgspec

from hookproof.mockserver.api.handlers.endpoints import EndpointHandlers
from hookproof.mockserver.api.request_pipeline import RequestPipeline
from hookproof.mockserver.api.serialization.response_serializer import ResponseSerializer
from hookproof.mockserver.api.service import ApiService, OperationCall, OperationResult
from hookproof.mockserver.delivery.attempt.signing import Signer
from hookproof.mockserver.delivery.store_port import EndpointSettings
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_endpoints import not_reached_by_broadcasts
from hookproof.mockserver.faults.support.altered_responses import (
    BROADCAST,
    GET_ENDPOINT,
    ON_PORTAL_LINKS,
    ROLL,
    AlteredRecords,
    AlteredResponses,
    Object,
)
from hookproof.mockserver.faults.support.misread_dialect import misread_service
from hookproof.mockserver.store.endpoints import EndpointTable, StoredSecret

SIGNED: Final = ("roll",)
SHOWN: Final = ("roll_answers",)
BOTH: Final = (*SIGNED, *SHOWN)
# In seconds, between what is read and what is written.
BETWEEN_S: Final = 0.02


@fault(
    "expired_secret_unused each_old_secret_signs expiry_meant",
    seen="expired keys that still sign",
    shows_in=SIGNED,
)
class ExpiredSecretsSign(Signer):
    """An old secret keeps signing after it has expired."""

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        return [secret.value for secret in endpoint.secrets]


@fault(
    "old_secret_signs each_old_secret_signs simple_signer expiry_meant advanced_layout",
    seen="no overlap window",
    shows_in=SIGNED,
)
class NoOverlap(Signer):
    """An old secret stops signing at the roll, whatever its expiration is."""

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        return [endpoint.secrets[-1].value]


@fault(
    "new_secret_signs expired_secret_unused new_secret_signs_alone each_old_secret_signs"
    " simple_signer expiry_meant advanced_layout",
    seen="a stale cache after a roll",
    shows_in=SIGNED,
)
class FirstSecretSigns(Signer):
    """Only the oldest secret of an endpoint signs its deliveries."""

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        return [endpoint.secrets[0].value]


@fault("expired_secret_unused new_secret_signs_alone expiry_meant", shows_in=SIGNED)
class ExpiredSecretSignsAlone(Signer):
    """Once all old secrets of an endpoint have expired, the latest of them signs alone."""

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        valid_secrets = super().valid_secrets(endpoint, now)
        expired = [
            secret.value
            for secret in endpoint.secrets
            if secret.expires_at is not None and secret.expires_at <= now
        ]
        return expired[-1:] if expired and len(valid_secrets) == 1 else valid_secrets


@fault(
    "each_old_secret_signs simple_signer",
    seen="a second roll inherits the first roll's window",
    shows_in=SIGNED,
)
class SecondRollEndsTheFirst(Signer):
    """After a second roll only the newest two secrets sign."""

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        return super().valid_secrets(endpoint, now)[-2:]


@fault(
    "expired_secret_unused each_old_secret_signs expiry_meant",
    seen="a window that is off by two seconds: a cache that lives as long",
    shows_in=SIGNED,
)
class ExpiryLate(Signer):
    """An old secret signs for two and a half seconds longer than it should."""

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        return super().valid_secrets(endpoint, now - 2.5)


@fault(
    "old_secret_signs each_old_secret_signs simple_signer expiry_shown advanced_layout",
    seen="seconds against milliseconds",
    shows_in=BOTH,
)
class ExpirationInAnotherUnit(EndpointHandlers):
    """The expiration of a roll is read in a unit a thousand times too short."""

    def expire_secret(self, call: OperationCall) -> OperationResult:
        default = self._service.dialect.rolling.default_expiration.value
        length = call.body.get("expiration", default)
        return super().expire_secret(
            msgspec.structs.replace(call, body={**call.body, "expiration": length / 1000})
        )


@fault("as_named@expireEndpointSecret created_once", shows_in=SHOWN)
class RollAnswersSecretUid(AlteredResponses):
    """The response to a roll has the uid of the new secret as the endpoint's uid."""

    operations = (ROLL,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "uid": resource["secrets"][-1]["uid"]}


@fault("configuration_kept", shows_in=SHOWN)
class RollClearsTheName(EndpointTable):
    """A roll empties the name of the endpoint."""

    def roll(self, seq: int, secrets: Sequence[StoredSecret], *, updated_at: str) -> None:
        super().roll(seq, secrets, updated_at=updated_at)
        self._database.write(
            "UPDATE endpoints SET document = CAST(json_set(document, '$.name', '') AS BLOB)"
            " WHERE seq = ?",
            (seq,),
        )


@fault(
    "given_secret_shown@expireEndpointSecret.secrets",
    seen="a secret that is read from the query",
    shows_in=BOTH,
)
class SentSecretIgnored(EndpointHandlers):
    """A roll brings in a generated secret although the request gave one."""

    def expire_secret(self, call: OperationCall) -> OperationResult:
        body = {name: value for name, value in call.body.items() if name != "secret"}
        return super().expire_secret(msgspec.structs.replace(call, body=body))


@fault(
    "new_secret_signs expired_secret_unused new_secret_signs_alone each_old_secret_signs"
    " simple_signer roll_fetched expiry_meant advanced_layout",
    seen="right answer, no effect",
    shows_in=BOTH,
)
class RollNotStored(EndpointTable):
    """The response to a roll is right, but nothing is stored."""

    def roll(self, seq: int, secrets: Sequence[StoredSecret], *, updated_at: str) -> None:
        """Store nothing."""


@fault("roll_fetched", seen="read, changed and written without a transaction", shows_in=SHOWN)
class RollOverwritesAnother(RequestPipeline):
    """Of two rolls of an endpoint at the same time, the second stores what it read before the
    first.
    """

    async def _require_answer(self, call: OperationCall) -> None:
        if call.operation.operation_id == ROLL:
            endpoint = (call.target, call.project)
            place = "WHERE uid = ? AND project = ?"
            read = self._database.read(f"SELECT secrets FROM endpoints {place}", endpoint)
            known = read.fetchone() or (None,)
            await asyncio.sleep(BETWEEN_S)
            if known[0] is not None:
                update = f"UPDATE endpoints SET secrets = ? {place}"
                self._database.write(update, (*known, *endpoint))
        await super()._require_answer(call)


@fault("roll_fetched", shows_in=SHOWN)
class RollNotFetched(AlteredRecords):
    """An endpoint shows only its oldest secret, but where it is created or rolled."""

    operations = (GET_ENDPOINT, *ON_PORTAL_LINKS, BROADCAST)

    def alter_endpoint(self, endpoint: Object) -> Object:
        return {**endpoint, "secrets": endpoint["secrets"][:1]}


@fault(
    "other_secrets_kept",
    seen="an UPDATE whose WHERE is too wide",
    shows_in=SHOWN,
    where=not_reached_by_broadcasts,
)
class NextEndpointRolled(EndpointTable):
    """A roll also replaces the secrets of the next endpoint of the project if it is disabled."""

    def roll(self, seq: int, secrets: Sequence[StoredSecret], *, updated_at: str) -> None:
        super().roll(seq, secrets, updated_at=updated_at)
        (following,) = self._database.read(
            "SELECT min(seq) FROM endpoints WHERE seq > ? AND NOT active"
            " AND project = (SELECT project FROM endpoints WHERE seq = ?)",
            (seq, seq),
        ).fetchone()
        if following is not None:
            super().roll(following, secrets, updated_at=updated_at)


@fault("expiry_shown expiry_meant", shows_in=BOTH)
class ExpiresAtAtTheRoll(ResponseSerializer):
    """The expires_at of an old secret is shown as the time of its roll."""

    def secrets(self, secrets: Sequence[StoredSecret], *, clear: bool) -> bytes:
        shown = [
            secret
            if secret.expires_at is None
            else msgspec.structs.replace(secret, expires_at=secret.updated_at)
            for secret in secrets
        ]
        return super().secrets(shown, clear=clear)


@fault("new_secret_unexpiring", shows_in=SHOWN)
class NewSecretExpires(EndpointHandlers):
    """The response to a roll shows an expires_at for the new secret."""

    def expire_secret(self, call: OperationCall) -> OperationResult:
        result = super().expire_secret(call)
        envelope = msgspec.json.decode(result.body)
        *before, newest = envelope["data"]["secrets"]
        if before:  # one that expired at once is perhaps not shown
            ends = {"expires_at": before[-1]["expires_at"]}
            envelope["data"]["secrets"] = [*before, {**newest, **ends}]
        return OperationResult(status=result.status, body=msgspec.json.encode(envelope))


@fault(
    "default_expiration",
    shows_in=SHOWN,
    where=lambda dialect: "expiration" not in dialect.requests.expire_endpoint_secret_requires,
)
class OtherDefaultExpiration(EndpointHandlers):
    """Without expiration the old secret lives an hour longer than the dialect says."""

    def __init__(self, service: ApiService) -> None:
        rolling = service.dialect.rolling
        longer = rolling.default_expiration.value + round(3600 / rolling.expiration_unit.in_seconds)
        super().__init__(misread_service(service, "rolling.default_expiration", longer))


@fault(
    "secret_generated@expireEndpointSecret.secrets",
    shows_in=SHOWN,
    where=lambda dialect: "secret" not in dialect.requests.expire_endpoint_secret_requires,
)
class RollKeepsTheSecret(EndpointHandlers):
    """A roll without a secret brings in the current one again."""

    def expire_secret(self, call: OperationCall) -> OperationResult:
        if "secret" in call.body:
            return super().expire_secret(call)
        row = self._find(call)
        value = msgspec.json.decode(row.secrets)[-1]["value"]
        return super().expire_secret(
            msgspec.structs.replace(call, body={**call.body, "secret": value})
        )


@fault("simple_signer expiry_meant", shows_in=SIGNED)
class SimpleSignedByTheOther(Signer):
    """The simple format is signed with the secret that the dialect does not name."""

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        valid_secrets = super().valid_secrets(endpoint, now)
        return valid_secrets if endpoint.advanced_signatures else valid_secrets[::-1]


@fault("advanced_layout", seen="signatures in the order of a dictionary", shows_in=SIGNED)
class SignaturesInAnotherOrder(Signer):
    """The advanced format carries the signatures of several secrets in reverse order."""

    def valid_secrets(self, endpoint: EndpointSettings, now: float) -> Sequence[str]:
        valid_secrets = super().valid_secrets(endpoint, now)
        return valid_secrets[::-1] if endpoint.advanced_signatures else valid_secrets
