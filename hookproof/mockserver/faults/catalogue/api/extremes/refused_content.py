"""Requests that are refused, and carried out all the same (sections 5 and 7)."""

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, Final

from aiohttp import hdrs
from aiohttp.web_request import BaseRequest

from hookproof.mockserver.api.errors import ApiError
from hookproof.mockserver.api.request_pipeline import RequestPipeline
from hookproof.mockserver.api.routes import Route
from hookproof.mockserver.api.serialization.request_body import MalformedBody, decode_json_around
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.faults.catalogue.api.api_keys import RefusedButDone
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_responses import (
    BROADCAST,
    CREATE_ENDPOINT,
    ROLL,
    UPDATE_PORTAL_LINK,
)
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import KeyScope

SHOWN: Final = ("refused_content",)

# The route of the request that is being carried out.
_route: ContextVar[Route] = ContextVar("route")


class RefusedContentKept(RequestPipeline):
    """Carries out a request for `operation_id` without the fields that are of the wrong type."""

    operation_id = ""

    async def _carry_out(self, request: BaseRequest, route: Route, query: str) -> OperationResult:
        _route.set(route)
        return await super()._carry_out(request, route, query)

    def _parse_body(self, operation_id: str, text: bytes) -> tuple[Mapping[str, Any], bytes | None]:
        try:
            return super()._parse_body(operation_id, text)
        except ApiError:
            if operation_id == self.operation_id:
                self._carry_out_rest(text)
            raise

    def _carry_out_rest(self, text: bytes) -> None:
        try:
            value, payload = decode_json_around(text, "data")
        except MalformedBody:
            return
        wrong = {
            problem.pointer.split("/")[1]
            for problem in self._problems(self.operation_id, value)
            if problem.pointer
        }
        if not wrong:
            return  # the value may be no object at all
        body = {name: content for name, content in value.items() if name not in wrong}
        route = _route.get()
        if self._problems(self.operation_id, body):
            return
        self._perform(
            OperationCall(
                operation=route.operation,
                project=route.values[0],
                target=route.values[1] if route.values[1:] else "",
                query={},
                body=body,
                payload=payload,
            )
        )


@fault(
    "refused_content_without_effect",
    seen="an event that is queued before it is validated",
    shows_in=SHOWN,
)
class RefusedContentGoesOut(RefusedContentKept):
    """A broadcast with a field of the wrong type is refused, and delivered without the field."""

    operation_id = BROADCAST


@fault(
    "refused_content_without_effect",
    seen="a row that is inserted before it is validated",
    shows_in=SHOWN,
)
class RefusedEndpointIsKept(RefusedContentKept):
    """A new endpoint with a field of the wrong type is refused, and created without the field."""

    operation_id = CREATE_ENDPOINT


@fault(
    "refused_content_without_effect",
    seen="fields that are validated and stored one after the other",
    shows_in=SHOWN,
)
class RefusedUpdateIsMade(RefusedContentKept):
    """An update with a field of the wrong type is refused, and made without the field."""

    operation_id = UPDATE_PORTAL_LINK


@fault(
    "refused_content_without_effect",
    seen="a secret that is stored before its expiration is read",
    shows_in=SHOWN,
    where=lambda dialect: "expiration" not in dialect.requests.expire_endpoint_secret_requires,
)
class RefusedRollIsMade(RefusedContentKept):
    """A roll with an expiration of the wrong type is refused, and made with the default one."""

    operation_id = ROLL


def keys_open_one_project(dialect: Dialect) -> bool:
    return dialect.authentication.key_scope.value is KeyScope.PROJECT


@fault(
    "refused_without_effect",
    seen="a key that is looked up before the project",
    shows_in=SHOWN,
    where=keys_open_one_project,
)
class ForeignBroadcastGoesOut(RefusedButDone):
    """A broadcast with the key of another project is refused, and delivered all the same."""

    async def carry_out_unauthorized(self, request: BaseRequest, route: Route) -> None:
        header = request.headers.get(hdrs.AUTHORIZATION)
        if route.operation.operation_id == BROADCAST and self._opens_another(header):
            await super().carry_out_unauthorized(request, route)

    def _opens_another(self, header: str | None) -> bool:
        for project in self._api_keys.projects:
            try:
                self._api_keys.check(project, header)
            except ApiError:
                continue
            return True
        return False
