"""The request pipeline: route, API key, body, contract, handler, commit, response.

Start reading at `RequestPipeline.answer`.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote_plus

from aiohttp import hdrs, web
from aiohttp.web_request import BaseRequest

from hookproof.mockserver.api.api_keys import ApiKeys
from hookproof.mockserver.api.errors import ApiError, ErrorResponses, internal_error
from hookproof.mockserver.api.request_journal import RequestJournal
from hookproof.mockserver.api.response import JSON, ApiResponse
from hookproof.mockserver.api.routes import Route, Routes
from hookproof.mockserver.api.serialization.request_body import (
    MalformedBody,
    decode_json,
    decode_json_around,
    depth,
    without_nulls,
)
from hookproof.mockserver.api.service import Handler, OperationCall, OperationResult
from hookproof.mockserver.store.database import Database
from hookproof.spec.contract.service_contract import Contract, SchemaProblem
from hookproof.spec.dialect.groups.requests import RequestRules
from hookproof.spec.dialect.vocabulary import Acceptance

_UTF8: Final = ("utf-8", "utf8", "us-ascii")
_NOT_ENCODED: Final = "identity"
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
# Section 2.8: the payload is delivered byte for byte as it was sent.
_OPAQUE_MEMBERS: Final = {"createBroadcastEvent": "data"}
_MAX_PARAMETERS: Final = 100

_log = logging.getLogger(__name__)

# Pages are made for the origin at which they are asked for.
DocsPage = Callable[[str], ApiResponse]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    """Bounds of a request.

    The head, and then the body, must each arrive within `arrival_s` seconds.
    """

    body_bytes: int
    arrival_s: float


class RequestPipeline:
    """Answers every request that arrives at the API's listener."""

    def __init__(
        self,
        contract: Contract,
        handlers: Mapping[str, Handler],
        *,
        api_keys: ApiKeys,
        errors: ErrorResponses,
        limits: RequestLimits,
        rules: RequestRules,
        database: Database,
        journal: RequestJournal,
        pages: Mapping[str, DocsPage],
        routes: type[Routes] = Routes,
        is_answered: Callable[[str], Awaitable[bool]] | None = None,
    ) -> None:
        self._contract = contract
        # Whether the URL of a new endpoint answers, if that is a condition.
        self._is_answered = is_answered
        self._handlers = {
            operation_id: handlers[operation_id] for operation_id in contract.operations
        }
        self._routes = routes(contract.operations.values(), errors)
        self._api_keys = api_keys
        self._errors = errors
        self._limits = limits
        self._database = database
        self._journal = journal
        self._pages = pages
        self._optional_bodies = {
            operation.operation_id
            for operation in contract.operations.values()
            if operation.body_schema is not None
            and not contract.request_problems(operation.operation_id, {})
        }
        if rules.roll_without_body.prefers(Acceptance.REFUSED):
            self._optional_bodies.discard("expireEndpointSecret")
        deepest = rules.nesting_maximum
        self._deepest = deepest.value if deepest.decided else None
        self._takes_null = rules.null_fields.prefers(Acceptance.TAKEN)
        self._takes_undeclared = rules.undeclared_body.prefers(Acceptance.TAKEN)

    async def answer(self, request: BaseRequest) -> ApiResponse:
        """Return the response to a request; every error becomes an error response."""
        path, _, query = _path_and_query(request).partition("?")
        if path in self._pages and request.method in (hdrs.METH_GET, hdrs.METH_HEAD):
            origin = f"{request.scheme}://{request.headers.get(hdrs.HOST, '')}"
            return self._pages[path](origin)
        route = None
        try:
            route = self._routes.find(request.method, path)
            result = await self._carry_out(request, route, query)
            if (pending := self._database.pending) is not None:
                await pending
            response = self._to_response(result)
        except ApiError as error:
            if route is not None:
                error = self._errors.of_operation(error, route.operation.operation_id)
            response = self._errors.response(error)
        except (ConnectionError, asyncio.CancelledError):
            raise
        except Exception as problem:  # noqa: BLE001  the client gets an answer, the log the cause
            _log.exception("a request could not be carried out")
            self._database.roll_back(problem)
            response = self._errors.response(internal_error())
        self._journal.record(request.method, path, route, response.status)
        return response

    async def _carry_out(self, request: BaseRequest, route: Route, query: str) -> OperationResult:
        operation = route.operation
        project, *target = route.values
        authorization = request.headers.get(hdrs.AUTHORIZATION)
        self._api_keys.check(project, authorization)
        body: Mapping[str, Any] = {}
        payload = None
        if operation.body_schema is not None:
            body, payload = self._parse_body(operation.operation_id, await self._read_body(request))
        call = OperationCall(
            operation=operation,
            project=self._api_keys.opened_project(project, authorization),
            target=target[0] if target else "",
            query=self._parse_query(query) if query and operation.query else {},
            query_text=query.encode(errors="replace").decode(),
            body=body,
            payload=payload,
        )
        await self._require_answer(call)
        return self._perform(call)

    async def _require_answer(self, call: OperationCall) -> None:
        """Section 4.1: an endpoint may have to answer before it is created."""
        if self._is_answered is None or call.operation.operation_id != "createEndpoint":
            return
        if not await self._is_answered(call.body["url"]):
            raise self._errors.invalid("/url answers no request with a 2xx")

    def _to_response(self, result: OperationResult) -> ApiResponse:
        return ApiResponse(result.status, result.body)

    def _perform(self, call: OperationCall) -> OperationResult:
        return self._handlers[call.operation.operation_id](call)

    def _parse_body(self, operation_id: str, text: bytes) -> tuple[Mapping[str, Any], bytes | None]:
        """Return a body that fulfils the contract, and the verbatim text of its opaque member."""
        value: Any = {}
        payload = None
        try:
            if operation_id in _OPAQUE_MEMBERS:
                value, payload = decode_json_around(text, _OPAQUE_MEMBERS[operation_id])
            elif text or operation_id not in self._optional_bodies:
                value = decode_json(text)
        except MalformedBody as problem:
            raise self._errors.malformed(f"the body is not JSON: {problem}") from None
        if self._takes_null and b"null" in text:
            value = without_nulls(value, except_for=_OPAQUE_MEMBERS.get(operation_id))
        problems = self._problems(operation_id, value)
        if problems:
            raise self._errors.invalid("; ".join(map(str, problems)))
        if payload is not None and self._deepest is not None and depth(payload) > self._deepest:
            raise self._errors.invalid(f"/data is nested more than {self._deepest} levels deep")
        return value, payload

    def _problems(self, operation_id: str, value: Any) -> Sequence[SchemaProblem]:
        return self._contract.request_problems(operation_id, value)

    async def _read_body(self, request: BaseRequest) -> bytes:
        """Read the body.

        A body that is not declared as JSON, or declared as too large, is refused before it is read.
        """
        limit = self._limits.body_bytes
        length = request.content_length
        if length is not None and length > limit:
            raise self._errors.too_large(limit)
        self._require_json(request, empty=length == 0 or not request.body_exists)
        stream = request.content
        if stream.is_eof():
            text = stream.read_nowait()
            if len(text) > limit:
                raise self._errors.too_large(limit)
            return text
        if (
            request.headers.get(hdrs.EXPECT, "").lower() == "100-continue"
            and request.transport is not None
        ):
            request.transport.write(_CONTINUE)
        return await self._read_slow_body(request, limit)

    async def _read_slow_body(self, request: BaseRequest, limit: int) -> bytes:
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._limits.arrival_s):
                while part := await request.content.readany():
                    size += len(part)
                    if size > limit:
                        raise self._errors.too_large(limit)
                    parts.append(part)
        except TimeoutError:
            raise self._errors.slow() from None
        except web.RequestPayloadError:
            raise self._errors.malformed(
                "the body is incomplete, or its framing is wrong"
            ) from None
        return b"".join(parts)

    def _require_json(self, request: BaseRequest, *, empty: bool) -> None:
        if request.headers.get(hdrs.CONTENT_ENCODING, _NOT_ENCODED).lower() != _NOT_ENCODED:
            raise self._errors.unsupported_media_type("the body must not be compressed")
        declared = request.headers.get(hdrs.CONTENT_TYPE)
        if declared == JSON or (declared is None and (empty or self._takes_undeclared)):
            return
        media, *parameters = (part.strip().lower() for part in (declared or "").split(";"))
        charsets = [
            part.partition("=")[2].strip('"') for part in parameters if part.startswith("charset=")
        ]
        if media != JSON or any(charset not in _UTF8 for charset in charsets):
            raise self._errors.unsupported_media_type(
                f"the body must be declared as {JSON}, in UTF-8"
            )

    def _parse_query(self, query: str) -> dict[str, list[str]]:
        parameters: dict[str, list[str]] = {}
        try:
            for pair in query.split("&", _MAX_PARAMETERS):
                name, _, value = pair.partition("=")
                parameters.setdefault(_unquoted(name), []).append(_unquoted(value))
        except UnicodeDecodeError:
            raise self._errors.invalid("the query is not UTF-8") from None
        return parameters


def _path_and_query(request: BaseRequest) -> str:
    """Return the path and query of any form of request target (RFC 9112, section 3.2)."""
    target = request.raw_path
    return target if target.startswith("/") and "#" not in target else request.path_qs


def _unquoted(text: str) -> str:
    return unquote_plus(text, errors="strict") if "%" in text or "+" in text else text
