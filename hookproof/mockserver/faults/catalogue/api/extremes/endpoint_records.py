"""Records of endpoints in portal links and events, and times of events (2.6, 2.8 and 4.8)."""

from typing import Any, Final

from hookproof.mockserver.api.service import OperationCall
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_responses import (
    BROADCAST,
    ON_PORTAL_LINKS,
    AlteredResponses,
    Object,
    has_value,
)
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import EventEcho

SHOWN: Final = ("endpoint_records",)


def acknowledgements_are_shown(dialect: Dialect) -> bool:
    return dialect.representation.event_acknowledged_at.prefers(EventEcho.SENT)


def _shortened(record: Object) -> Object:
    if not has_value(record, "description"):
        return record
    return {**record, "description": record["description"][:8]}


@fault(
    "record_as_fetched@getEndpoint.endpoints_metadata",
    seen="a preview that took the place of the record",
    shows_in=SHOWN,
)
class DescriptionsShortenedInLists(AlteredResponses):
    """The endpoints in a portal link show the first eight characters of their description."""

    operations = ON_PORTAL_LINKS

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        records: list[Any] = resource.get("endpoints_metadata") or []
        return {**resource, "endpoints_metadata": [_shortened(record) for record in records]}


@fault(
    "record_as_fetched@getEndpoint.endpoint_metadata",
    seen="a copy with the defaults of a new endpoint",
    shows_in=SHOWN,
)
class EventsShowOneTimeout(AlteredResponses):
    """The endpoints in an event show an http_timeout of 7 seconds, whatever they have."""

    operations = (BROADCAST,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        records: list[Any] = resource.get("endpoint_metadata") or []
        return {
            **resource,
            "endpoint_metadata": [{**record, "http_timeout": 7} for record in records],
        }


@fault(
    "echoed@createBroadcastEvent.acknowledged_at",
    seen="a time that the service sets after all",
    shows_in=["broadcast_answers"],
    where=acknowledgements_are_shown,
)
class AcknowledgedWhenCreated(AlteredResponses):
    """An event shows the time of its creation as acknowledged_at."""

    operations = (BROADCAST,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        if not has_value(call.body, "acknowledged_at"):
            return resource
        return {**resource, "acknowledged_at": resource["created_at"]}
