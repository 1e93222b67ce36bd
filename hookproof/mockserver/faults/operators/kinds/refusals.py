"""Operators on refusals that have an effect, or tell what they refuse."""

import copy
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

import msgspec
from aiohttp import hdrs
from aiohttp.web_request import BaseRequest

from hookproof.mockserver.api.errors import ApiError
from hookproof.mockserver.api.request_pipeline import RequestPipeline
from hookproof.mockserver.api.routes import Route
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.faults.catalogue.api.api_keys import RefusalShowsResource
from hookproof.mockserver.faults.operators.laws import requirements_of
from hookproof.mockserver.faults.operators.operator import (
    Alteration,
    FindDefect,
    Parameters,
    operators_of,
)
from hookproof.mockserver.faults.operators.place import Place, PlaceKind
from hookproof.mockserver.faults.operators.places import STORED_FIELDS
from hookproof.mockserver.faults.support.altered_responses import (
    BROADCAST,
    CREATE_ENDPOINT,
    GET_ENDPOINT,
    GET_PORTAL_LINK,
    ROLL,
    UPDATE_PORTAL_LINK,
)
from hookproof.spec.dialect.model import Dialect

GROUP: Final = "access"
_TABLES: Final = {
    GET_ENDPOINT: "endpoints",
    ROLL: "endpoints",
    GET_PORTAL_LINK: "portal_links",
    UPDATE_PORTAL_LINK: "portal_links",
}
# What happens before a request is refused.
OnRefusal = Callable[[RequestPipeline, BaseRequest, Route, ApiError], Awaitable[None]]


def _refusing_pipeline(operation: str, on_refusal: OnRefusal) -> type:
    """Does something before it refuses a request for one operation because of its key."""

    class RefusingPipeline(RequestPipeline):
        async def _carry_out(
            self, request: BaseRequest, route: Route, query: str
        ) -> OperationResult:
            try:
                self._api_keys.check(route.values[0], request.headers.get(hdrs.AUTHORIZATION))
            except ApiError as error:
                known = route.values[0] in self._api_keys.projects
                if known and route.operation.operation_id == operation:
                    await on_refusal(self, request, route, error)
                raise
            return await super()._carry_out(request, route, query)

    return RefusingPipeline


def _call(route: Route, body: Mapping[str, Any], payload: bytes | None) -> OperationCall:
    project, *target = route.values
    return OperationCall(
        operation=route.operation,
        project=project,
        target=target[0] if target else "",
        query={},
        body=body,
        payload=payload,
    )


async def _carry_out_all_the_same(
    pipeline: RequestPipeline, request: BaseRequest, route: Route, _error: ApiError
) -> None:
    operation_id = route.operation.operation_id
    text = await pipeline._read_body(request)  # noqa: SLF001
    with suppress(ApiError):  # whatever becomes of it, the key is refused
        pipeline._perform(_call(route, *pipeline._parse_body(operation_id, text)))  # noqa: SLF001


async def _tell_existence(
    pipeline: RequestPipeline, _request: BaseRequest, route: Route, _error: ApiError
) -> None:
    table = _TABLES[route.operation.operation_id]
    statement = f"SELECT 1 FROM {table} WHERE project = ? AND uid = ?"
    if pipeline._database.read(statement, route.values).fetchone() is None:  # noqa: SLF001
        raise pipeline._errors.unknown_resource("resource")  # noqa: SLF001


def _refusing(on_refusal: OnRefusal, operations: tuple[str, ...], laws: str) -> FindDefect:
    def defect(place: Place, _parameters: Parameters, _dialect: Dialect) -> Alteration | None:
        if place.kind is not PlaceKind.ACCESS or place.operation not in operations:
            return None
        part = partial(_refusing_pipeline, place.operation, on_refusal)
        return Alteration(part=part, violates=requirements_of(laws))

    return defect


def _refused_content_done(place: Place, _given: Parameters, _dialect: Dialect) -> Alteration | None:
    """Carries a refused request out without the fields that are of the wrong type."""
    if place.kind is not PlaceKind.WRITTEN or place.operation not in (CREATE_ENDPOINT, BROADCAST):
        return None
    part = partial(_content_kept, place.operation)
    return Alteration(part=part, violates=requirements_of("refused_content_without_effect"))


def _shows_data(place: Place, _given: Parameters, _dialect: Dialect) -> Alteration | None:
    if place.kind is not PlaceKind.ACCESS or place.operation not in RefusalShowsResource.operations:
        return None
    part = partial(_data_shown, place.operation)
    return Alteration(part=part, violates=requirements_of("refusal_shows_nothing"))


def _data_shown(operation: str) -> type:
    class DataShown(RefusalShowsResource):
        operations = (operation,)

    return DataShown


def _content_kept(operation: str) -> type:
    class RefusedContentDone(RequestPipeline):
        async def _carry_out(
            self, request: BaseRequest, route: Route, query: str
        ) -> OperationResult:
            if route.operation.operation_id != operation:
                return await super()._carry_out(request, route, query)
            keeping = copy.copy(self)
            keeping._kept_route = route  # noqa: SLF001  a copy of its own
            return await super(RefusedContentDone, keeping)._carry_out(request, route, query)

        _kept_route: Route | None = None

        def _parse_body(
            self, operation_id: str, text: bytes
        ) -> tuple[Mapping[str, Any], bytes | None]:
            try:
                return super()._parse_body(operation_id, text)
            except ApiError:
                if self._kept_route is not None:
                    self._carry_out_rest(self._kept_route, text)
                raise

        def _carry_out_rest(self, route: Route, text: bytes) -> None:
            try:
                value = msgspec.json.decode(text)
            except (msgspec.DecodeError, RecursionError):
                return
            problems = self._problems(operation, value)
            wrong = {one.pointer.split("/")[1] for one in problems if one.pointer}
            if not wrong or not isinstance(value, dict):
                return
            body = {name: one for name, one in value.items() if name not in wrong}
            if self._problems(operation, body):
                return
            payload = msgspec.json.encode(body["data"]) if "data" in body else None
            self._perform(_call(route, body, payload))

    return RefusedContentDone


_WRITES: Final = tuple(STORED_FIELDS)
_operator: Final = operators_of(GROUP)
OPERATORS: Final = (
    _operator(
        "refused_and_done",
        "A request that is refused for its key is carried out",
        "operations that store something",
        _refusing(_carry_out_all_the_same, _WRITES, "refused_without_effect"),
    ),
    _operator(
        "refused_content_done",
        "A request that is refused for its content is carried out without what is wrong in it",
        "operations that create something",
        _refused_content_done,
    ),
    _operator(
        "refusal_tells_existence",
        "A refusal without the right key tells whether a resource exists",
        "operations on one resource",
        _refusing(_tell_existence, tuple(_TABLES), "missing_key_status unknown_key_status"),
    ),
    _operator(
        "refusal_shows_data",
        "A refusal without the right key shows the resource in its message",
        "operations that show one resource",
        _shows_data,
    ),
)
