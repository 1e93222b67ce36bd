"""Events: how broadcasts are answered, and which are duplicates (sections 2.8, 4.8 and 6)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.handlers.events import EventHandlers
from hookproof.mockserver.api.service import OperationCall, OperationResult, Service
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_responses import BROADCAST, Object, SpoiltAnswers
from hookproof.mockserver.faults.support.misread_dialect import mistaken
from hookproof.mockserver.store.endpoints import EndpointRow
from hookproof.mockserver.store.events import EventRow, EventTable, NewEvent
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Duplicate

SHOWN: Final = ("broadcast_answers",)
KEYS: Final = ("idempotency",)


def keys_are_optional(dialect: Dialect) -> bool:
    """Whether there are events without an idempotency_key."""
    return "idempotency_key" not in dialect.requests.create_broadcast_event_requires


class SpoiltEvents(SpoiltAnswers):
    """Changes the event that a broadcast is answered with."""

    operations = (BROADCAST,)


@fault("2.8-1", "2.9-1", also=["2.8-2", "4.8-10", "4.8-12", "4.8-16"], shows_in=SHOWN)
class EventWithoutUid(SpoiltEvents):
    """An event has an empty uid."""

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """None."""
        return {**resource, "uid": ""}


@fault("2.8-3", "4.8-3", seen="bytes as base64", shows_in=SHOWN)
class DataAsText(SpoiltEvents):
    """The data of an event is a text."""

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """The raw text."""
        return {**resource, "data": resource["raw"]}


@fault("2.8-3", seen="signed bytes", shows_in=SHOWN)
class SignedBytes(SpoiltEvents):
    """The bytes in an event's data go from -128 to 127."""

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """Half of them negative."""
        return {**resource, "data": [one - 256 if one >> 7 else one for one in resource["data"]]}


@fault("2.8-4", shows_in=SHOWN)
class NullsDropped(SpoiltEvents):
    """Null members are missing in the data of an event."""

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """Without them."""
        kept = _without_null(msgspec.json.decode(resource["raw"]))
        return {**resource, "data": list(msgspec.json.encode(kept))}


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_null(one) for name, one in value.items() if one is not None}
    return [_without_null(one) for one in value] if isinstance(value, list) else value


@fault("2.8-5", shows_in=SHOWN)
class OwnHeadersAlone(SpoiltEvents):
    """The headers of an event hold the service's own alone."""

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """Another set."""
        return {**resource, "headers": {"Content-Type": "application/json"}}


@fault("2.8-7", shows_in=["fan_out"])
class RecordsOfTheFirst(SpoiltEvents):
    """The endpoint_metadata of an event holds the first endpoint's record as often as there are
    endpoints.
    """

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """One record."""
        records = resource["endpoint_metadata"]
        return {**resource, "endpoint_metadata": [records[0]] * len(records) if records else []}


@fault("2.8-6", "2.8-7", shows_in=["fan_out"])
class TargetsForgotten(SpoiltEvents):
    """An event that reaches several endpoints names the first of them alone."""

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """One."""
        return {**resource, "endpoints": resource["endpoints"][:1]}


@fault("2.8-6", shows_in=["fan_out"])
class TargetsOfAll(SpoiltEvents):
    """An event that reaches several endpoints names and shows the first two alone."""

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """Two."""
        return {
            **resource,
            **{name: resource[name][:2] for name in ("endpoints", "endpoint_metadata")},
        }


@fault("4.8-4", "4.8-5", shows_in=SHOWN)
class TypeAndKeyInCapitals(SpoiltEvents):
    """An event shows its event_type and its idempotency_key in capitals."""

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """Other texts."""
        names = [name for name in ("event_type", "idempotency_key") if resource.get(name)]
        return {**resource, **{name: resource[name].upper() for name in names}}


@fault("4.8-6", "4.8-1", also=["4.8-7"], shows_in=SHOWN)
class AcknowledgedAtRefused(EventHandlers):
    """A broadcast with acknowledged_at is refused."""

    def create_broadcast(self, call: OperationCall) -> OperationResult:
        """Not with it."""
        if "acknowledged_at" in call.body:
            raise self._service.errors.invalid("/acknowledged_at: is set by the service")
        return super().create_broadcast(call)


@fault("4.8-7", "4.8-1", shows_in=SHOWN)
class EmptyDataRefused(EventHandlers):
    """A broadcast whose data is an empty object is refused."""

    def create_broadcast(self, call: OperationCall) -> OperationResult:
        """Not without a member."""
        if call.payload == b"{}":
            raise self._service.errors.invalid("/data: is required")
        return super().create_broadcast(call)


@fault("6-1", "3-3", "4.8-3", shows_in=SHOWN)
class StatusAsNumber(SpoiltEvents):
    """The status of an event is a number."""

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """The place in a list of states."""
        return {**resource, "status": 1}


@fault("3-3", shows_in=SHOWN, where=keys_are_optional)
class StatusOfAnEndpoint(SpoiltEvents):
    """A created event shows the status of an endpoint that is disabled."""

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """Another word."""
        return {**resource, "status": f"{resource['status']}ed"}


@fault("6-2", "2.8-9", "4.8-3", "4.8-8", also=["5-15"], shows_in=[*SHOWN, *KEYS])
class FlagInWords(SpoiltEvents):
    """is_duplicate_event is a text."""

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """A text."""
        return {**resource, "is_duplicate_event": str(resource["is_duplicate_event"]).lower()}


@fault(
    "2.8-8",
    where=keys_are_optional,
    shows_in=[*SHOWN, *KEYS],
)
class KeylessFlagged(SpoiltEvents):
    """An event without an idempotency_key is flagged as a duplicate."""

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """Whatever has none."""
        return (
            resource
            if resource.get("idempotency_key")
            else {**resource, "is_duplicate_event": True}
        )


@fault("2.8-9", "4.8-8", "4.8-10", "4.8-12", also=["5-15"], shows_in=[*SHOWN, *KEYS])
class KeyedFlagged(SpoiltEvents):
    """Every event with an idempotency_key is flagged as a duplicate."""

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """Whatever has one."""
        return (
            {**resource, "is_duplicate_event": True}
            if resource.get("idempotency_key")
            else resource
        )


@fault("2.8-2", "2.9-1", "4.8-10", also=["2.9-13", "4.8-16"], shows_in=KEYS)
class UidOfTheProject(SpoiltEvents):
    """All events of a project have the same uid."""

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """That of their project."""
        return {
            **resource,
            "uid": resource["project_id"].rjust(len(resource["uid"]), "0")[: len(resource["uid"])],
        }


@fault(
    "4.8-8",
    "4.8-9",
    seen="sent twice after the client timed out",
    shows_in=["idempotency", "repeats"],
)
class KeysForgotten(EventTable):
    """An idempotency_key is forgotten: its second event is a new one."""

    def find_original(self, project: str, key: str) -> EventRow | None:
        """Never."""
        return None

    def add(self, event: NewEvent, *, reached: Sequence[EndpointRow], now: float) -> None:
        """Without its key, which may be there already."""
        super().add(event._replace(original_key=None), reached=reached, now=now)


@fault("4.8-9", seen="flagged as a duplicate, and sent all the same", shows_in=["repeats"])
class DuplicateDelivered(EventHandlers):
    """A duplicate is answered as one, and delivered again."""

    def create_broadcast(self, call: OperationCall) -> OperationResult:
        """Once more, without its key."""
        key = call.body.get("idempotency_key")
        if key and self._service.events.find_original(call.project, key) is not None:
            body = {name: value for name, value in call.body.items() if name != "idempotency_key"}
            super().create_broadcast(msgspec.structs.replace(call, body=body))
        return super().create_broadcast(call)


@fault("4.8-8", seen="check-then-act: a key that is looked up in a cache", shows_in=KEYS)
class DuplicateAnsweredOtherwise(EventHandlers):
    """A duplicate is answered with the first event where it is to be flagged, and flagged where it
    is to be that.
    """

    def __init__(self, service: Service) -> None:
        right = service.dialect.idempotency.duplicate.value
        wrong = (
            Duplicate.FIRST_EVENT if right is Duplicate.FLAGGED_EVENT else Duplicate.FLAGGED_EVENT
        )
        super().__init__(
            replace(service, dialect=mistaken(service.dialect, "idempotency.duplicate", wrong))
        )


@fault("4.8-10", "4.8-12", "2.8-8", also=["2.8-9"], seen="deduplication by content", shows_in=KEYS)
class AlikeIsDuplicate(SpoiltEvents):
    """An event whose data were sent before is flagged as a duplicate whatever its key is."""

    def __init__(self, *arguments: Any, **further: Any) -> None:
        super().__init__(*arguments, **further)
        self._known: set[str] = set()

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """Known data."""
        known = resource["raw"] in self._known
        self._known.add(resource["raw"])
        return {**resource, "is_duplicate_event": resource["is_duplicate_event"] or known}


@fault("1-3", "2.8-2", "4.8-12", seen="a unique index without the project", shows_in=KEYS)
class KeysOfEveryProject(EventTable):
    """An idempotency_key that another project has used makes a duplicate."""

    def find_original(self, project: str, key: str) -> EventRow | None:
        """Of any project."""
        statement = "SELECT payload, document FROM events WHERE original_key = ?"
        row = self._database.read(statement, (key,)).fetchone()
        return None if row is None else EventRow._make(row)


@fault(
    "4.8-11",
    seen="a missing key that is taken for an empty one",
    shows_in=["repeats"],
    where=keys_are_optional,
)
class KeylessDeliveredOnce(EventHandlers):
    """Of two events without an idempotency_key that are alike the second one is not delivered."""

    def __init__(self, service: Service) -> None:
        super().__init__(service)
        self._sent: set[tuple[object, ...]] = set()

    def alike(self, call: OperationCall) -> tuple[object, ...]:
        """What tells events apart."""
        return (call.project, call.payload)

    def create_broadcast(self, call: OperationCall) -> OperationResult:
        """Taken in, and no more."""
        alike = self.alike(call)
        if call.body.get("idempotency_key"):
            return super().create_broadcast(call)
        if alike not in self._sent:
            self._sent.add(alike)
            return super().create_broadcast(call)
        shown = self._store(call, self._service.now(), [], original_key=None, duplicate=False)
        body = self._service.serializer.envelope("Event is accepted", shown)
        return OperationResult(status=call.operation.success.value, body=body)


@fault(
    "4.8-11",
    seen="events that are alike within a minute, taken for one",
    shows_in=["repeats"],
    where=keys_are_optional,
)
class SecondOfAKindDropped(KeylessDeliveredOnce):
    """Of several events without an idempotency_key that have one type and one size only the first
    is delivered.
    """

    def alike(self, call: OperationCall) -> tuple[object, ...]:
        """What tells events apart."""
        return (call.project, call.body.get("event_type"), len(call.payload or b""))
