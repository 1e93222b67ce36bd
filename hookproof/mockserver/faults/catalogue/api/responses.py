"""Responses with a wrong envelope, a wrong status of success or values in a wrong form."""

import re
from collections.abc import Callable
from typing import Any, ClassVar

from hookproof.mockserver.api.request_pipeline import RequestPipeline
from hookproof.mockserver.api.response import ApiResponse
from hookproof.mockserver.api.serialization.response_serializer import ResponseSerializer
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_responses import (
    BROADCAST,
    CREATE_ENDPOINT,
    GET_ENDPOINT,
    GET_PORTAL_LINK,
    LIST_PORTAL_LINKS,
    LIST_SOURCES,
    ON_ENDPOINTS,
    ON_PORTAL_LINKS,
    ROLL,
    UPDATE_PORTAL_LINK,
    AlteredRecords,
    AlteredResponses,
    Json,
    Object,
    SwappedStatus,
)
from hookproof.mockserver.faults.support.misread_dialect import misread_dialect
from hookproof.spec.contract.service_contract import Contract
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import NoValue


@fault("present@listSources")
class BarePage(AlteredResponses):
    """The list of sources comes without the envelope around it."""

    operations = (LIST_SOURCES,)

    def alter_envelope(self, call: OperationCall, envelope: Object) -> Json:
        return envelope["data"]


@fault("present@getEndpoint.envelope.message", shows_in=["portal_links"])
class NullMessage(AlteredResponses):
    """The message of a retrieved portal link is null."""

    operations = (GET_PORTAL_LINK,)

    def alter_envelope(self, call: OperationCall, envelope: Object) -> Json:
        return {**envelope, "message": None}


@fault("present@getEndpoint.envelope.status", shows_in=["broadcast_answers"])
class StatusInWords(AlteredResponses):
    """The success flag of a broadcast is the string "success"."""

    operations = (BROADCAST,)

    def alter_envelope(self, call: OperationCall, envelope: Object) -> Json:
        return {**envelope, "status": "success"}


@fault("flag_true", shows_in=["portal_links"])
class SuccessFlaggedAsFailure(AlteredResponses):
    """An update that succeeded is flagged as unsuccessful."""

    operations = (UPDATE_PORTAL_LINK,)

    def alter_envelope(self, call: OperationCall, envelope: Object) -> Json:
        return {**envelope, "status": False}


@fault(
    "present@getEndpoint.envelope.data present@listSources.content present@listSources.pagination"
    " present@listSources.pagination.has_next_page present@listSources.pagination.has_prev_page"
    " present@listSources.pagination.per_page",
    seen="a literal 200 in data",
)
class StatusCodeAsData(AlteredResponses):
    """The data of a list of sources is the HTTP status code."""

    operations = (LIST_SOURCES,)

    def alter_envelope(self, call: OperationCall, envelope: Object) -> Json:
        return {**envelope, "data": call.operation.success.value}


@fault("json_body", shows_in=["round_trip"])
class TwoDocuments(RequestPipeline):
    """A fetched endpoint is followed by a second JSON document."""

    def _perform(self, call: OperationCall) -> OperationResult:
        result = super()._perform(call)
        more = b"\n{}" if call.operation.operation_id == GET_ENDPOINT else b""
        return OperationResult(status=result.status, body=result.body + more)


@fault(
    "media_type",
    seen="a proxy that declares every body as plain text",
    shows_in=["broadcast_answers"],
)
class PlainText(RequestPipeline):
    """JSON is declared as plain text."""

    def _to_response(self, result: OperationResult) -> ApiResponse:
        return ApiResponse(result.status, result.body, media_type="text/plain")


@fault(
    "success_status@createEndpoint success_status@createBroadcastEvent duplicate_answered",
    shows_in=["round_trip", "broadcast_answers", "idempotency"],
)
class CreatedIsOk(SwappedStatus):
    """A creation has the status of a fetch."""

    instead: ClassVar = {CREATE_ENDPOINT: GET_ENDPOINT, BROADCAST: GET_ENDPOINT}


@fault("success_status@updatePortalLink", shows_in=["portal_links"])
class AcceptedIsOk(SwappedStatus):
    """An update has the status of a fetch."""

    instead: ClassVar = {UPDATE_PORTAL_LINK: GET_PORTAL_LINK}


@fault(
    "success_status@getEndpoint success_status@expireEndpointSecret success_status@lists"
    " success_status@getPortalLink",
    shows_in=["roll_answers", "portal_links", "isolation"],
)
class OkIsCreated(SwappedStatus):
    """A fetch, a list or a roll has the status of a creation."""

    instead: ClassVar = dict.fromkeys(
        (GET_ENDPOINT, ROLL, LIST_PORTAL_LINKS, GET_PORTAL_LINK, LIST_SOURCES), CREATE_ENDPOINT
    )


@fault("no_value_form", shows_in=["round_trip"])
class OtherFormOfNoValue(ResponseSerializer):
    """A missing value is left out where the dialect shows it, and null where it leaves it out."""

    def __init__(self, contract: Contract, dialect: Dialect, clock: Callable[[], float]) -> None:
        right = dialect.representation.no_value.value
        wrong = NoValue.NULL if right is NoValue.ABSENT else NoValue.ABSENT
        misread = misread_dialect(dialect, "representation.no_value", wrong)
        super().__init__(contract, misread, clock)


@fault(
    # In a portal link it is a number.
    "typed@endpoints record_as_fetched@getPortalLink",
    seen="counters that went through a text column",
    shows_in=["roll_answers", "endpoint_records"],
)
class CountAsText(AlteredResponses):
    """The count of events of an endpoint is a string."""

    operations = ON_ENDPOINTS

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "events": str(resource["events"])}


@fault("typed@portal_links", shows_in=["portal_links"])
class EndpointCountAsText(AlteredResponses):
    """The endpoint_count of a portal link is a string."""

    operations = ON_PORTAL_LINKS

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "endpoint_count": str(resource["endpoint_count"])}


@fault("typed@listSources", shows_in=["isolation"])
class HeadersInOneText(AlteredResponses):
    """The forward_headers of a source are one string with commas."""

    operations = (LIST_SOURCES,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {
            **resource,
            "forward_headers": ",".join(resource.get("forward_headers") or ["none"]),
        }


@fault("typed@createBroadcastEvent", shows_in=["broadcast_answers"])
class MetadataAsObject(AlteredResponses):
    """The metadata of an event is an object."""

    operations = (BROADCAST,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "metadata": {}}


def _with_secret_members(resource: Object, **members: Any) -> Object:
    return {**resource, "secrets": [{**secret, **members} for secret in resource["secrets"]]}


@fault("secret_texts", seen="an integer zero for no time", shows_in=["roll_answers"])
class ZeroForNoTime(AlteredRecords):
    """The deleted_at of a secret is the number 0."""

    def alter_endpoint(self, endpoint: Object) -> Object:
        return _with_secret_members(endpoint, deleted_at=0)


@fault("identifier_form", shows_in=["roll_answers"])
class PrefixedIdentifier(AlteredRecords):
    """The identifiers of secrets have a prefix that other identifiers do not have."""

    def alter_endpoint(self, endpoint: Object) -> Object:
        return {
            **endpoint,
            "secrets": [
                {**secret, "uid": f"sec_{secret['uid']}"} for secret in endpoint["secrets"]
            ],
        }


@fault(
    "identifier_form",
    shows_in=["roll_answers"],
    where=lambda dialect: "Secret" in dialect.representation.identifier_of,
)
class IdentifierWithoutItsPrefix(AlteredRecords):
    """The identifiers of secrets lack what they begin with by their pattern."""

    def alter_endpoint(self, endpoint: Object) -> Object:
        return {
            **endpoint,
            "secrets": [{**secret, "uid": secret["uid"][4:]} for secret in endpoint["secrets"]],
        }


@fault(
    "timestamp_form created_before_updated",
    seen="timestamps that do not survive a round trip",
    shows_in=["portal_links"],
)
class CutTimestamp(AlteredResponses):
    """The updated_at of a portal link lacks its last three characters."""

    operations = ON_PORTAL_LINKS

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "updated_at": resource["updated_at"][:-3]}


@fault("created_before_updated", shows_in=["portal_links"])
class UpdatedBeforeCreated(AlteredResponses):
    """The updated_at of a portal link that was never updated is in 1970."""

    operations = (LIST_PORTAL_LINKS, GET_PORTAL_LINK)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        if resource["updated_at"] != resource["created_at"]:
            return resource
        zeros = re.sub(r"\d", "0", resource["updated_at"])
        return {**resource, "updated_at": zeros.replace("0000-00-00", "1970-01-01")}


@fault(
    "created_once",
    seen="an upsert that stamps created_at again",
    shows_in=["portal_links"],
)
class CreatedAgain(AlteredResponses):
    """The answer to an update shows the time of the update as created_at."""

    operations = (UPDATE_PORTAL_LINK,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "created_at": resource["updated_at"]}
