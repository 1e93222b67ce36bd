"""The envelope, the statuses of success and the forms of values: right in effect, wrong in what is
said.
"""

from typing import Any, ClassVar

from hookproof.mockserver.api.handlers.portal_links import PortalLinkHandlers
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
    Json,
    Object,
    SpoiltAnswers,
)
from hookproof.mockserver.faults.support.misread_dialect import mistaken
from hookproof.spec.contract.service_contract import Contract
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import NoValue


@fault("2.1-2", "2.1-3", "2.1-5", "2.2-1", "2.2-2", "2.2-3", "2.2-4", "2.2-5")
class BarePage(SpoiltAnswers):
    """The list of sources comes without the envelope around it."""

    operations = (LIST_SOURCES,)

    def spoilt(self, call: OperationCall, envelope: Object) -> Json:
        """The page alone."""
        return envelope["data"]


@fault("2.1-2", shows_in=["portal_links"])
class NullMessage(SpoiltAnswers):
    """The message of a retrieved portal link is null."""

    operations = (GET_PORTAL_LINK,)

    def spoilt(self, call: OperationCall, envelope: Object) -> Json:
        """No message."""
        return {**envelope, "message": None}


@fault("2.1-3", shows_in=["broadcast_answers"])
class StatusInWords(SpoiltAnswers):
    """The success flag of a broadcast is the text "success"."""

    operations = (BROADCAST,)

    def spoilt(self, call: OperationCall, envelope: Object) -> Json:
        """A word for a boolean."""
        return {**envelope, "status": "success"}


@fault("2.1-4", shows_in=["portal_links"])
class SuccessFlaggedAsFailure(SpoiltAnswers):
    """An update that succeeded is flagged as unsuccessful."""

    operations = (UPDATE_PORTAL_LINK,)

    def spoilt(self, call: OperationCall, envelope: Object) -> Json:
        """The opposite."""
        return {**envelope, "status": False}


@fault("2.1-5", "2.2-1", "2.2-2", "2.2-3", "2.2-4", "2.2-5", seen="a literal 200 in data")
class StatusCodeAsData(SpoiltAnswers):
    """The data of a list of sources is the number of its status."""

    operations = (LIST_SOURCES,)

    def spoilt(self, call: OperationCall, envelope: Object) -> Json:
        """A number for a page."""
        return {**envelope, "data": call.operation.success.value}


@fault("2.1-1", shows_in=["round_trip"])
class TwoDocuments(RequestPipeline):
    """A fetched endpoint is followed by a second JSON document."""

    def _perform(self, call: OperationCall) -> OperationResult:
        reply = super()._perform(call)
        more = b"\n{}" if call.operation.operation_id == GET_ENDPOINT else b""
        return OperationResult(status=reply.status, body=reply.body + more)


@fault(
    "2.1-6", seen="a proxy that declares every body as plain text", shows_in=["broadcast_answers"]
)
class PlainText(RequestPipeline):
    """JSON is declared as plain text."""

    def _to_response(self, reply: OperationResult) -> ApiResponse:
        return ApiResponse(reply.status, reply.body, media_type="text/plain")


class AnsweredAs(RequestPipeline):
    """Answers some operations with the status that another one has."""

    instead: ClassVar[dict[str, str]] = {}

    def _perform(self, call: OperationCall) -> OperationResult:
        reply = super()._perform(call)
        other = self.instead.get(call.operation.operation_id)
        if other is None or reply.status != call.operation.success.value:
            return reply
        return OperationResult(
            status=self._contract.operations[other].success.value, body=reply.body
        )


@fault("4.1-2", "4.8-2", also=["4.8-8"], shows_in=["round_trip", "broadcast_answers"])
class CreatedIsOk(AnsweredAs):
    """What was created is answered with the status of a fetch."""

    instead: ClassVar = {CREATE_ENDPOINT: GET_ENDPOINT, BROADCAST: GET_ENDPOINT}


@fault("4.6-2", shows_in=["portal_links"])
class AcceptedIsOk(AnsweredAs):
    """An update is answered with the status of a fetch."""

    instead: ClassVar = {UPDATE_PORTAL_LINK: GET_PORTAL_LINK}


@fault(
    "4.2-2",
    "4.3-8",
    "4.4-2",
    "4.5-2",
    "4.7-2",
    shows_in=["roll_answers", "portal_links", "isolation"],
)
class OkIsCreated(AnsweredAs):
    """What was fetched or rolled is answered with the status of a creation."""

    instead: ClassVar = dict.fromkeys(
        (GET_ENDPOINT, ROLL, LIST_PORTAL_LINKS, GET_PORTAL_LINK, LIST_SOURCES), CREATE_ENDPOINT
    )


@fault("2.9-3", shows_in=["round_trip"])
class OtherFormOfNoValue(ResponseSerializer):
    """Fields without value are left out where the dialect shows null, and shown as null where it
    leaves them out.
    """

    def __init__(self, contract: Contract, dialect: Dialect) -> None:
        right = dialect.representation.no_value.value
        wrong = NoValue.NULL if right is NoValue.ABSENT else NoValue.ABSENT
        super().__init__(contract, mistaken(dialect, "representation.no_value", wrong))


@fault(
    "4.1-3",
    "4.2-3",
    "4.3-9",
    seen="counters that went through a text column",
    shows_in=["roll_answers"],
)
class CountAsText(SpoiltAnswers):
    """The count of events of an endpoint is a text."""

    operations = ON_ENDPOINTS

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """A text of digits."""
        return {**resource, "events": str(resource["events"])}


@fault("4.4-3", "4.5-3", "4.6-3", shows_in=["portal_links"])
class EndpointCountAsText(SpoiltAnswers):
    """The endpoint_count of a portal link is a text."""

    operations = ON_PORTAL_LINKS

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """A text of digits."""
        return {**resource, "endpoint_count": str(resource["endpoint_count"])}


@fault("4.7-3", shows_in=["isolation"])
class HeadersInOneText(SpoiltAnswers):
    """The forward_headers of a source are one text with commas."""

    operations = (LIST_SOURCES,)

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """A text for a list."""
        return {
            **resource,
            "forward_headers": ",".join(resource.get("forward_headers") or ["none"]),
        }


@fault("4.8-3", shows_in=["broadcast_answers"])
class MetadataAsObject(SpoiltAnswers):
    """The metadata of an event is an object."""

    operations = (BROADCAST,)

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """An object for a text."""
        return {**resource, "metadata": {}}


def _secrets_changed(resource: Object, **members: Any) -> Object:
    return {**resource, "secrets": [{**one, **members} for one in resource["secrets"]]}


@fault("2.4-1", seen="an integer zero for no time", shows_in=["roll_answers"])
class ZeroForNoTime(SpoiltAnswers):
    """The deleted_at of a secret is the number 0."""

    operations = ON_ENDPOINTS

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """A number for a text."""
        return _secrets_changed(resource, deleted_at=0)


@fault("2.9-1", shows_in=["roll_answers"])
class PrefixedIdentifier(SpoiltAnswers):
    """The identifiers of secrets have a prefix that others have not."""

    operations = ON_ENDPOINTS

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """A word before each."""
        return {
            **resource,
            "secrets": [{**one, "uid": f"sec_{one['uid']}"} for one in resource["secrets"]],
        }


@fault(
    "2.9-2", "2.9-12", seen="timestamps that do not survive a round trip", shows_in=["portal_links"]
)
class CutTimestamp(SpoiltAnswers):
    """The updated_at of a portal link lacks its last characters: its zone, or its milliseconds."""

    operations = ON_PORTAL_LINKS

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """Three characters less."""
        return {**resource, "updated_at": resource["updated_at"][:-3]}


@fault("2.9-12", shows_in=["portal_links"])
class UpdatedBeforeCreated(SpoiltAnswers):
    """The updated_at of a portal link that was never updated is that of the epoch."""

    operations = (LIST_PORTAL_LINKS, GET_PORTAL_LINK)

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """Digits, but for the first, are those of the epoch."""
        epoch = "".join("0" if one.isdigit() else one for one in resource["updated_at"])
        if resource["updated_at"] != resource["created_at"]:
            return resource
        return {**resource, "updated_at": epoch.replace("0000-00-00", "1970-01-01")}


@fault(
    "2.9-13",
    also=["4.4-15"],
    seen="an upsert that stamps created_at again",
    shows_in=["portal_links"],
)
class CreatedAgain(PortalLinkHandlers):
    """An update sets created_at anew."""

    def _apply_update(self, row: Any, body: Any) -> dict[str, Any]:
        record = super()._apply_update(row, body)
        return {**record, "created_at": record["updated_at"]}
