"""Conforming variants: servers that differ only in what the document leaves open or permits.

The suites must pass them.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from aiohttp import hdrs
from aiohttp.web_request import BaseRequest
from yarl import URL

from hookproof.mockserver.api.handlers.events import EventHandlers
from hookproof.mockserver.api.request_pipeline import RequestPipeline
from hookproof.mockserver.api.response import ApiResponse
from hookproof.mockserver.api.serialization.response_serializer import ResponseSerializer
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.delivery.attempt.headers import Headers
from hookproof.mockserver.delivery.attempt.sender import AttemptSender
from hookproof.mockserver.delivery.http_client.connection import EndpointConnection
from hookproof.mockserver.delivery.http_client.pool import ConnectionKey, ConnectionPool
from hookproof.mockserver.delivery.http_client.transport import Transport
from hookproof.mockserver.delivery.scheduling.retry import RetryRules
from hookproof.mockserver.delivery.store_port import EndpointSettings, PendingDelivery
from hookproof.mockserver.faults.registry import variant
from hookproof.mockserver.faults.support.altered_deliveries import AlteredHeaders, AlteredUrl
from hookproof.mockserver.faults.support.altered_responses import (
    BROADCAST,
    LIST_SOURCES,
    LISTS,
    ON_ENDPOINTS,
    ON_PORTAL_LINKS,
    AlteredResponses,
    Object,
)
from hookproof.mockserver.faults.support.altered_validation import AlteredValidation, Schema
from hookproof.mockserver.store.deliveries import Deliveries
from hookproof.mockserver.store.endpoints import EndpointRow
from hookproof.mockserver.store.events import EventTable, NewEvent
from hookproof.spec.contract.service_contract import SchemaProblem
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import NoValue, TimestampForm

ALL_OPERATIONS = (*ON_ENDPOINTS, *ON_PORTAL_LINKS, LIST_SOURCES, BROADCAST)


@variant(where=lambda dialect: bool(dialect.representation.masked))
class EndsOfCredentials(ResponseSerializer):
    """The last four characters of a masked credential are shown behind the mask."""

    def in_place_of(self, credential: Any) -> str:
        return f"{super().in_place_of(credential)}{str(credential)[-4:]}"


@variant()
class FurtherMembers(AlteredResponses):
    """Responses have members that the document does not name."""

    operations = ALL_OPERATIONS

    def alter_envelope(self, call: OperationCall, envelope: Object) -> Object:
        return {
            "request": {"id": 1},
            **super().alter_envelope(call, envelope),
            "version": [1, None],
        }

    def alter_data(self, call: OperationCall, data: Object) -> Object:
        further = {"total": 3} if call.operation.operation_id in LISTS else {"links": {"self": "/"}}
        return {**super().alter_data(call, data), **further}

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {"object": "resource", **resource, "etag": "0"}


@variant()
class OtherOrderOfMembers(AlteredResponses):
    """The members of every object of a response are in reverse order."""

    operations = ALL_OPERATIONS

    def alter_envelope(self, call: OperationCall, envelope: Object) -> Object:
        reversed_envelope: Object = _reversed(envelope)
        return reversed_envelope


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _reversed(value[name]) for name in reversed(value)}
    return [_reversed(item) for item in value] if isinstance(value, list) else value


@variant()
class IndentedJson(RequestPipeline):
    """The JSON of a response is indented."""

    def _perform(self, call: OperationCall) -> OperationResult:
        result = super()._perform(call)
        return OperationResult(
            status=result.status, body=msgspec.json.format(result.body, indent=2)
        )


@variant()
class SecretsNewestFirst(AlteredResponses):
    """The secrets of an endpoint are shown newest first."""

    operations = ON_ENDPOINTS

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "secrets": resource["secrets"][::-1]}


@variant()
class EndpointsInAnotherOrder(AlteredResponses):
    """The endpoints of portal links and events are shown in reverse order."""

    operations = (*ON_PORTAL_LINKS, BROADCAST)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        lists = ("endpoints", "endpoints_metadata", "endpoint_metadata")
        return {**resource, **{name: resource[name][::-1] for name in lists if resource.get(name)}}


@variant()
class TargetsNotNamed(AlteredResponses):
    """The response to a broadcast names no endpoints."""

    operations = (BROADCAST,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "endpoints": [], "endpoint_metadata": []}


@variant(where=lambda dialect: dialect.representation.timestamp.value is TimestampForm.RFC3339)
class TimesWithOffset(AlteredResponses):
    """Timestamps have a numeric offset in place of Z."""

    operations = ALL_OPERATIONS

    def alter_envelope(self, call: OperationCall, envelope: Object) -> Object:
        written: Object = _with_times(
            envelope, lambda time: f"{time[:-1]}+00:00" if isinstance(time, str) else time
        )
        return written


def _with_times(value: Any, change: Callable[[Any], Any], name: str = "") -> Any:
    """The value with this change of each of its timestamps, also of those that are null."""
    if isinstance(value, dict):
        return {key: _with_times(member, change, key) for key, member in value.items()}
    if isinstance(value, list):
        return [_with_times(item, change) for item in value]
    return change(value) if name.endswith("_at") else value


def shows_null_and_microseconds(dialect: Dialect) -> bool:
    representation = dialect.representation
    shows_null = representation.no_value.value is NoValue.NULL
    return shows_null and representation.timestamp.value is TimestampForm.RFC3339_MICROSECONDS


@variant(where=shows_null_and_microseconds)
class TimesOfTheYearOne(AlteredResponses):
    """A time without value is shown as the first moment of the year 1, as Go and .NET write it."""

    operations = ALL_OPERATIONS

    def alter_envelope(self, call: OperationCall, envelope: Object) -> Object:
        written: Object = _with_times(envelope, lambda time: time or "0001-01-01T00:00:00.000000Z")
        return written


@variant()
class AcknowledgedAtInSeconds(EventHandlers):
    """A broadcast takes acknowledged_at in Unix seconds alone, whatever form other times have."""

    def create_broadcast(self, call: OperationCall) -> OperationResult:
        time = call.body.get("acknowledged_at")
        if time is not None and not re.fullmatch(r"\d{10}", time):
            raise self._service.errors.invalid("/acknowledged_at: is not in Unix seconds")
        return super().create_broadcast(call)


def allows_null_and_absent(dialect: Dialect) -> bool:
    return {NoValue.NULL, NoValue.ABSENT} <= set(dialect.representation.no_value.allowed)


@variant(where=allows_null_and_absent)
class DeletedAtLeftOut(AlteredResponses):
    """Resources have no deleted_at, while other fields without value are null."""

    operations = ALL_OPERATIONS

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {name: value for name, value in resource.items() if name != "deleted_at"}


@variant()
class FurtherHeaders(RequestPipeline):
    """Responses have headers that the document does not name."""

    def _to_response(self, result: OperationResult) -> ApiResponse:
        headers = {
            "X-Request-Id": "1",
            "Cache-Control": "no-store",
            "Vary": "Accept",
            "Strict-Transport-Security": "1",
        }
        return ApiResponse(result.status, result.body, headers=headers)


@variant()
class MediaTypeWithCharset(RequestPipeline):
    """Responses name the character set of their JSON."""

    def _to_response(self, result: OperationResult) -> ApiResponse:
        return ApiResponse(result.status, result.body, media_type="Application/JSON; charset=UTF-8")


@variant()
class ConnectionsClosed(RequestPipeline):
    """Every connection is closed after one response."""

    def _to_response(self, result: OperationResult) -> ApiResponse:
        return ApiResponse(result.status, result.body, close_connection=True)


class ReframedResponse(ApiResponse):
    """A response whose length is not given by Content-Length alone."""

    def __init__(self, result: OperationResult) -> None:
        super().__init__(result.status, result.body, close_connection=True)
        self._length = f"Content-Length: {len(result.body)}\r\n".encode()

    async def write_eof(self, data: bytes = b"") -> None:
        transport = self._request.transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError
        head, body = self.reframe(self.head())
        transport.write(head + (b"" if self._request.method == hdrs.METH_HEAD else body))

    def reframe(self, head: bytes) -> tuple[bytes, bytes]:
        return head, self._content


class ChunkedResponse(ReframedResponse):
    """A response in chunks of 100 bytes (RFC 9112, section 7.1)."""

    def reframe(self, head: bytes) -> tuple[bytes, bytes]:
        pieces = [self._content[start : start + 100] for start in range(0, len(self._content), 100)]
        body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
        return head.replace(self._length, b"Transfer-Encoding: chunked\r\n"), body


class UnboundedResponse(ReframedResponse):
    """An HTTP/1.0 response, which ends when the connection is closed."""

    def reframe(self, head: bytes) -> tuple[bytes, bytes]:
        return head.replace(self._length, b"").replace(b"HTTP/1.1", b"HTTP/1.0"), self._content


@variant()
class ChunkedAnswers(RequestPipeline):
    """Responses are sent in chunks."""

    def _to_response(self, result: OperationResult) -> ApiResponse:
        return ChunkedResponse(result)


@variant()
class AnswersOfHttp10(RequestPipeline):
    """Responses are HTTP/1.0, without a Content-Length."""

    def _to_response(self, result: OperationResult) -> ApiResponse:
        return UnboundedResponse(result)


@variant()
class SlowerAnswers(RequestPipeline):
    """Every response comes a twentieth of a second later."""

    async def answer(self, request: BaseRequest) -> ApiResponse:
        response = await super().answer(request)
        await asyncio.sleep(0.05)  # plays a slow server
        return response


@variant()
class OtherJsonAccepted(RequestPipeline):
    """A body may have any media type that ends in +json."""

    def _require_json(self, request: BaseRequest, *, empty: bool) -> None:
        if not request.headers.get(hdrs.CONTENT_TYPE, "").endswith("+json"):
            super()._require_json(request, empty=empty)


@variant()
class StricterFormats(AlteredValidation):
    """A support_email needs an at sign, and a slack_webhook_url must be https."""

    def further_problems(self, schema: Schema, body: Mapping[str, Any]) -> Iterable[SchemaProblem]:
        required_parts = {"support_email": "@", "slack_webhook_url": "https://"}
        for name, part in required_parts.items():
            if part not in str(body.get(name, part)):
                yield SchemaProblem(pointer=f"/{name}", message=f"does not contain {part}")


@variant()
class LateRetries(RetryRules):
    """Retries come a second later than they are due."""

    def next_due(self, attempts: int, retry_after: str | None) -> float | None:
        due = super().next_due(attempts, retry_after)
        return None if due is None else due + 1


@variant()
class LateDeliveries(EventTable):
    """Every delivery is due three seconds after its event was accepted."""

    def add(self, event: NewEvent, *, reached: Sequence[EndpointRow], now: float) -> None:
        super().add(event, reached=reached, now=now + 3)


@variant()
class DeliveriesOutOfOrder(Deliveries):
    """Of the deliveries that are due the newest goes first."""

    def pending(self, endpoint_uid: str, limit: int) -> Sequence[PendingDelivery]:
        now = self._clock()
        return sorted(
            super().pending(endpoint_uid, limit),
            key=lambda delivery: (
                delivery.due_at > now,
                delivery.due_at if delivery.due_at > now else -delivery.id,
            ),
        )


@variant()
class NewConnections(Transport):
    """Each delivery has a connection of its own."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._pool = EmptyPool()


class EmptyPool(ConnectionPool):
    """A pool that keeps no connection."""

    def release(self, key: ConnectionKey, connection: EndpointConnection) -> None:
        connection.abort()


@variant()
class FurtherDeliveryHeaders(AlteredHeaders):
    """Deliveries have headers that the document does not name."""

    def alter_headers(self, delivery: PendingDelivery, headers: Headers) -> Headers:
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


@variant()
class UrlsWrittenAnew(AlteredUrl):
    """Deliveries go to URLs as a client library writes them: escapes that nobody needs decoded, the
    others in capitals, and paths without dot segments.
    """

    def alter_url(self, url: str) -> str:
        return str(URL(url))
