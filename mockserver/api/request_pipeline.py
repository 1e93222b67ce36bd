"""The API's one way through: route, key, body, contract, handler, commit, answer."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote_plus

from aiohttp import hdrs, web
from aiohttp.web_request import BaseRequest

from hookproof.mockserver.api.api_keys import Keys
from hookproof.mockserver.api.errors import Refusal, Refusals, fault
from hookproof.mockserver.api.request_journal import Journal
from hookproof.mockserver.api.response import JSON, Answer
from hookproof.mockserver.api.routes import Route, Routes
from hookproof.mockserver.api.serialization.request_body import Malformed, decoded, decoded_around
from hookproof.mockserver.api.service import Call, Handler, Reply
from hookproof.mockserver.store.database import Database
from hookproof.spec.contract.service_contract import Contract, SchemaProblem

_UTF8: Final = ("utf-8", "utf8", "us-ascii")
_NOT_ENCODED: Final = "identity"
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_OPAQUE: Final = {"createBroadcastEvent": "data"}
_MOST_PARAMETERS: Final = 100

_log = logging.getLogger(__name__)

Page = Callable[[], Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a request may cost: bytes of its body, and seconds in which its head, and then its body,
    must arrive.
    """

    body_bytes: int
    arrival_s: float


class Api:
    """Answers every request that arrives at the API's listener."""

    def __init__(
        self,
        contract: Contract,
        handlers: Mapping[str, Handler],
        *,
        keys: Keys,
        refusals: Refusals,
        limits: Limits,
        database: Database,
        journal: Journal,
        pages: Mapping[str, Page],
        routes: type[Routes] = Routes,
    ) -> None:
        self._contract = contract
        self._handlers = {
            operation_id: handlers[operation_id] for operation_id in contract.operations
        }
        self._routes = routes(contract.operations.values(), refusals)
        self._keys = keys
        self._refusals = refusals
        self._limits = limits
        self._database = database
        self._journal = journal
        self._pages = pages
        self._optional = {
            operation.operation_id
            for operation in contract.operations.values()
            if operation.body_schema is not None
            and not contract.request_problems(operation.operation_id, {})
        }

    async def answer(self, request: BaseRequest) -> Answer:
        """The response to a request; whatever goes wrong becomes a refusal."""
        path, _, query = _asked(request).partition("?")
        if path in self._pages and request.method in (hdrs.METH_GET, hdrs.METH_HEAD):
            return self._pages[path]()
        route = None
        try:
            route = self._routes.find(request.method, path)
            reply = await self._carry_out(request, route, query)
            if (pending := self._database.pending) is not None:
                await pending
            answer = self._answered(reply)
        except Refusal as refusal:
            answer = self._refusals.answer(refusal)
        except (ConnectionError, asyncio.CancelledError):
            raise
        except Exception as problem:  # noqa: BLE001 - whatever it is, the client gets an answer and the log the cause
            _log.exception("a request could not be carried out")
            self._database.abandon(problem)
            answer = self._refusals.answer(fault())
        self._journal.note(request.method, path, route, answer.status)
        return answer

    async def _carry_out(self, request: BaseRequest, route: Route, query: str) -> Reply:
        operation = route.operation
        project, *target = route.values
        self._keys.check(project, request.headers.get(hdrs.AUTHORIZATION))
        body: Mapping[str, Any] = {}
        payload = None
        if operation.body_schema is not None:
            body, payload = self._understood(operation.operation_id, await self._body(request))
        call = Call(
            operation=operation,
            project=project,
            target=target[0] if target else "",
            query=self._parameters(query) if query and operation.query else {},
            body=body,
            payload=payload,
        )
        return self._perform(call)

    def _answered(self, reply: Reply) -> Answer:
        return Answer(reply.status, reply.body)

    def _perform(self, call: Call) -> Reply:
        return self._handlers[call.operation.operation_id](call)

    def _understood(self, operation_id: str, text: bytes) -> tuple[Mapping[str, Any], bytes | None]:
        """A body that keeps the contract, and the text of its opaque member."""
        value: Any = {}
        payload = None
        try:
            if operation_id in _OPAQUE:
                value, payload = decoded_around(text, _OPAQUE[operation_id])
            elif text or operation_id not in self._optional:
                value = decoded(text)
        except Malformed as problem:
            raise self._refusals.malformed(f"the body is not JSON: {problem}") from None
        problems = self._problems(operation_id, value)
        if problems:
            raise self._refusals.invalid("; ".join(map(str, problems)))
        return value, payload

    def _problems(self, operation_id: str, value: Any) -> Sequence[SchemaProblem]:
        return self._contract.request_problems(operation_id, value)

    async def _body(self, request: BaseRequest) -> bytes:
        """The body, refused before it is read if it is not declared as JSON or is declared too
        large.
        """
        limit = self._limits.body_bytes
        length = request.content_length
        if length is not None and length > limit:
            raise self._refusals.too_large(limit)
        self._refuse_other_media(request, empty=length == 0 or not request.body_exists)
        stream = request.content
        if stream.is_eof():
            text = stream.read_nowait()
            if len(text) > limit:
                raise self._refusals.too_large(limit)
            return text
        if (
            request.headers.get(hdrs.EXPECT, "").lower() == "100-continue"
            and request.transport is not None
        ):
            request.transport.write(_CONTINUE)
        return await self._slow_body(request, limit)

    async def _slow_body(self, request: BaseRequest, limit: int) -> bytes:
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._limits.arrival_s):
                while part := await request.content.readany():
                    size += len(part)
                    if size > limit:
                        raise self._refusals.too_large(limit)
                    parts.append(part)
        except TimeoutError:
            raise self._refusals.slow() from None
        except web.RequestPayloadError:
            raise self._refusals.malformed(
                "the body ends too early, or is framed wrongly"
            ) from None
        return b"".join(parts)

    def _refuse_other_media(self, request: BaseRequest, *, empty: bool) -> None:
        if request.headers.get(hdrs.CONTENT_ENCODING, _NOT_ENCODED).lower() != _NOT_ENCODED:
            raise self._refusals.unsupported_media_type("the body must not be compressed")
        declared = request.headers.get(hdrs.CONTENT_TYPE)
        if declared == JSON or (empty and declared is None):
            return
        media, *parameters = (part.strip().lower() for part in (declared or "").split(";"))
        charsets = [
            part.partition("=")[2].strip('"') for part in parameters if part.startswith("charset=")
        ]
        if media != JSON or any(charset not in _UTF8 for charset in charsets):
            raise self._refusals.unsupported_media_type(
                f"the body must be declared as {JSON}, in UTF-8"
            )

    def _parameters(self, query: str) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        try:
            for pair in query.split("&", _MOST_PARAMETERS):
                name, _, value = pair.partition("=")
                found.setdefault(_unquoted(name), []).append(_unquoted(value))
        except UnicodeDecodeError:
            raise self._refusals.invalid("the query is not UTF-8") from None
        return found


def _asked(request: BaseRequest) -> str:
    """The path and query that are asked for, of whatever form of request target (RFC 9112, section
    3.2).
    """
    target = request.raw_path
    return target if target.startswith("/") and "#" not in target else request.path_qs


def _unquoted(text: str) -> str:
    return unquote_plus(text, errors="strict") if "%" in text or "+" in text else text
