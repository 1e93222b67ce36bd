"""Subclasses of collaborators in which one field is altered: as taken, as stored or as shown.

They keep what they need in closures: several of them may be combined in one class.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.handlers.endpoints import EndpointHandlers
from hookproof.mockserver.api.handlers.events import EventHandlers
from hookproof.mockserver.api.handlers.portal_links import PortalLinkHandlers
from hookproof.mockserver.api.request_pipeline import RequestPipeline
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.faults.operators.place import ENVELOPE, PAGINATION, Place, PlaceKind
from hookproof.mockserver.faults.support.altered_responses import LISTS, ROLL, Object
from hookproof.mockserver.store.endpoints import EndpointTable, NewEndpoint
from hookproof.mockserver.store.events import EventTable, NewEvent
from hookproof.mockserver.store.portal_links import PortalLinkRow, PortalLinkTable
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import NoValue

_encode: Final = msgspec.json.encode
_decode: Final = msgspec.json.decode


class _NoMember:
    """The type of the value of a member that is not there."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _NoMember()

# Returns what takes the place of a value; both may be ABSENT.
Change = Callable[[Any], Any]
# Changes a JSON object in place.
ChangeObject = Callable[[Object], None]


def change_at(path: tuple[str, ...], change: Change) -> ChangeObject:
    """A change of the member at a path; of each element, where there is an array on the way."""
    step, *rest = path

    def change_object(holder: Object) -> None:
        if not rest:
            _change_member(holder, step, change)
            return
        inner = holder.get(step)
        deeper = change_at(tuple(rest), change)
        for item in inner if isinstance(inner, list) else [inner]:
            if isinstance(item, dict):
                deeper(item)

    return change_object


def _change_member(holder: Object, name: str, change: Change) -> None:
    changed = change(holder.get(name, ABSENT))
    if changed is not ABSENT:
        holder[name] = changed
    elif name in holder:
        del holder[name]


def everywhere_within(change: Change) -> Change:
    """The same change for every leaf of a value that may hold anything."""

    def change_all(value: Any) -> Any:
        if isinstance(value, dict):
            changed = {name: change_all(member) for name, member in value.items()}
            return {name: member for name, member in changed.items() if member is not ABSENT}
        if isinstance(value, list):
            return [item for item in map(change_all, value) if item is not ABSENT]
        return change(value)

    return change_all


def alter_place(place: Place, change: ChangeObject) -> type:
    """The collaborator in which objects are changed at a place of a field."""
    if place.kind is PlaceKind.SHOWN:
        return _altered_answers(place, change)
    if place.kind is PlaceKind.STORED:
        return _ALTERED_TABLES[place.operation](place.path[0], change)
    return _ALTERED_HANDLERS[place.operation](change)


def blank_for(dialect: Dialect, empty: Any) -> Any:
    """What a response shows for a field without value (section 2.9)."""
    form = dialect.representation.no_value.value
    return {NoValue.NULL: None, NoValue.ABSENT: ABSENT, NoValue.EMPTY: empty}[form]


def _altered_answers(place: Place, change: ChangeObject) -> type:
    operation, top = place.operation, place.path[0]

    class AlteredAnswers(RequestPipeline):
        def _perform(self, call: OperationCall) -> OperationResult:
            result = super()._perform(call)
            if call.operation.operation_id != operation:
                return result
            envelope = _decode(result.body)
            for holder in _holders(envelope, operation, top):
                change(holder)
            return OperationResult(status=result.status, body=_encode(envelope))

    return AlteredAnswers


def _holders(envelope: Object, operation: str, top: str) -> list[Object]:
    """The objects of an answer in which a path begins."""
    data = envelope["data"]
    if top == ENVELOPE:
        return [{ENVELOPE: envelope}]
    return data["content"] if operation in LISTS and top != PAGINATION else [data]


def _changed_body(body: Mapping[str, Any], change: ChangeObject) -> Object:
    changed = copy.deepcopy(dict(body))
    change(changed)
    return changed


def _altered_creation(change: ChangeObject) -> type:
    class AlteredCreations(EndpointHandlers):
        def _build_endpoint(self, project: str, body: Mapping[str, Any], now: float) -> NewEndpoint:
            return super()._build_endpoint(project, _changed_body(body, change), now)

    return AlteredCreations


def _altered_roll(change: ChangeObject) -> type:
    class AlteredRolls(EndpointHandlers):
        def expire_secret(self, call: OperationCall) -> OperationResult:
            body = _changed_body(call.body, change)
            return super().expire_secret(msgspec.structs.replace(call, body=body))

    return AlteredRolls


def _altered_update(change: ChangeObject) -> type:
    class AlteredUpdates(PortalLinkHandlers):
        def update(self, call: OperationCall) -> OperationResult:
            body = _changed_body(call.body, change)
            return super().update(msgspec.structs.replace(call, body=body))

    return AlteredUpdates


def _altered_broadcast(change: ChangeObject) -> type:
    class AlteredBroadcasts(EventHandlers):
        def create_broadcast(self, call: OperationCall) -> OperationResult:
            whole = {**call.body, **_data_of(call.payload)}
            body = _changed_body(whole, change)
            payload = _payload_of(body, whole, call.payload)
            return super().create_broadcast(
                msgspec.structs.replace(call, body=body, payload=payload)
            )

    return AlteredBroadcasts


def _data_of(payload: bytes | None) -> Object:
    return {} if payload is None else {"data": _decode(payload)}


def _payload_of(body: Object, before: Object, payload: bytes | None) -> bytes | None:
    """The text of `data`; verbatim if nothing in it has changed."""
    if body.get("data", ABSENT) == before.get("data", ABSENT):
        return payload
    return _encode(body["data"]) if "data" in body else None


_ALTERED_HANDLERS: Final[Mapping[str, Callable[[ChangeObject], type]]] = {
    "createEndpoint": _altered_creation,
    ROLL: _altered_roll,
    "updatePortalLink": _altered_update,
    "createBroadcastEvent": _altered_broadcast,
}


def _changed_text(document: bytes, change: ChangeObject) -> bytes:
    value = _decode(document)
    change(value)
    return _encode(value)


def _altered_endpoints(field: str, change: ChangeObject) -> type:
    class AlteredEndpoints(EndpointTable):
        def add(self, endpoint: NewEndpoint) -> int:
            return super().add(_changed_endpoint(endpoint, field, change))

    return AlteredEndpoints


def _changed_endpoint(endpoint: NewEndpoint, field: str, change: ChangeObject) -> NewEndpoint:
    if field == "secret":
        return endpoint._replace(secrets=_changed_last(endpoint.secrets, change))
    if field == "is_disabled":
        state = {field: not endpoint.active}
        change(state)
        if bool(state.get(field)) is not endpoint.active:
            return endpoint
        return endpoint._replace(active=not endpoint.active, receives=not endpoint.active)
    document = _changed_text(endpoint.document, change)
    credentials = endpoint.credentials and _changed_text(endpoint.credentials, change)
    owner = _decode(document).get("owner_id") or None
    return endpoint._replace(document=document, credentials=credentials, owner_id=owner)


def _changed_last(secrets: bytes, change: ChangeObject) -> bytes:
    """The stored form of secrets, with another value of the latest."""
    *others, latest = _decode(secrets)
    return _encode([*others, _with_changed_value(latest, change)])


def _with_changed_value(secret: Object, change: ChangeObject) -> Object:
    holder = {"secret": secret["value"]}
    change(holder)
    return {**secret, "value": holder.get("secret") or ""}


def _altered_secrets(_field: str, change: ChangeObject) -> type:
    class AlteredSecrets(EndpointTable):
        def roll(self, seq: int, secrets: Any, *, updated_at: str) -> None:
            *others, latest = secrets
            value = _with_changed_value({"value": latest.value}, change)["value"]
            changed = msgspec.structs.replace(latest, value=value)
            super().roll(seq, [*others, changed], updated_at=updated_at)

    return AlteredSecrets


def _altered_portal_links(field: str, change: ChangeObject) -> type:
    class AlteredPortalLinks(PortalLinkTable):
        def replace(self, row: PortalLinkRow, *, name: str) -> None:
            if field == "endpoints":
                listed = {field: _decode(row.listed) if row.listed else []}
                change(listed)
                row = row._replace(listed=_encode(listed[field]) if listed.get(field) else None)
            else:
                document = _changed_text(row.document, change)
                fields = _decode(document)
                row = row._replace(document=document, owner_id=fields.get("owner_id") or None)
                name = fields.get("name") or ""
            super().replace(row, name=name)

    return AlteredPortalLinks


def _altered_events(field: str, change: ChangeObject) -> type:
    class AlteredStoredEvents(EventTable):
        def add(self, event: NewEvent, **further: Any) -> None:
            stored = _changed_event(event, field, change)
            key = stored.original_key
            if key is not None and self.find_original(stored.project, key) is not None:
                # Of two keys that became one the first is known: each can be stored once.
                stored = stored._replace(original_key=None)
            super().add(stored, **further)

    return AlteredStoredEvents


def _changed_event(event: NewEvent, field: str, change: ChangeObject) -> NewEvent:
    if field == "custom_headers":
        holder: Object = {field: _decode(event.headers)}
        change(holder)
        return event._replace(headers=_encode(holder.get(field, {})))
    if field == "data":
        before = _data_of(event.payload)
        holder = _changed_body(before, change)
        return event._replace(payload=_payload_of(holder, before, event.payload) or b"{}")
    if field == "event_type":
        return event._replace(event_type=_changed_column(field, event.event_type, change) or "")
    key = _changed_column(field, event.original_key, change)
    return event._replace(original_key=key or None)


def _changed_column(field: str, value: str | None, change: ChangeObject) -> str | None:
    holder: Object = {} if value is None else {field: value}
    change(holder)
    changed: str | None = holder.get(field)
    return changed


_ALTERED_TABLES: Final[Mapping[str, Callable[[str, ChangeObject], type]]] = {
    "createEndpoint": _altered_endpoints,
    ROLL: _altered_secrets,
    "updatePortalLink": _altered_portal_links,
    "createBroadcastEvent": _altered_events,
}
