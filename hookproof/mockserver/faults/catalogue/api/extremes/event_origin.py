"""What events show of a broadcast and where it came from, and their headers (section 2.8)."""

import json
from typing import Final

import msgspec

from hookproof.mockserver.api.handlers.events import EventHandlers
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.faults.catalogue.api.events import headers_are_shown
from hookproof.mockserver.faults.catalogue.api.extremes.endpoint_records import (
    acknowledgements_are_shown,
)
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_responses import (
    BROADCAST,
    AlteredResponses,
    Object,
)
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import EventApplication, EventQuery, EventRaw, EventSource

SHOWN: Final = ("broadcast_answers",)


def raw_holds_the_payload(dialect: Dialect) -> bool:
    return dialect.representation.event_raw.prefers(EventRaw.PAYLOAD)


def a_source_is_named(dialect: Dialect) -> bool:
    return dialect.representation.event_source.prefers(EventSource.LISTED)


def the_project_is_the_application(dialect: Dialect) -> bool:
    return dialect.representation.event_application.prefers(EventApplication.PROJECT)


def the_query_is_shown(dialect: Dialect) -> bool:
    return dialect.representation.event_query.prefers(EventQuery.REQUEST)


@fault(
    "raw_meaning",
    seen="a text that was serialised once more",
    shows_in=SHOWN,
    where=raw_holds_the_payload,
)
class RawEncodedTwice(AlteredResponses):
    """The raw of an event is the JSON text of a string that holds the payload."""

    operations = (BROADCAST,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "raw": json.dumps(resource["raw"])}


@fault("shown_or_not@createBroadcastEvent.headers", shows_in=SHOWN, where=headers_are_shown)
class HeadersLeftOut(AlteredResponses):
    """The headers of an event have no value."""

    operations = (BROADCAST,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "headers": None}


@fault(
    "shown_or_not@createBroadcastEvent.acknowledged_at",
    shows_in=SHOWN,
    where=acknowledgements_are_shown,
)
class AcknowledgementLeftOut(AlteredResponses):
    """The acknowledged_at of an event has no value."""

    operations = (BROADCAST,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "acknowledged_at": None}


@fault("source_named", seen="an id of another table", shows_in=SHOWN, where=a_source_is_named)
class SourceIdOfTheEvent(AlteredResponses):
    """An event shows its own uid as source_id, beside the record of its source."""

    operations = (BROADCAST,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "source_id": resource["uid"]}


@fault(
    "source_named",
    seen="a copy from when the service started",
    shows_in=SHOWN,
    where=a_source_is_named,
)
class FormerSourceName(AlteredResponses):
    """An event shows its source under a name that it no longer has."""

    operations = (BROADCAST,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        source = resource["source_metadata"]
        return {**resource, "source_metadata": {**source, "name": f"{source['name']}, formerly"}}


@fault("application_named", shows_in=SHOWN, where=the_project_is_the_application)
class ApplicationLeftOut(AlteredResponses):
    """The app_id of an event has no value."""

    operations = (BROADCAST,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "app_id": None}


@fault(
    "query_shown",
    seen="a parameter that was read and written by hand",
    shows_in=SHOWN,
    where=the_query_is_shown,
)
class QueryCutAtTheFirstParameter(AlteredResponses):
    """The url_query_params of an event end after the first parameter."""

    operations = (BROADCAST,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        query = resource["url_query_params"] or ""
        return {**resource, "url_query_params": query.partition("&")[0] or None}


@fault("header_text", seen="a text made fit for a header without a word", shows_in=["refusals"])
class HeadersMadeToFit(EventHandlers):
    """In the values of custom headers, what is not ASCII becomes a question mark."""

    def create_broadcast(self, call: OperationCall) -> OperationResult:
        headers = call.body.get("custom_headers", {})
        fitting = {
            name: value.encode("ascii", "replace").decode() if isinstance(value, str) else value
            for name, value in headers.items()
        }
        body = {**call.body, "custom_headers": fitting} if headers else call.body
        return super().create_broadcast(msgspec.structs.replace(call, body=body))
