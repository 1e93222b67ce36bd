"""Responses to broadcasts, and which events are duplicates (sections 2.8, 4.8 and 6)."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.handlers.events import EventHandlers
from hookproof.mockserver.api.service import ApiService, OperationCall, OperationResult
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_responses import (
    BROADCAST,
    AlteredResponses,
    Object,
)
from hookproof.mockserver.faults.support.misread_dialect import misread_service
from hookproof.mockserver.store.endpoints import EndpointRow
from hookproof.mockserver.store.events import EventRow, EventTable, NewEvent
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Duplicate, EventEcho

SHOWN: Final = ("broadcast_answers",)
KEYS: Final = ("idempotency",)


def keys_are_optional(dialect: Dialect) -> bool:
    return "idempotency_key" not in dialect.requests.create_broadcast_event_requires


def headers_are_shown(dialect: Dialect) -> bool:
    return dialect.representation.event_headers.prefers(EventEcho.SENT)


class AlteredEvents(AlteredResponses):
    operations = (BROADCAST,)


@fault("filled@createBroadcastEvent.uid identifier_form", shows_in=SHOWN)
class EventWithoutUid(AlteredEvents):
    """An event has an empty uid."""

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "uid": ""}


@fault("bytes_shown typed@createBroadcastEvent", seen="bytes as base64", shows_in=SHOWN)
class DataAsText(AlteredEvents):
    """The data of an event is a string."""

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "data": bytes(resource["data"]).decode()}


@fault("bytes_shown", seen="signed bytes", shows_in=SHOWN)
class SignedBytes(AlteredEvents):
    """The bytes in an event's data range from -128 to 127."""

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {
            **resource,
            "data": [byte - 256 if byte >> 7 else byte for byte in resource["data"]],
        }


@fault("data_shown", shows_in=SHOWN)
class NullsDropped(AlteredEvents):
    """Members that are null are missing in the data of an event."""

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        kept = _without_null(msgspec.json.decode(bytes(resource["data"])))
        return {**resource, "data": list(msgspec.json.encode(kept))}


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_null(member) for name, member in value.items() if member is not None}
    return [_without_null(item) for item in value] if isinstance(value, list) else value


@fault("headers_shown", shows_in=SHOWN, where=headers_are_shown)
class OwnHeadersAlone(AlteredEvents):
    """The headers of an event hold only a Content-Type."""

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "headers": {"Content-Type": "application/json"}}


@fault("targets_recorded", shows_in=["fan_out"])
class RecordsOfTheFirst(AlteredEvents):
    """Every record in endpoint_metadata of an event is that of its first endpoint."""

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        records = resource["endpoint_metadata"]
        return {**resource, "endpoint_metadata": [records[0]] * len(records) if records else []}


@fault("targets_reached targets_recorded", shows_in=["fan_out"])
class TargetsForgotten(AlteredEvents):
    """An event that reaches several endpoints names only the first."""

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "endpoints": resource["endpoints"][:1]}


@fault("targets_reached", shows_in=["fan_out"])
class TargetsAfterTwoForgotten(AlteredEvents):
    """An event that reaches several endpoints names and shows only the first two."""

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {
            **resource,
            **{name: resource[name][:2] for name in ("endpoints", "endpoint_metadata")},
        }


@fault(
    "echoed@createBroadcastEvent.event_type echoed@createBroadcastEvent.idempotency_key",
    shows_in=SHOWN,
)
class TypeAndKeyInCapitals(AlteredEvents):
    """An event shows its event_type and its idempotency_key in upper case."""

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        names = [name for name in ("event_type", "idempotency_key") if resource.get(name)]
        return {**resource, **{name: resource[name].upper() for name in names}}


@fault("acknowledged_at_taken", shows_in=SHOWN)
class AcknowledgedAtRefused(EventHandlers):
    """A broadcast with acknowledged_at is refused."""

    def create_broadcast(self, call: OperationCall) -> OperationResult:
        if "acknowledged_at" in call.body:
            raise self._service.errors.invalid("/acknowledged_at: is set by the service")
        return super().create_broadcast(call)


@fault("any_data_taken succeeds@createBroadcastEvent", shows_in=SHOWN)
class EmptyDataRefused(EventHandlers):
    """A broadcast whose data is an empty object is refused."""

    def create_broadcast(self, call: OperationCall) -> OperationResult:
        if call.payload == b"{}":
            raise self._service.errors.invalid("/data: is required")
        return super().create_broadcast(call)


@fault(
    "present@createBroadcastEvent.status listed_word@createBroadcastEvent.status"
    " typed@createBroadcastEvent",
    shows_in=SHOWN,
)
class StatusAsNumber(AlteredEvents):
    """The status of an event is a number."""

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "status": 1}


@fault("listed_word@createBroadcastEvent.status", shows_in=SHOWN, where=keys_are_optional)
class UnknownEventStatus(AlteredEvents):
    """A created event shows a status that the dialect does not list."""

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "status": f"{resource['status']}ed"}


@fault(
    "present@createBroadcastEvent.is_duplicate_event first_no_duplicate"
    " typed@createBroadcastEvent duplicate_answered",
    shows_in=[*SHOWN, *KEYS],
)
class FlagInWords(AlteredEvents):
    """is_duplicate_event is a string."""

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "is_duplicate_event": str(resource["is_duplicate_event"]).lower()}


@fault(
    "keyless_no_duplicate",
    where=keys_are_optional,
    shows_in=[*SHOWN, *KEYS],
)
class KeylessFlagged(AlteredEvents):
    """An event without an idempotency_key is flagged as a duplicate."""

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        if resource.get("idempotency_key"):
            return resource
        return {**resource, "is_duplicate_event": True}


@fault(
    "first_no_duplicate duplicate_answered other_keys_differ keys_by_project",
    shows_in=[*SHOWN, *KEYS],
)
class KeyedFlagged(AlteredEvents):
    """Every event with an idempotency_key is flagged as a duplicate."""

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        if not resource.get("idempotency_key"):
            return resource
        return {**resource, "is_duplicate_event": True}


@fault(
    "unique@createBroadcastEvent.uid identifier_form other_keys_differ",
    seen="a hash of the content",
    shows_in=KEYS,
    where=keys_are_optional,
)
class UidOfTheProject(AlteredEvents):
    """All events of a project with a key and the same data have the same uid."""

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        if not resource.get("idempotency_key"):
            return resource
        digest = sha256(bytes(resource["data"])).hexdigest()
        length = len(resource["uid"])
        return {**resource, "uid": f"{digest}{resource['project_id']}"[-length:]}


@fault(
    "duplicate_answered duplicate_undelivered",
    seen="sent twice after the client timed out",
    shows_in=["idempotency", "repeats"],
)
class KeysForgotten(EventTable):
    """An idempotency_key is forgotten: a second event with it counts as new."""

    def find_original(self, project: str, key: str) -> EventRow | None:
        return None

    def add(self, event: NewEvent, *, reached: Sequence[EndpointRow], now: float) -> None:
        super().add(event._replace(original_key=None), reached=reached, now=now)


@fault(
    "duplicate_undelivered",
    seen="flagged as a duplicate, and sent all the same",
    shows_in=["repeats"],
)
class DuplicateDelivered(EventHandlers):
    """A duplicate is answered as one and delivered again."""

    def create_broadcast(self, call: OperationCall) -> OperationResult:
        key = call.body.get("idempotency_key")
        if key and self._service.events.find_original(call.project, key) is not None:
            body = {name: value for name, value in call.body.items() if name != "idempotency_key"}
            super().create_broadcast(msgspec.structs.replace(call, body=body))
        return super().create_broadcast(call)


@fault(
    "duplicate_answered", seen="check-then-act: a key that is looked up in a cache", shows_in=KEYS
)
class DuplicateAnsweredOtherwise(EventHandlers):
    """A duplicate shows the first event where the dialect has another one, and the reverse."""

    def __init__(self, service: ApiService) -> None:
        right = service.dialect.idempotency.duplicate.value
        wrong = (
            Duplicate.FIRST_EVENT if right is Duplicate.FLAGGED_EVENT else Duplicate.FLAGGED_EVENT
        )
        super().__init__(misread_service(service, "idempotency.duplicate", wrong))


@fault(
    "other_keys_differ keys_by_project keyless_no_duplicate first_no_duplicate",
    seen="deduplication by content",
    shows_in=[*KEYS, "pairs"],
)
class AlikeIsDuplicate(AlteredEvents):
    """An event with the same data as an earlier one is flagged, whatever its key is."""

    def __init__(self, *arguments: Any, **further: Any) -> None:
        super().__init__(*arguments, **further)
        self._known_data: set[bytes] = set()

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        data = bytes(resource["data"])
        is_known = data in self._known_data
        self._known_data.add(data)
        return {**resource, "is_duplicate_event": resource["is_duplicate_event"] or is_known}


@fault(
    "own_project unique@createBroadcastEvent.uid keys_by_project",
    seen="a unique index without the project",
    shows_in=KEYS,
)
class KeysOfEveryProject(EventTable):
    """An idempotency_key that another project has used makes an event a duplicate."""

    def find_original(self, project: str, key: str) -> EventRow | None:
        statement = "SELECT payload, document FROM events WHERE original_key = ?"
        row = self._database.read(statement, (key,)).fetchone()
        return None if row is None else EventRow._make(row)


@fault("keys_by_project", seen="a set of used keys without the project", shows_in=["repeats"])
class KeyOfAnotherProjectNotDelivered(EventHandlers):
    """An event with an idempotency_key of another project is answered as new, and not delivered."""

    def __init__(self, service: ApiService) -> None:
        super().__init__(service)
        self._used_by: dict[str, str] = {}

    def create_broadcast(self, call: OperationCall) -> OperationResult:
        key = call.body.get("idempotency_key")
        if not key or self._used_by.setdefault(key, call.project) == call.project:
            return super().create_broadcast(call)
        if self._service.events.find_original(call.project, key) is not None:
            return super().create_broadcast(call)
        shown = self._store(call, self._service.now(), [], original_key=key, duplicate=False)
        body = self._service.serializer.envelope("Event is accepted", shown)
        return OperationResult(status=call.operation.success.value, body=body)


@fault(
    "keyless_delivered",
    seen="a missing key that is taken for an empty one",
    shows_in=["repeats"],
    where=keys_are_optional,
)
class KeylessDeliveredOnce(EventHandlers):
    """Of events without an idempotency_key that have the same data only one is delivered."""

    def __init__(self, service: ApiService) -> None:
        super().__init__(service)
        self._sent: set[tuple[object, ...]] = set()

    def content(self, call: OperationCall) -> tuple[object, ...]:
        """What is compared: of events that share it, the first is delivered."""
        return (call.project, call.payload)

    def create_broadcast(self, call: OperationCall) -> OperationResult:
        content = self.content(call)
        if call.body.get("idempotency_key"):
            return super().create_broadcast(call)
        if content not in self._sent:
            self._sent.add(content)
            return super().create_broadcast(call)
        shown = self._store(call, self._service.now(), [], original_key=None, duplicate=False)
        body = self._service.serializer.envelope("Event is accepted", shown)
        return OperationResult(status=call.operation.success.value, body=body)


@fault(
    "keyless_delivered",
    seen="events that are alike within a minute, taken for one",
    shows_in=["repeats"],
    where=keys_are_optional,
)
class SecondOfAKindDropped(KeylessDeliveredOnce):
    """Of events without a key that share a type and a size only one is delivered."""

    def content(self, call: OperationCall) -> tuple[object, ...]:
        return (call.project, call.body.get("event_type"), len(call.payload or b""))


@fault(
    "header_values",
    seen="a type of a library for HTTP",
    shows_in=SHOWN,
    where=lambda dialect: (
        headers_are_shown(dialect) and dialect.representation.event_header_values.decided
    ),
)
class HeaderValuesMistaken(AlteredEvents):
    """The headers of an event hold lists where the dialect says texts, and the reverse."""

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        headers = resource.get("headers") or {}
        mistaken = {
            name: value[0] if isinstance(value, list) else [value]
            for name, value in headers.items()
        }
        return {**resource, "headers": mistaken or resource.get("headers")}
