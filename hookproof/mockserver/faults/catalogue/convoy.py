"""What Convoy does against the document, beside advanced signatures by default (docs/convoy.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from hookproof.mockserver.api.api_keys import ApiKeys
from hookproof.mockserver.api.errors import ApiError, ErrorResponses
from hookproof.mockserver.api.handlers.endpoints import EndpointHandlers
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.delivery.attempt.headers import Headers
from hookproof.mockserver.delivery.attempt.signing import Signer
from hookproof.mockserver.delivery.store_port import EndpointSettings, PendingDelivery
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_responses import (
    BROADCAST,
    AlteredResponses,
    Json,
    Object,
)
from hookproof.mockserver.faults.support.misread_dialect import misread_dialect
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import KeyScope


@fault(
    "present@getEndpoint.envelope.data",
    seen="a queue that makes the event later",
    shows_in=["broadcast_answers"],
)
class EventsWithoutData(AlteredResponses):
    """The data of the answer to a broadcast is null."""

    operations = (BROADCAST,)

    def alter_envelope(self, call: OperationCall, envelope: Object) -> Json:
        return {**envelope, "data": None}


def has_one_status_for_the_unknown(dialect: Dialect) -> bool:
    errors = dialect.errors
    rolls = errors.status("unknown_resource", "expireEndpointSecret")
    return rolls.value != errors.status("invalid_value", "expireEndpointSecret").value


@fault(
    "unknown_resource@expireEndpointSecret",
    shows_in=["refusals"],
    where=has_one_status_for_the_unknown,
)
class UnknownRollIsInvalid(ErrorResponses):
    """A roll of an unknown endpoint gets the status for an invalid value, unlike other requests."""

    def of_operation(self, error: ApiError, operation_id: str) -> ApiError:
        error = super().of_operation(error, operation_id)
        if (error.refusal, operation_id) != ("unknown_resource", "expireEndpointSecret"):
            return error
        return replace(error, status=self.errors.status("invalid_value", operation_id).value)


@fault(
    "own_project application_named unknown_project foreign_key",
    seen="a key that names its project, beside a path that does too",
    shows_in=["access"],
    where=lambda dialect: dialect.authentication.key_scope.value is KeyScope.PROJECT,
)
class KeyDecidesTheProject(ApiKeys):
    """A key opens its own project under every path; the project in the path is not looked at."""

    @classmethod
    def of(
        cls, projects: Mapping[str, Sequence[str]], dialect: Dialect, errors: ErrorResponses
    ) -> ApiKeys:
        misread = misread_dialect(dialect, "authentication.key_scope", KeyScope.KEY_DECIDES)
        return super().of(projects, misread, errors)


@fault("disabled_shown disabled_receives not_reached", shows_in=["round_trip", "fan_out"])
class DisabledIgnored(EndpointHandlers):
    """An endpoint created with is_disabled is active, and receives."""

    def create(self, call: OperationCall) -> OperationResult:
        body: Mapping[str, Any] = {
            name: value for name, value in call.body.items() if name != "is_disabled"
        }
        return super().create(msgspec.structs.replace(call, body=body))


@fault(
    "signed_simple signed_advanced advanced_layout",
    seen="compact JSON signed, spaced JSON sent",
    shows_in=["signing"],
)
class CompactFormSigned(Signer):
    """The compact form of a JSON body is signed, whatever spaces are sent."""

    def headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, now: float, body: bytes
    ) -> Headers:
        if endpoint.content_type.endswith("json"):
            body = msgspec.json.format(body, indent=-1)
        return super().headers(delivery, endpoint, now, body)
