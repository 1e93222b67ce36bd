"""Bases of faults that alter successful responses."""

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from hookproof.mockserver.api.request_pipeline import RequestPipeline
from hookproof.mockserver.api.service import OperationCall, OperationResult

Json = Any
Object = dict[str, Any]

CREATE_ENDPOINT = "createEndpoint"
GET_ENDPOINT = "getEndpoint"
ROLL = "expireEndpointSecret"
LIST_PORTAL_LINKS = "listPortalLinks"
GET_PORTAL_LINK = "getPortalLink"
UPDATE_PORTAL_LINK = "updatePortalLink"
LIST_SOURCES = "listSources"
BROADCAST = "createBroadcastEvent"

# The operations whose answer shows what was sent and nothing older.
CREATIONS = (CREATE_ENDPOINT, BROADCAST)
ON_ENDPOINTS = (CREATE_ENDPOINT, GET_ENDPOINT, ROLL)
ON_PORTAL_LINKS = (LIST_PORTAL_LINKS, GET_PORTAL_LINK, UPDATE_PORTAL_LINK)
LISTS = (LIST_PORTAL_LINKS, LIST_SOURCES)


class AlteredResponses(RequestPipeline):
    """Alters the envelope of each successful response to `operations`."""

    operations: ClassVar[tuple[str, ...]] = ()

    def _perform(self, call: OperationCall) -> OperationResult:
        result = super()._perform(call)
        if call.operation.operation_id not in self.operations:
            return result
        envelope = self.alter_envelope(call, msgspec.json.decode(result.body))
        return OperationResult(status=result.status, body=msgspec.json.encode(envelope))

    def alter_envelope(self, call: OperationCall, envelope: Object) -> Json:
        return {**envelope, "data": self.alter_data(call, envelope["data"])}

    def alter_data(self, call: OperationCall, data: Object) -> Json:
        if call.operation.operation_id in LISTS:
            return {
                **data,
                "content": [self.alter_resource(call, item) for item in data["content"]],
            }
        return self.alter_resource(call, data)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return resource


class AlteredRecords(AlteredResponses):
    """Alters each endpoint that the answers to `operations` show, be it in a portal link or an
    event: what is wrong with it is wrong wherever it is shown, and all records agree.
    """

    operations: ClassVar[tuple[str, ...]] = (*ON_ENDPOINTS, *ON_PORTAL_LINKS, BROADCAST)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        operation_id = call.operation.operation_id
        if operation_id in ON_ENDPOINTS:
            return self.alter_endpoint(resource)
        member = "endpoint_metadata" if operation_id == BROADCAST else "endpoints_metadata"
        records = resource.get(member) or []
        return (
            {**resource, member: list(map(self.alter_endpoint, records))} if records else resource
        )

    def alter_endpoint(self, endpoint: Object) -> Object:
        return endpoint


class AlteredSources(AlteredResponses):
    """Alters each source in the lists of them, and the one that an event names."""

    operations: ClassVar[tuple[str, ...]] = (LIST_SOURCES, BROADCAST)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        if call.operation.operation_id == LIST_SOURCES:
            return self.alter_source(resource)
        source = resource.get("source_metadata")
        return {**resource, "source_metadata": self.alter_source(source)} if source else resource

    def alter_source(self, source: Object) -> Object:
        return source


class SwappedStatus(RequestPipeline):
    """Responds to the operations in `instead` with the success status of the one beside them."""

    instead: ClassVar[dict[str, str]] = {}

    def _perform(self, call: OperationCall) -> OperationResult:
        result = super()._perform(call)
        other = self.instead.get(call.operation.operation_id)
        if other is None or result.status != call.operation.success.value:
            return result
        return OperationResult(
            status=self._contract.operations[other].success.value, body=result.body
        )


def has_value(body: Mapping[str, Any], name: str) -> bool:
    """Whether a request body has a value for a field."""
    return body.get(name) not in (None, "")
