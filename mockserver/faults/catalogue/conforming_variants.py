"""The innocent: servers that differ in what the document leaves open or merely permits, and must be
acquitted.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
from aiohttp import hdrs
from aiohttp.web_request import BaseRequest

from hookproof.mockserver.api.request_pipeline import RequestPipeline
from hookproof.mockserver.api.response import ApiResponse
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.delivery.attempt.headers import Headers
from hookproof.mockserver.delivery.attempt.sender import AttemptSender
from hookproof.mockserver.delivery.http_client.connection import EndpointConnection
from hookproof.mockserver.delivery.http_client.pool import ConnectionKey, ConnectionPool
from hookproof.mockserver.delivery.http_client.transport import Transport
from hookproof.mockserver.delivery.scheduling.retry import RetryRules
from hookproof.mockserver.delivery.store_port import EndpointSettings, PendingDelivery
from hookproof.mockserver.faults.catalogue.api.validation import Validating
from hookproof.mockserver.faults.catalogue.deliveries.bodies_and_headers import OtherHeaders
from hookproof.mockserver.faults.registry import variant
from hookproof.mockserver.faults.support.altered_responses import (
    BROADCAST,
    LIST_SOURCES,
    LISTS,
    ON_ENDPOINTS,
    ON_PORTAL_LINKS,
    Object,
    SpoiltAnswers,
)
from hookproof.mockserver.store.deliveries import Deliveries
from hookproof.spec.contract.service_contract import SchemaProblem
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import NoValue, TimestampForm

EVERYTHING = (*ON_ENDPOINTS, *ON_PORTAL_LINKS, LIST_SOURCES, BROADCAST)


@variant()
class FurtherMembers(SpoiltAnswers):
    """Responses have members that the document does not name, in the envelope and in the data."""

    operations = EVERYTHING

    def spoilt(self, call: OperationCall, envelope: Object) -> Object:
        """More of everything."""
        return {"request": {"id": 1}, **super().spoilt(call, envelope), "version": [1, None]}

    def spoilt_data(self, call: OperationCall, data: Object) -> Object:
        """More in lists too."""
        further = {"total": 3} if call.operation.operation_id in LISTS else {"links": {"self": "/"}}
        return {**super().spoilt_data(call, data), **further}

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """More in each resource."""
        return {"object": "resource", **resource, "etag": "0"}


@variant()
class OtherOrderOfMembers(SpoiltAnswers):
    """The members of every object of a response come in the opposite order."""

    operations = EVERYTHING

    def spoilt(self, call: OperationCall, envelope: Object) -> Object:
        """Back to front, but for what the headers of an event may mean."""
        turned: Object = _turned(envelope)
        return turned


def _turned(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _turned(value[name]) for name in reversed(value)}
    return [_turned(one) for one in value] if isinstance(value, list) else value


@variant()
class EscapedAndIndented(RequestPipeline):
    """The JSON of a response is indented."""

    def _perform(self, call: OperationCall) -> OperationResult:
        reply = super()._perform(call)
        return OperationResult(status=reply.status, body=msgspec.json.format(reply.body, indent=2))


@variant()
class SecretsNewestFirst(SpoiltAnswers):
    """The secrets of an endpoint are shown newest first."""

    operations = ON_ENDPOINTS

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """Back to front."""
        return {**resource, "secrets": resource["secrets"][::-1]}


@variant()
class EndpointsInAnotherOrder(SpoiltAnswers):
    """The endpoints of portal links and events are shown in the opposite order."""

    operations = (*ON_PORTAL_LINKS, BROADCAST)

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """Back to front."""
        lists = ("endpoints", "endpoints_metadata", "endpoint_metadata")
        return {**resource, **{name: resource[name][::-1] for name in lists if resource.get(name)}}


@variant()
class TargetsNotNamed(SpoiltAnswers):
    """An event names no endpoints: what it reaches is found out later."""

    operations = (BROADCAST,)

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """None yet."""
        return {**resource, "endpoints": [], "endpoint_metadata": []}


@variant(where=lambda dialect: dialect.representation.timestamp.value is TimestampForm.RFC3339)
class TimesWithOffset(SpoiltAnswers):
    """Timestamps have the offset of their zone in place of Z."""

    operations = EVERYTHING

    def spoilt(self, call: OperationCall, envelope: Object) -> Object:
        """The same moments."""
        written: Object = _with_offset(envelope)
        return written


def _with_offset(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _with_offset(one, key) for key, one in value.items()}
    if isinstance(value, list):
        return [_with_offset(one) for one in value]
    return f"{value[:-1]}+00:00" if name.endswith("_at") and isinstance(value, str) else value


def shows_nothing_in_two_ways(dialect: Dialect) -> bool:
    """Whether a field without value may be null and may be left out."""
    return {NoValue.NULL, NoValue.ABSENT} <= set(dialect.representation.no_value.allowed)


@variant(where=shows_nothing_in_two_ways)
class DeletedAtLeftOut(SpoiltAnswers):
    """deleted_at is left out of what was not deleted, where other fields are null."""

    operations = EVERYTHING

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """Without it."""
        return {name: value for name, value in resource.items() if name != "deleted_at"}


@variant()
class FurtherHeaders(RequestPipeline):
    """Responses have headers that nobody asked for."""

    def _to_response(self, reply: OperationResult) -> ApiResponse:
        headers = {
            "X-Request-Id": "1",
            "Cache-Control": "no-store",
            "Vary": "Accept",
            "Strict-Transport-Security": "1",
        }
        return ApiResponse(reply.status, reply.body, headers=headers)


@variant()
class MediaTypeWithCharset(RequestPipeline):
    """Responses name the character set of their JSON."""

    def _to_response(self, reply: OperationResult) -> ApiResponse:
        return ApiResponse(reply.status, reply.body, media_type="Application/JSON; charset=UTF-8")


@variant()
class ConnectionsClosed(RequestPipeline):
    """Every connection is closed after one answer."""

    def _to_response(self, reply: OperationResult) -> ApiResponse:
        return ApiResponse(reply.status, reply.body, close_connection=True)


class Reframed(ApiResponse):
    """An answer whose length is told in another way."""

    def __init__(self, reply: OperationResult) -> None:
        super().__init__(reply.status, reply.body, close_connection=True)
        self._length = f"Content-Length: {len(reply.body)}\r\n".encode()

    async def write_eof(self, data: bytes = b"") -> None:
        """Write it, and close the connection."""
        transport = self._request.transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError
        head, body = self.reframed(self.head())
        transport.write(head + (b"" if self._request.method == hdrs.METH_HEAD else body))

    def reframed(self, head: bytes) -> tuple[bytes, bytes]:
        """Another head, and the body as it goes with it."""
        return head, self._content


class Chunked(Reframed):
    """An answer in chunks of some bytes."""

    def reframed(self, head: bytes) -> tuple[bytes, bytes]:
        """Chunks of 100 bytes."""
        pieces = [self._content[start : start + 100] for start in range(0, len(self._content), 100)]
        body = b"".join(b"%x\r\n%b\r\n" % (len(one), one) for one in pieces) + b"0\r\n\r\n"
        return head.replace(self._length, b"Transfer-Encoding: chunked\r\n"), body


class UntilTheEnd(Reframed):
    """An answer of HTTP/1.0, which is over when the connection is."""

    def reframed(self, head: bytes) -> tuple[bytes, bytes]:
        """Without a length."""
        return head.replace(self._length, b"").replace(b"HTTP/1.1", b"HTTP/1.0"), self._content


@variant()
class ChunkedAnswers(RequestPipeline):
    """Responses come in chunks."""

    def _to_response(self, reply: OperationResult) -> ApiResponse:
        return Chunked(reply)


@variant()
class AnswersOfHttp10(RequestPipeline):
    """Responses are of HTTP/1.0, without a length."""

    def _to_response(self, reply: OperationResult) -> ApiResponse:
        return UntilTheEnd(reply)


@variant()
class SlowerAnswers(RequestPipeline):
    """Every answer takes a moment longer."""

    async def answer(self, request: BaseRequest) -> ApiResponse:
        """After a twentieth of a second."""
        answer = await super().answer(request)
        await asyncio.sleep(0.05)
        return answer


@variant()
class OtherJsonTaken(RequestPipeline):
    """A body may be declared as any kind of JSON."""

    def _require_json(self, request: BaseRequest, *, empty: bool) -> None:
        if not request.headers.get(hdrs.CONTENT_TYPE, "").endswith("+json"):
            super()._require_json(request, empty=empty)


@variant()
class StricterFormats(Validating):
    """A support_email needs an at sign, and a slack_webhook_url has to be https."""

    def found(
        self, operation_id: str, value: Any, problems: Sequence[SchemaProblem]
    ) -> Sequence[SchemaProblem]:
        """Problems more than the document has."""
        begins = {"support_email": "@", "slack_webhook_url": "https://"}
        bad = [
            name
            for name, part in begins.items()
            if isinstance(value, dict) and part not in str(value.get(name, part))
        ]
        return [
            *problems,
            *(SchemaProblem(pointer=f"/{name}", message="has no such form") for name in bad),
        ]


@variant()
class LateRetries(RetryRules):
    """Further attempts come somewhat later than they could."""

    def next_due(self, attempts: int, retry_after: str | None) -> float | None:
        """A second later."""
        due = super().next_due(attempts, retry_after)
        return None if due is None else due + 1


@variant()
class DeliveriesOutOfOrder(Deliveries):
    """Of the deliveries that are due the latest goes first."""

    def pending(self, endpoint_uid: str, limit: int) -> Sequence[PendingDelivery]:
        """Back to front, those that are not due last."""
        now = self._clock()
        return sorted(
            super().pending(endpoint_uid, limit),
            key=lambda one: (one.due_at > now, one.due_at if one.due_at > now else -one.id),
        )


@variant()
class NewConnections(Transport):
    """Each delivery has a connection of its own."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._pool = _KeepsNone()


class _KeepsNone(ConnectionPool):
    """A pool that nothing ever comes back to."""

    def release(self, key: ConnectionKey, connection: EndpointConnection) -> None:
        """Close it."""
        connection.abort()


@variant()
class FurtherDeliveryHeaders(OtherHeaders):
    """Deliveries have headers that nobody asked for."""

    def altered(self, delivery: PendingDelivery, headers: Headers) -> Headers:
        """More."""
        return (*headers, ("X-Trace-Id", f"{delivery.id}"), ("Accept", "*/*"))


@variant()
class HeadersInLowerCase(AttemptSender):
    """The names of all headers of deliveries are in lower case."""

    def _headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, shown: Headers, body: bytes
    ) -> Headers:
        return tuple(
            (name.lower(), value)
            for name, value in super()._headers(delivery, endpoint, shown, body)
        )
