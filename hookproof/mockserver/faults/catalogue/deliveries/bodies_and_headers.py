"""Wrong bodies and headers of deliveries (sections 2.3, 4.8 and 6)."""

import json
from typing import Any, ClassVar, Final

import msgspec

from hookproof.mockserver.api.handlers.events import EventHandlers
from hookproof.mockserver.api.service import ApiService, OperationCall, OperationResult
from hookproof.mockserver.delivery.attempt import headers as delivery_headers
from hookproof.mockserver.delivery.attempt.body import encode_form
from hookproof.mockserver.delivery.attempt.headers import (
    AUTHORIZATION,
    CONTENT_TYPE,
    TOKEN,
    Headers,
)
from hookproof.mockserver.delivery.attempt.sender import AttemptSender
from hookproof.mockserver.delivery.store_port import EndpointSettings, PendingDelivery
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_deliveries import AlteredBody, AlteredHeaders
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import FormEncoding, OnInput

BROADCAST: Final = ("broadcast",)
CUSTOM: Final = ("custom_headers",)


@fault("digits_kept", seen="big integers altered", shows_in=BROADCAST)
class NumbersAsDoubles(AlteredBody):
    """Integers in the data of an event are delivered as floating-point numbers."""

    def alter_body(self, delivery: PendingDelivery) -> bytes:
        return msgspec.json.encode(_with_doubles(msgspec.json.decode(delivery.body)))


def _with_doubles(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_doubles(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_with_doubles(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


@fault("body_is_data", seen="text in another encoding", shows_in=BROADCAST)
class TextOutsideAsciiLost(AlteredBody):
    """Characters outside ASCII are delivered as question marks."""

    def alter_body(self, delivery: PendingDelivery) -> bytes:
        return delivery.body.decode().encode("ascii", "replace")


@fault(
    "body_is_data form_body",
    seen="an envelope of the service's own around the data",
    shows_in=BROADCAST,
)
class DataInAnEnvelope(AlteredBody):
    """The body of a delivery is an object around the data of the event."""

    def alter_body(self, delivery: PendingDelivery) -> bytes:
        return b'{"event":"%b","data":%b}' % (delivery.event_type.encode(), delivery.body)


@fault("body_kept body_is_data", shows_in=["retries", "later_attempts"])
class RetriesCounted(AlteredBody):
    """The body of a retry has a further member that counts the attempts."""

    def alter_body(self, delivery: PendingDelivery) -> bytes:
        more = b',"retry":%d}' % delivery.attempts
        return delivery.body[:-1] + more if delivery.attempts else delivery.body


@fault("body_is_data", shows_in=BROADCAST)
class NestedNullsDropped(AlteredBody):
    """A member below the top level of the data is left out if its value is null."""

    def alter_body(self, delivery: PendingDelivery) -> bytes:
        data = json.loads(delivery.body)
        if not isinstance(data, dict):
            return delivery.body
        kept = {name: _without_nulls(value) for name, value in data.items()}
        return delivery.body if kept == data else json.dumps(kept).encode()


def _without_nulls(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    if isinstance(value, dict):
        return {
            name: _without_nulls(member) for name, member in value.items() if member is not None
        }
    return value


@fault("form_body", shows_in=BROADCAST)
class FormMistaken(AttemptSender):
    """The form content type carries JSON where the dialect says a form, and the reverse."""

    def _body(self, delivery: PendingDelivery, endpoint: EndpointSettings) -> bytes:
        right = super()._body(delivery, endpoint)
        if right != delivery.body:
            return delivery.body
        is_form = "form" in endpoint.content_type
        if is_form and self._dialect.delivery.form_body.value is FormEncoding.JSON:
            return encode_form(delivery.body)
        return right


@fault(
    "default_content_type_sent content_type_sent",
    seen="a default header of the client library",
    shows_in=BROADCAST,
)
class DeclaredAsText(AttemptSender):
    """Every delivery has the Content-Type text/plain."""

    def _own_headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, body: bytes
    ) -> Headers:
        headers = super()._own_headers(delivery, endpoint, body)
        return tuple(
            (name, "text/plain" if name == CONTENT_TYPE else value) for name, value in headers
        )


@fault("content_type_sent", shows_in=BROADCAST)
class DeclaredAsJsonBesideCustomHeaders(AttemptSender):
    """A delivery with custom headers has the Content-Type application/json."""

    def _own_headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, body: bytes
    ) -> Headers:
        if delivery.custom_headers:
            endpoint = msgspec.structs.replace(endpoint, content_type="application/json")
        return super()._own_headers(delivery, endpoint, body)


def _custom_headers(delivery: PendingDelivery, headers: Headers) -> Headers:
    return tuple(header for header in delivery.custom_headers.items() if header in headers)


@fault("custom_headers_sent", shows_in=BROADCAST)
class CustomHeadersDropped(AlteredHeaders):
    """Deliveries carry no custom headers."""

    def alter_headers(self, delivery: PendingDelivery, headers: Headers) -> Headers:
        custom = _custom_headers(delivery, headers)
        return tuple(header for header in headers if header not in custom)


@fault(
    "custom_headers_sent no_foreign_headers",
    seen="headers in a variable that is shared",
    shows_in=BROADCAST,
)
class CustomHeadersOfTheEventBefore(AlteredHeaders):
    """The last custom header of a delivery is that of the previous event of its endpoint."""

    before: ClassVar[dict[str, tuple[str, str]]] = {}

    def alter_headers(self, delivery: PendingDelivery, headers: Headers) -> Headers:
        custom = _custom_headers(delivery, headers)
        if not custom:
            return headers
        last = custom[-1]
        before = self.before.get(delivery.endpoint_uid, last)
        self.before[delivery.endpoint_uid] = last
        return (*(header for header in headers if header != last), before)


@fault("no_foreign_headers", seen="a default that is changed in place", shows_in=BROADCAST)
class CustomHeadersPileUp(AlteredHeaders):
    """A delivery has the custom headers of all earlier events of its endpoint that it lacks."""

    earlier: ClassVar[dict[str, dict[str, str]]] = {}

    def alter_headers(self, delivery: PendingDelivery, headers: Headers) -> Headers:
        earlier = self.earlier.setdefault(delivery.endpoint_uid, {})
        names = {name.lower() for name, _ in headers}
        earlier.update(_custom_headers(delivery, headers))
        return (*headers, *(pair for pair in earlier.items() if pair[0].lower() not in names))


@fault(
    "event_id_sent event_id_kept",
    seen="a new delivery id per attempt",
    shows_in=["broadcast", "retries"],
    where=lambda dialect: dialect.delivery.event_id_header is not None,
)
class EventIdOfTheAttempt(AttemptSender):
    """Each attempt of a delivery has an event identifier of its own."""

    def _own_headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, body: bytes
    ) -> Headers:
        return super()._own_headers(
            msgspec.structs.replace(delivery, event_uid=f"{delivery.id}.{delivery.attempts}"),
            endpoint,
            body,
        )


@fault(
    "event_type_sent",
    shows_in=BROADCAST,
    where=lambda dialect: dialect.delivery.event_type_header is not None,
)
class EventTypeInCapitals(AttemptSender):
    """The header with the event_type shows it in upper case."""

    def _own_headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, body: bytes
    ) -> Headers:
        return super()._own_headers(
            msgspec.structs.replace(delivery, event_type=delivery.event_type.upper()),
            endpoint,
            body,
        )


@fault(
    "attempts_numbered",
    shows_in=["retries"],
    where=lambda dialect: dialect.delivery.attempt_header is not None,
)
class AttemptsNotCounted(AttemptSender):
    """Every attempt of a delivery carries the number of the first attempt."""

    def _own_headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, body: bytes
    ) -> Headers:
        return super()._own_headers(msgspec.structs.replace(delivery, attempts=0), endpoint, body)


def ignores_reserved(dialect: Dialect) -> bool:
    return dialect.delivery.reserved_headers.value is OnInput.IGNORED


@fault(
    "service_header headers_not_replaced",
    seen="custom headers override the signature",
    shows_in=CUSTOM,
    where=ignores_reserved,
)
class CustomHeadersFirst(AlteredHeaders):
    """A custom header replaces the service's own header of the same name."""

    def alter_headers(self, delivery: PendingDelivery, headers: Headers) -> Headers:
        others = {*delivery_headers.FRAMING_HEADERS, AUTHORIZATION.lower()}
        own, sent = self._reserved - others, delivery.custom_headers.items()
        custom = [(name, text) for name, text in sent if name.lower() in own]
        replaced = {name.lower() for name, _ in custom}
        return (*(header for header in headers if header[0].lower() not in replaced), *custom)


@fault("headers_not_replaced", shows_in=CUSTOM)
class CustomHeadersBeforeCredentials(AttemptSender):
    """A custom header replaces the credentials of an endpoint that have its name."""

    def _headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, shown: Headers, body: bytes
    ) -> Headers:
        replaced = {name.lower() for name in delivery.custom_headers} - self._reserved
        kept = tuple(header for header in shown if header[0].lower() not in replaced)
        return super()._headers(delivery, endpoint, kept, body)


def refuses_further_headers(dialect: Dialect) -> bool:
    rules = dialect.delivery
    is_refused = rules.reserved_headers.value is OnInput.REFUSED
    return is_refused and bool(rules.further_reserved_headers)


@fault("service_header", shows_in=CUSTOM, where=refuses_further_headers)
class FurtherHeadersTaken(EventHandlers):
    """A custom header is taken that the dialect reserves although the service does not set it."""

    def __init__(self, service: ApiService) -> None:
        super().__init__(service)
        further = service.dialect.delivery.further_reserved_headers
        self._reserved_headers -= {name.lower() for name in further}


@fault("service_header", shows_in=CUSTOM)
class ReservedHeadersMistaken(EventHandlers):
    """A reserved custom header is refused where the dialect ignores it, and the reverse."""

    def __init__(self, service: ApiService) -> None:
        super().__init__(service)
        names = delivery_headers.reserved_header_names(service.dialect)
        self._reserved_headers = frozenset() if self._reserved_headers else names


@fault("no_header_injected", seen="CR/LF in headers", shows_in=CUSTOM)
class LineBreaksAccepted(EventHandlers):
    """A line break in a custom header starts a further header."""

    def create_broadcast(self, call: OperationCall) -> OperationResult:
        headers = {
            line.partition(":")[0]: line.partition(":")[2]
            for name, value in call.body.get("custom_headers", {}).items()
            for line in f"{name}: {value}".splitlines()
            if line
        }
        usable = {
            name.strip(): value.strip()
            for name, value in headers.items()
            if TOKEN.fullmatch(name.strip())
        }
        return super().create_broadcast(
            msgspec.structs.replace(call, body={**call.body, "custom_headers": usable})
        )
