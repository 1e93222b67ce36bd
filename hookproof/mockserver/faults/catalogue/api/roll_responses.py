"""Responses to rolls, and what a roll leaves behind, subtly wrong (section 4.3)."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Final

import msgspec

from hookproof.mockserver.api.handlers.endpoints import EndpointHandlers
from hookproof.mockserver.api.serialization.response_serializer import ResponseSerializer
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_endpoints import not_reached_by_broadcasts
from hookproof.mockserver.faults.support.altered_responses import (
    CREATE_ENDPOINT,
    ROLL,
    AlteredResponses,
    Object,
    SwappedStatus,
)
from hookproof.mockserver.store.endpoints import EndpointTable, StoredSecret
from hookproof.spec.contract.service_contract import Contract
from hookproof.spec.dialect.model import Dialect

SHOWN: Final = ("roll_answers",)


@fault("succeeds@expireEndpointSecret", shows_in=SHOWN)
class SecondRollRefused(EndpointHandlers):
    """The secret of an endpoint can be rolled only once."""

    def expire_secret(self, call: OperationCall) -> OperationResult:
        if len(msgspec.json.decode(self._find(call).secrets)) > 1:
            raise self._service.errors.invalid("the last roll is not over")
        return super().expire_secret(call)


@fault("success_status@expireEndpointSecret", shows_in=SHOWN)
class RollIsCreated(SwappedStatus):
    """A roll has the status of a creation."""

    instead: ClassVar = {ROLL: CREATE_ENDPOINT}


@fault("typed@expireEndpointSecret", shows_in=SHOWN)
class FailureRateAsText(AlteredResponses):
    """The response to a roll shows the failure_rate as a string with a percent sign."""

    operations = (ROLL,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "failure_rate": f"{resource['failure_rate']} %"}


@fault("as_named@expireEndpointSecret", shows_in=SHOWN)
class RollAnswersOtherUid(AlteredResponses):
    """The response to a roll has a uid with another last character."""

    operations = (ROLL,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        uid = resource["uid"]
        return {**resource, "uid": uid[:-1] + ("1" if uid.endswith("0") else "0")}


@fault("configuration_kept", seen="a form that is saved whole", shows_in=SHOWN)
class RollSetsTheTimeout(EndpointTable):
    """A roll sets the http_timeout of the endpoint to one second."""

    def roll(self, seq: int, secrets: Sequence[StoredSecret], *, updated_at: str) -> None:
        super().roll(seq, secrets, updated_at=updated_at)
        self._database.write(
            "UPDATE endpoints SET document = CAST(json_set(document, '$.http_timeout', 1) AS BLOB)"
            " WHERE seq = ?",
            (seq,),
        )


@fault(
    "other_secrets_kept",
    seen="a key of the project in place of the endpoint's",
    shows_in=SHOWN,
    where=not_reached_by_broadcasts,
)
class ProjectRolled(EndpointTable):
    """A roll replaces the secrets of every disabled endpoint of the project."""

    def roll(self, seq: int, secrets: Sequence[StoredSecret], *, updated_at: str) -> None:
        super().roll(seq, secrets, updated_at=updated_at)
        self._database.write(
            "UPDATE endpoints SET secrets = ? WHERE NOT active"
            " AND project = (SELECT project FROM endpoints WHERE seq = ?)",
            (msgspec.json.encode(secrets), seq),
        )


@fault("new_secret_unexpiring", seen="only after a second roll", shows_in=SHOWN)
class SecondSecretExpires(AlteredResponses):
    """The response to a second or later roll shows an expires_at for the new secret."""

    operations = (ROLL,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        *older, newest = resource["secrets"]
        if len(older) < 2:
            return resource
        return {**resource, "secrets": [*older, {**newest, "expires_at": older[-1]["expires_at"]}]}


@fault(
    "default_expiration",
    shows_in=SHOWN,
    where=lambda dialect: "expiration" not in dialect.requests.expire_endpoint_secret_requires,
)
class DefaultExpirationNotShown(AlteredResponses):
    """The response to a roll without expiration shows no expires_at for the old secret."""

    operations = (ROLL,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        if "expiration" in call.body:
            return resource
        *older, old, new = resource["secrets"]
        return {**resource, "secrets": [*older, {**old, "expires_at": None}, new]}


@fault(
    "expired_secret_shown",
    seen="a job that cleans up, or one that was forgotten",
    shows_in=["roll_answers"],
    where=lambda dialect: dialect.representation.expired_secrets.decided,
)
class ExpiredSecretsMistaken(ResponseSerializer):
    """Expired secrets are left out where the dialect shows them, and the reverse."""

    def __init__(self, contract: Contract, dialect: Dialect, clock: Callable[[], float]) -> None:
        super().__init__(contract, dialect, clock)
        self._lists_expired = not self._lists_expired
