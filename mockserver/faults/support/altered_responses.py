"""What faults of single answers have in common: a successful answer is taken apart, changed and put
together again.
"""

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

ON_ENDPOINTS = (CREATE_ENDPOINT, GET_ENDPOINT, ROLL)
ON_PORTAL_LINKS = (LIST_PORTAL_LINKS, GET_PORTAL_LINK, UPDATE_PORTAL_LINK)
LISTS = (LIST_PORTAL_LINKS, LIST_SOURCES)


class SpoiltAnswers(RequestPipeline):
    """Changes the envelope of each successful answer to the named operations."""

    operations: ClassVar[tuple[str, ...]] = ()

    def _perform(self, call: OperationCall) -> OperationResult:
        reply = super()._perform(call)
        if call.operation.operation_id not in self.operations:
            return reply
        envelope = self.spoilt(call, msgspec.json.decode(reply.body))
        return OperationResult(status=reply.status, body=msgspec.json.encode(envelope))

    def spoilt(self, call: OperationCall, envelope: Object) -> Json:
        """What is answered instead of the envelope."""
        return {**envelope, "data": self.spoilt_data(call, envelope["data"])}

    def spoilt_data(self, call: OperationCall, data: Object) -> Json:
        """What stands for the data instead."""
        if call.operation.operation_id in LISTS:
            return {**data, "content": [self.spoilt_resource(call, one) for one in data["content"]]}
        return self.spoilt_resource(call, data)

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """What stands for each resource instead."""
        return resource


def given(body: Mapping[str, Any], name: str) -> bool:
    """Whether a request gives a field a value."""
    return body.get(name) not in (None, "")
