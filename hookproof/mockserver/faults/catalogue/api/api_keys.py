"""API keys: wrong ones that are accepted, and wrong refusals (sections 4 and 5)."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Final

import msgspec
from aiohttp import hdrs
from aiohttp.web_request import BaseRequest

from hookproof.mockserver.api.api_keys import ApiKeys
from hookproof.mockserver.api.errors import ApiError, ErrorResponses
from hookproof.mockserver.api.request_pipeline import RequestPipeline
from hookproof.mockserver.api.routes import Route
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_responses import (
    BROADCAST,
    GET_ENDPOINT,
    GET_PORTAL_LINK,
)
from hookproof.mockserver.faults.support.misread_dialect import misread_dialect
from hookproof.mockserver.store.database import Database
from hookproof.spec.dialect.groups.errors import KEY_REFUSALS
from hookproof.spec.dialect.model import Authentication, Dialect
from hookproof.spec.dialect.vocabulary import Acceptance, KeyScope

KEYS: Final = ("access",)


class LenientKeys(ApiKeys):
    """Accepts the headers for which `is_accepted` returns true, besides the right keys."""

    def check(self, project: str, header: str | None) -> None:
        try:
            super().check(project, header)
        except ApiError:
            if not self.is_accepted(project, header or ""):
                raise

    def is_accepted(self, project: str, header: str) -> bool:
        return False

    def any_key(self, project: str, matches: Callable[[str], bool]) -> bool:
        """Whether a key of the project matches; a key is passed as the header carries it."""
        return any(
            matches(key.decode("utf-8", "surrogateescape"))
            for key in self._expected.get(project, ())
        )


@fault("key_required key_format", shows_in=KEYS)
class NoKeyNeeded(LenientKeys):
    """Every operation works without an Authorization header."""

    def is_accepted(self, project: str, header: str) -> bool:
        return not header and project in self._expected


@fault(
    "unknown_key foreign_key key_format credentials_open_nothing",
    seen="a check that there is a key, not which",
    shows_in=KEYS,
)
class AnyKeyOpens(LenientKeys):
    """Any Authorization header opens any project."""

    def is_accepted(self, project: str, header: str) -> bool:
        return bool(header) and project in self._expected


@fault("unknown_key", seen="prefix compare accepts a truncated key", shows_in=KEYS)
class CutKeyOpens(LenientKeys):
    """More than half of a valid Authorization header, from its start, opens the project."""

    def is_accepted(self, project: str, header: str) -> bool:
        return self.any_key(
            project, lambda key: key.startswith(header) and len(header) > len(key) / 2
        )


def _refuses_other_formats(dialect: Dialect) -> bool:
    return dialect.authentication.other_key_formats.prefers(Acceptance.REFUSED)


@fault(
    "key_format", seen="a scheme that is not checked", shows_in=KEYS, where=_refuses_other_formats
)
class SchemeIgnored(LenientKeys):
    """The last nine or more characters of a key open its project, whatever stands before them."""

    def is_accepted(self, project: str, header: str) -> bool:
        word = header.rpartition(" ")[2]
        return len(word) > 8 and self.any_key(project, lambda key: key.endswith(word))


class CredentialsAsKeys(LenientKeys):
    """Accepts a header whose last word occurs in the credentials of an endpoint."""

    database: Database

    def is_accepted(self, project: str, header: str) -> bool:
        statement = (
            "SELECT EXISTS (SELECT 1 FROM endpoints WHERE project = ? AND instr(credentials, ?))"
        )
        word = " ".join(header.split()[-1:]).rpartition("=")[2]
        return bool(word and self.database.read(statement, (project, word)).fetchone()[0])


@fault("credentials_open_nothing", shows_in=KEYS)
class CredentialsOpen(RequestPipeline):
    """A credential that an endpoint stores opens the API of its project."""

    def __init__(
        self, *arguments: Any, api_keys: ApiKeys, database: Database, **further: Any
    ) -> None:
        lenient = CredentialsAsKeys(api_keys._expected, api_keys._dialect, api_keys._errors)  # noqa: SLF001
        object.__setattr__(lenient, "database", database)
        super().__init__(*arguments, api_keys=lenient, database=database, **further)


@fault(
    "refused_without_effect",
    seen="an authorisation that is checked after the handler",
    shows_in=KEYS,
)
class RefusedButDone(RequestPipeline):
    """A request without the right key is refused, and carried out all the same."""

    def carries_out(self, route: Route) -> bool:
        return (
            route.operation.body_schema is not None and route.values[0] in self._api_keys.projects
        )

    async def _carry_out(self, request: BaseRequest, route: Route, query: str) -> OperationResult:
        try:
            self._api_keys.check(route.values[0], request.headers.get(hdrs.AUTHORIZATION))
        except ApiError:
            if self.carries_out(route):
                with suppress(ApiError):  # whatever becomes of it, the key is refused
                    await self.carry_out_unauthorized(request, route)
            raise
        return await super()._carry_out(request, route, query)

    async def carry_out_unauthorized(self, request: BaseRequest, route: Route) -> None:
        operation = route.operation
        project, *target = route.values
        body, payload = self._parse_body(operation.operation_id, await self._read_body(request))
        self._perform(
            OperationCall(
                operation=operation,
                project=project,
                target=target[0] if target else "",
                query={},
                body=body,
                payload=payload,
            )
        )


@fault(
    "refused_without_effect",
    seen="a queue that is filled before the key is looked at",
    shows_in=["refused_broadcasts"],
)
class RefusedBroadcastGoesOut(RefusedButDone):
    """A broadcast without the right key is refused, and delivered all the same."""

    def carries_out(self, route: Route) -> bool:
        return super().carries_out(route) and route.operation.operation_id == BROADCAST


@fault("refusal_shows_nothing", seen="an error page that prints what was loaded", shows_in=KEYS)
class RefusalShowsResource(RequestPipeline):
    """A request without the right key is refused, and the message shows the resource."""

    operations: tuple[str, ...] = (GET_ENDPOINT, GET_PORTAL_LINK)

    async def _carry_out(self, request: BaseRequest, route: Route, query: str) -> OperationResult:
        try:
            return await super()._carry_out(request, route, query)
        except ApiError as error:
            if error.refusal in KEY_REFUSALS and route.operation.operation_id in self.operations:
                error.message = f"{error.message}: {self._find_resource(route)}"
            raise

    def _find_resource(self, route: Route) -> str:
        project, target = route.values
        call = OperationCall(
            operation=route.operation,
            project=project,
            target=target,
            query={},
            body={},
            payload=None,
        )
        try:
            return self._perform(call).body.decode()
        except ApiError as error:
            return error.message


def _tells_unknown_ones_apart(dialect: Dialect) -> bool:
    """Whether an unknown endpoint has another status than a missing and a wrong key."""
    rules = dialect.authentication
    unknown = dialect.errors.status("unknown_resource", GET_ENDPOINT).allowed
    return not {*unknown} & {*rules.missing_key_status.allowed, *rules.wrong_key_status.allowed}


@fault(
    "missing_key_status unknown_key_status",
    seen="a route that loads what it names before anything else",
    shows_in=KEYS,
    where=_tells_unknown_ones_apart,
)
class RefusalTellsExistence(RequestPipeline):
    """Who fetches an endpoint without the right key is told if there is none."""

    async def _carry_out(self, request: BaseRequest, route: Route, query: str) -> OperationResult:
        try:
            return await super()._carry_out(request, route, query)
        except ApiError as error:
            if error.refusal in KEY_REFUSALS and route.operation.operation_id == GET_ENDPOINT:
                statement = "SELECT 1 FROM endpoints WHERE project = ? AND uid = ?"
                if self._database.read(statement, route.values).fetchone() is None:
                    raise self._errors.unknown_resource("endpoint") from None
            raise


# The Authorization header of the request that is being carried out.
_authorization: ContextVar[str] = ContextVar("authorization")


@fault("key_not_passed_on", seen="headers of the request that are passed on", shows_in=["signing"])
class KeyPassedOn(RequestPipeline):
    """A delivery carries the API key with which its event was created."""

    async def _carry_out(self, request: BaseRequest, route: Route, query: str) -> OperationResult:
        _authorization.set(request.headers.get(hdrs.AUTHORIZATION, ""))
        return await super()._carry_out(request, route, query)

    def _perform(self, call: OperationCall) -> OperationResult:
        if call.operation.operation_id == BROADCAST:
            headers = {
                **call.body.get("custom_headers", {}),
                "X-Forwarded-Authorization": _authorization.get(),
            }
            call = msgspec.structs.replace(call, body={**call.body, "custom_headers": headers})
        return super()._perform(call)


@fault("missing_key_status unknown_key_status foreign_key", shows_in=KEYS)
class UnauthorizedIsNotFound(ErrorResponses):
    """A request without the right key gets the response for an unknown resource."""

    def unauthorized(self, refusal: str, rules: Authentication, message: str) -> ApiError:
        return self.unknown_resource("project")


@fault("foreign_key", seen="a key that is good for one project, and for all", shows_in=KEYS)
class ScopeMistaken(ApiKeys):
    """A key opens every project where it should open only its own, and the reverse."""

    @classmethod
    def of(
        cls, projects: Mapping[str, Sequence[str]], dialect: Dialect, errors: ErrorResponses
    ) -> ApiKeys:
        right = dialect.authentication.key_scope.value
        wrong = KeyScope.PROJECT if right is KeyScope.ACCOUNT else KeyScope.ACCOUNT
        return super().of(
            projects, misread_dialect(dialect, "authentication.key_scope", wrong), errors
        )


@fault("unknown_project", shows_in=KEYS)
class UnknownProjectIsTimeout(ErrorResponses):
    """An unknown project gets the response for a request that arrives too slowly."""

    def unknown_project(self) -> ApiError:
        return replace(self.slow(), close_connection=False)
