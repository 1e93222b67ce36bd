"""Operators on what is left as it was: cached answers, and fields that an update leaves out."""

import asyncio
import time
from contextvars import ContextVar
from functools import partial
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.handlers.portal_links import PortalLinkHandlers
from hookproof.mockserver.api.request_pipeline import RequestPipeline
from hookproof.mockserver.api.routes import Route
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.faults.operators.altered_fields import ABSENT
from hookproof.mockserver.faults.operators.field_operators import never_seen
from hookproof.mockserver.faults.operators.laws import requirements_of, violated_by_field
from hookproof.mockserver.faults.operators.operator import Alteration, Parameters, operators_of
from hookproof.mockserver.faults.operators.place import Place, PlaceKind
from hookproof.mockserver.faults.support.altered_responses import (
    GET_ENDPOINT,
    GET_PORTAL_LINK,
    LIST_PORTAL_LINKS,
    ROLL,
    UPDATE_PORTAL_LINK,
)
from hookproof.mockserver.store.portal_links import PortalLinkRow
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import LeftOut

GROUP: Final = "state"
_STALE: Final = {
    GET_ENDPOINT: "roll_fetched events_counted record_as_fetched refused_without_effect",
    GET_PORTAL_LINK: (
        "members_complete later_members listed_as_retrieved echoed@updatePortalLink"
        " update_retrieved new_owners_members no_old_owners_members others_kept"
        " updated_at_forward left_out deprecated_meaning@updatePortalLink"
    ),
    LIST_PORTAL_LINKS: (
        "listed_as_retrieved walk_while_adding others_kept listed"
        " filter_leaves_out_none@listPortalLinks"
    ),
}
# A write to the resource itself clears the cache: what other writes change stays as it was.
_STALE_BESIDE: Final = {
    GET_ENDPOINT: "events_counted record_as_fetched",
    GET_PORTAL_LINK: (
        "members_complete later_members members_named record_as_fetched@getPortalLink"
    ),
}
_UPDATED: Final = (
    "SELECT owner_id, listed, document FROM portal_links WHERE project = ? AND uid = ?"
)
# How long an update takes, so that two of them overlap.
_UPDATE_S: Final = 0.05
_WRITERS: Final = {GET_ENDPOINT: ROLL, GET_PORTAL_LINK: UPDATE_PORTAL_LINK}


def _cached(place: Place, given: Parameters, _dialect: Dialect) -> Alteration | None:
    until = given["until"]
    laws = _STALE_BESIDE if until == "write" else _STALE
    if place.kind is not PlaceKind.ANSWER or place.operation not in laws:
        return None
    return Alteration(
        part=partial(_cached_answers, place.operation, until),
        violates=requirements_of(laws[place.operation]),
    )


def _cached_answers(operation: str, until: str) -> type:
    seconds = 1.0 if until == "second" else float("inf")
    writer = _WRITERS.get(operation) if until == "write" else None
    cache: dict[tuple[str, str, str], tuple[float, OperationResult]] = {}

    class CachedAnswers(RequestPipeline):
        def _perform(self, call: OperationCall) -> OperationResult:
            key = (call.project, call.target, call.query_text)
            called = call.operation.operation_id
            if called == writer:
                cache.pop(key, None)
            if called != operation:
                return super()._perform(call)
            made_at, result = cache.get(key, (float("-inf"), None))
            if result is None or time.monotonic() - made_at > seconds:
                result = super()._perform(call)
                cache[key] = time.monotonic(), result
            return result

    return CachedAnswers


def _left_out_cleared(place: Place, _parameters: Parameters, dialect: Dialect) -> Alteration | None:
    if not _is_updated_field(place):
        return None
    name = place.path[0]
    is_right = _clears(dialect)
    reason = "the dialect clears a field that an update leaves out" if is_right else ""
    part = partial(_with_altered_update, name, clears=True)
    return Alteration(part=part, violates=requirements_of("left_out"), equivalent=reason)


def _left_out_kept(place: Place, _parameters: Parameters, dialect: Dialect) -> Alteration | None:
    if not _is_updated_field(place):
        return None
    name = place.path[0]
    reason = "" if _clears(dialect) else "the dialect keeps a field that an update leaves out"
    part = partial(_with_altered_update, name, clears=False)
    return Alteration(part=part, violates=requirements_of("left_out"), equivalent=reason)


def _is_updated_field(place: Place) -> bool:
    return (
        place.operation == UPDATE_PORTAL_LINK
        and place.kind is PlaceKind.TAKEN
        and place.path[0] in ("owner_id", "auth_type", "can_manage_endpoint")
    )


def _lost_update(place: Place, _parameters: Parameters, dialect: Dialect) -> Alteration | None:
    if place.operation != UPDATE_PORTAL_LINK or place.kind is not PlaceKind.TAKEN:
        return None
    (name,) = place.path
    reason = never_seen(place, dialect)
    if name == "name":
        reason = "every update has a name"
    elif _clears(dialect):
        reason = "the dialect clears a field that an update leaves out"
    laws = [*violated_by_field(place, lambda _: ABSENT, dialect)]
    if dialect.requests.update_left_out.decided:
        laws.append("left_out")
    return Alteration(
        part=partial(_overlapping_updates, name),
        violates=() if reason else requirements_of(*laws),
        equivalent=reason,
    )


def _overlapping_updates(name: str) -> type:
    """Updates take a while, and write back the field as it was when they began."""
    before: ContextVar[Any] = ContextVar("before")

    class OverlappingUpdates(RequestPipeline):
        async def _carry_out(self, request: Any, route: Route, query: str) -> OperationResult:
            if route.operation.operation_id == UPDATE_PORTAL_LINK:
                row = self._database.read(_UPDATED, route.values).fetchone()
                before.set(None if row is None else _updated_fields(*row))
                await asyncio.sleep(_UPDATE_S)
            return await super()._carry_out(request, route, query)

        def _perform(self, call: OperationCall) -> OperationResult:
            if call.operation.operation_id == UPDATE_PORTAL_LINK and before.get():
                body = {name: before.get()[name], **call.body}
                call = msgspec.structs.replace(call, body=body)
            return super()._perform(call)

    return OverlappingUpdates


def _updated_fields(owner_id: str | None, listed: bytes | None, document: bytes) -> dict[str, Any]:
    return {
        **msgspec.json.decode(document),
        "owner_id": owner_id,
        "endpoints": msgspec.json.decode(listed) if listed else [],
    }


def _clears(dialect: Dialect) -> bool:
    left_out = dialect.requests.update_left_out
    return left_out.decided and left_out.value is LeftOut.CLEARED


def _with_altered_update(name: str, *, clears: bool) -> type:
    class LeftOutFields(PortalLinkHandlers):
        def _apply_update(self, row: PortalLinkRow, body: Any) -> dict[str, Any]:
            record = super()._apply_update(row, body)
            if name in body:
                return record
            before = {**msgspec.json.decode(row.document), "owner_id": row.owner_id}
            return {**record, name: self._cleared[name] if clears else before.get(name)}

    return LeftOutFields


_operator: Final = operators_of(GROUP)
OPERATORS: Final = (
    _operator(
        "cached",
        "An answer is given again, for a second, until the next write, or indefinitely",
        "answers that show what other requests change",
        _cached,
        *({"until": "second"}, {"until": "write"}, {"until": "end"}),
    ),
    _operator(
        "left_out_cleared",
        "A field that an update leaves out is cleared",
        "fields of updates, taken",
        _left_out_cleared,
    ),
    _operator(
        "left_out_kept",
        "A field that an update leaves out is kept",
        "fields of updates, taken",
        _left_out_kept,
    ),
    _operator(
        "update_lost",
        "Of two updates at the same time the later one writes back what it had read before",
        "fields of updates, taken",
        _lost_update,
    ),
)
