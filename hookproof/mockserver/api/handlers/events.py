"""Broadcast events: accept, store and pass to the delivery engine (section 4.8)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.serialization.response_serializer import encode
from hookproof.mockserver.api.service import ApiService, OperationCall, OperationResult
from hookproof.mockserver.delivery.attempt.headers import (
    custom_header_problems,
    header_text,
    reserved_header_names,
)
from hookproof.mockserver.store.endpoints import EndpointRow
from hookproof.mockserver.store.events import EventRow, NewEvent
from hookproof.spec.dialect.vocabulary import (
    Duplicate,
    EventApplication,
    EventEcho,
    EventQuery,
    EventSource,
    HeaderValues,
    OnInput,
    Reach,
)

_NO_DATA: Final = b"{}"


class _Endpoints(msgspec.Struct):
    """The member of an event's document that names the endpoints it reached."""

    endpoints: list[str] | None = None


_decode_endpoints: Final = msgspec.json.Decoder(_Endpoints).decode


def _flagged(document: bytes) -> bytes:
    """The stored record of an event, shown as a duplicate."""
    return encode({**msgspec.json.decode(document), "is_duplicate_event": True})


class EventHandlers:
    def __init__(self, service: ApiService) -> None:
        self._service = service
        self._without_owner = service.dialect.delivery.reach.value is Reach.ACTIVE_ENDPOINTS
        self._idempotency = service.dialect.idempotency
        self._header_text = header_text(service.dialect)
        shown = service.dialect.representation
        self._hides_headers = shown.event_headers.prefers(EventEcho.NONE)
        self._lists_values = shown.event_header_values.prefers(HeaderValues.LIST)
        self._hides_acknowledgement = shown.event_acknowledged_at.prefers(EventEcho.NONE)
        self._names_source = shown.event_source.prefers(EventSource.LISTED)
        self._names_project = shown.event_application.prefers(EventApplication.PROJECT)
        self._shows_query = shown.event_query.prefers(EventQuery.REQUEST)
        refuses = service.dialect.delivery.reserved_headers.value is OnInput.REFUSED
        self._reserved_headers = reserved_header_names(service.dialect) if refuses else frozenset()

    def create_broadcast(self, call: OperationCall) -> OperationResult:
        """Section 4.8.

        A key is looked up and stored without yielding to the event loop, so that of many
        simultaneous posts only one is the first.
        """
        service = self._service
        headers: Mapping[str, Any] = call.body.get("custom_headers", {})
        if headers:
            self._reject_unusable(headers)
        key = call.body.get("idempotency_key") or None
        original = service.events.find_original(call.project, key) if key is not None else None
        if original is not None:
            return self._duplicate(call, original)
        now = service.now()
        reached = service.endpoints.find_reached(
            call.project, now=now, without_owner=self._without_owner
        )
        body = self._store(call, now, reached, original_key=key, duplicate=False)
        if reached:
            service.dispatch.wake(*(endpoint.uid for endpoint in reached))
        return OperationResult(
            status=call.operation.success.value,
            body=service.serializer.envelope("Event is accepted", body),
        )

    def _duplicate(self, call: OperationCall, original: EventRow) -> OperationResult:
        """Answer with the event that the dialect chooses (section 2.8) and deliver nothing."""
        service = self._service
        answer = self._idempotency.duplicate.value
        if answer is not Duplicate.FLAGGED_EVENT:
            uids = _decode_endpoints(original.document).endpoints or []
            flagged = answer is Duplicate.FLAGGED_FIRST_EVENT
            shown = self._render(
                _flagged(original.document) if flagged else original.document,
                original.payload,
                service.endpoints.find_listed(call.project, uids),
            )
        else:
            shown = self._store(call, service.now(), [], original_key=None, duplicate=True)
        body = service.serializer.envelope("Event is a duplicate", shown)
        return OperationResult(status=self._idempotency.duplicate_status.value, body=body)

    def _store(
        self,
        call: OperationCall,
        now: float,
        reached: Sequence[EndpointRow],
        *,
        original_key: str | None,
        duplicate: bool,
    ) -> bytes:
        service = self._service
        record = self._record(call, service.timestamp(now), reached, duplicate=duplicate)
        event = NewEvent(
            uid=record["uid"],
            project=call.project,
            original_key=original_key,
            event_type=call.body.get("event_type", ""),
            payload=call.payload or _NO_DATA,
            headers=encode(call.body.get("custom_headers", {})),
            document=encode(service.serializer.events.select(record)),
        )
        service.events.add(event, reached=reached, now=service.steady())
        return self._render(event.document, event.payload, reached)

    def _record(
        self,
        call: OperationCall,
        created_at: str,
        reached: Sequence[EndpointRow],
        *,
        duplicate: bool,
    ) -> dict[str, Any]:
        service = self._service
        source = service.sources.find_oldest(call.project) if self._names_source else None
        return {
            "uid": service.identifier("Event"),
            "project_id": call.project,
            "event_type": call.body.get("event_type"),
            "headers": None if self._hides_headers else self._shown_headers(call.body),
            "endpoints": [endpoint.uid for endpoint in reached],
            "source_id": None if source is None else source.uid,
            "source_metadata": None if source is None else msgspec.Raw(source.document),
            "app_id": call.project if self._names_project else None,
            "url_query_params": call.query_text or None if self._shows_query else None,
            "idempotency_key": call.body.get("idempotency_key"),
            "is_duplicate_event": duplicate,
            "status": service.dialect.words.event_created.value,
            "acknowledged_at": None
            if self._hides_acknowledgement
            else call.body.get("acknowledged_at"),
            "created_at": created_at,
            "updated_at": created_at,
        }

    def _shown_headers(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        headers: Mapping[str, Any] = body.get("custom_headers", {})
        return {name: [text] for name, text in headers.items()} if self._lists_values else headers

    def _render(self, document: bytes, payload: bytes, endpoints: Sequence[EndpointRow]) -> bytes:
        serializer = self._service.serializer
        return serializer.event(
            document, payload, [serializer.endpoint(endpoint) for endpoint in endpoints]
        )

    def _reject_unusable(self, headers: Mapping[str, Any]) -> None:
        errors = self._service.errors
        problems = custom_header_problems(headers, self._header_text)
        if problems:
            raise errors.invalid(f"/custom_headers: {problems[0]}")
        for name in headers:
            if name.lower() in self._reserved_headers:
                raise errors.invalid(f"/custom_headers: {name} is set by the service itself")
