"""Bodies and headers of deliveries: altered on the way, or told wrongly (sections 2.3, 4.8 and 6)."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import msgspec

from hookproof.mockserver.api.handlers.events import EventHandlers
from hookproof.mockserver.api.service import OperationCall, OperationResult, Service
from hookproof.mockserver.delivery.attempt import headers as delivery_headers
from hookproof.mockserver.delivery.attempt.body import encode_form
from hookproof.mockserver.delivery.attempt.headers import (
    CONTENT_TYPE,
    TOKEN,
    Headers,
    allowed_custom_headers,
)
from hookproof.mockserver.delivery.attempt.sender import AttemptSender
from hookproof.mockserver.delivery.store_port import EndpointSettings, PendingDelivery
from hookproof.mockserver.faults.registry import fault
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import FormEncoding, OnInput

BROADCAST: Final = ("broadcast",)
CUSTOM: Final = ("custom_headers",)


class OtherBody(AttemptSender):
    """Sends another body than the data of the event, rightly signed."""

    def _body(self, delivery: PendingDelivery, endpoint: EndpointSettings) -> bytes:
        return super()._body(
            msgspec.structs.replace(delivery, body=self.altered(delivery)), endpoint
        )

    def altered(self, delivery: PendingDelivery) -> bytes:
        """The JSON text that is sent instead."""
        return delivery.body


@fault("6-3", seen="big integers altered", shows_in=BROADCAST)
class NumbersAsDoubles(OtherBody):
    """Numbers in the data of an event go through a double."""

    def altered(self, delivery: PendingDelivery) -> bytes:
        """Rounded."""
        return msgspec.json.encode(_doubled(msgspec.json.decode(delivery.body)))


def _doubled(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _doubled(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_doubled(one) for one in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


@fault("6-3", seen="text in another encoding", shows_in=BROADCAST)
class TextOutsideAsciiLost(OtherBody):
    """Characters outside ASCII become question marks in deliveries."""

    def altered(self, delivery: PendingDelivery) -> bytes:
        """Replaced."""
        return delivery.body.decode().encode("ascii", "replace")


@fault("6-3", "6-12", seen="an envelope of the service's own around the data", shows_in=BROADCAST)
class DataInAnEnvelope(OtherBody):
    """The body of a delivery is an object that holds the data."""

    def altered(self, delivery: PendingDelivery) -> bytes:
        """One level deeper."""
        return b'{"event":"%b","data":%b}' % (delivery.event_type.encode(), delivery.body)


@fault("1-21", shows_in=["retries"])
class RetriesCounted(OtherBody):
    """The body of a repeated attempt says that it is one."""

    def altered(self, delivery: PendingDelivery) -> bytes:
        """A member more."""
        more = b',"retry":%d}' % delivery.attempts
        return delivery.body[:-1] + more if delivery.attempts else delivery.body


@fault("6-12", shows_in=BROADCAST)
class FormMistaken(AttemptSender):
    """A delivery in the form content type is JSON where it is to be a form, and a form where it is
    to be JSON.
    """

    def _body(self, delivery: PendingDelivery, endpoint: EndpointSettings) -> bytes:
        right = super()._body(delivery, endpoint)
        if right != delivery.body:
            return delivery.body
        asks = "form" in endpoint.content_type
        return (
            encode_form(delivery.body)
            if asks and self._dialect.delivery.form_body.value is FormEncoding.JSON
            else right
        )


@fault("2.3-6", "2.3-7", seen="a default header of the client library", shows_in=BROADCAST)
class DeclaredAsText(AttemptSender):
    """Every delivery is declared as plain text."""

    def _own_headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, body: bytes
    ) -> Headers:
        headers = super()._own_headers(delivery, endpoint, body)
        return tuple(
            (name, "text/plain" if name == CONTENT_TYPE else value) for name, value in headers
        )


class OtherHeaders(AttemptSender):
    """Sends other headers than those of the delivery, once they are all made."""

    def _headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, shown: Headers, body: bytes
    ) -> Headers:
        return self.altered(delivery, super()._headers(delivery, endpoint, shown, body))

    def altered(self, delivery: PendingDelivery, headers: Headers) -> Headers:
        """The headers that are sent instead."""
        return headers

    def custom(self, delivery: PendingDelivery, headers: Headers) -> Headers:
        """The custom ones among them."""
        return tuple(header for header in delivery.custom_headers.items() if header in headers)


@fault("6-4", shows_in=BROADCAST)
class CustomHeadersDropped(OtherHeaders):
    """Deliveries carry no custom header."""

    def altered(self, delivery: PendingDelivery, headers: Headers) -> Headers:
        """The service's own."""
        custom = self.custom(delivery, headers)
        return tuple(header for header in headers if header not in custom)


@fault("6-4", "6-5", seen="headers in a variable that is shared", shows_in=BROADCAST)
class CustomHeadersOfTheEventBefore(OtherHeaders):
    """The last custom header of a delivery is that of the event before."""

    before: ClassVar[dict[str, tuple[str, str]]] = {}

    def altered(self, delivery: PendingDelivery, headers: Headers) -> Headers:
        """The other one."""
        custom = self.custom(delivery, headers)
        if not custom:
            return headers
        last = custom[-1]
        before = self.before.get(delivery.endpoint_uid, last)
        self.before[delivery.endpoint_uid] = last
        return (*(header for header in headers if header != last), before)


@fault("4.8-16", "1-20", seen="a new delivery id per attempt", shows_in=["broadcast", "retries"])
class EventIdOfTheAttempt(AttemptSender):
    """The event identifier of a delivery is one of the attempt."""

    def _own_headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, body: bytes
    ) -> Headers:
        return super()._own_headers(
            msgspec.structs.replace(delivery, event_uid=f"{delivery.id}.{delivery.attempts}"),
            endpoint,
            body,
        )


@fault(
    "4.8-17",
    shows_in=BROADCAST,
    where=lambda dialect: dialect.delivery.event_type_header is not None,
)
class EventTypeInCapitals(AttemptSender):
    """The header with the event_type shows it in capitals."""

    def _own_headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, body: bytes
    ) -> Headers:
        return super()._own_headers(
            msgspec.structs.replace(delivery, event_type=delivery.event_type.upper()),
            endpoint,
            body,
        )


@fault(
    "1-22", shows_in=["retries"], where=lambda dialect: dialect.delivery.attempt_header is not None
)
class AttemptsNotCounted(AttemptSender):
    """Every attempt of a delivery is the first one by its number."""

    def _own_headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, body: bytes
    ) -> Headers:
        return super()._own_headers(msgspec.structs.replace(delivery, attempts=0), endpoint, body)


def ignores_reserved(dialect: Dialect) -> bool:
    """Whether custom headers that the service sets itself get as far as being ignored."""
    return dialect.delivery.reserved_headers.value is OnInput.IGNORED


@fault(
    "6-6",
    "6-7",
    "6-13",
    "6-18",
    seen="custom headers override the signature",
    shows_in=CUSTOM,
    where=ignores_reserved,
)
class CustomHeadersFirst(OtherHeaders):
    """A custom header takes the place of the service's own of that name."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._reserved = delivery_headers.FRAMING_HEADERS

    def altered(self, delivery: PendingDelivery, headers: Headers) -> Headers:
        """What the custom ones leave over, and they."""
        custom = allowed_custom_headers(delivery.custom_headers, self._reserved)
        taken = {name.lower() for name in delivery.custom_headers}
        return (*(header for header in headers if header[0].lower() not in taken), *custom)


@fault("6-13", shows_in=CUSTOM)
class ReservedHeadersMistaken(EventHandlers):
    """A custom header that the service sets itself is refused where it is ignored, and ignored
    where it is refused.
    """

    def __init__(self, service: Service) -> None:
        super().__init__(service)
        names = delivery_headers.reserved_header_names(service.dialect)
        self._reserved_headers = frozenset() if self._reserved_headers else names


class LooseHeaders(EventHandlers):
    """Takes custom headers that no header can be."""

    def _reject_unusable(self, headers: Mapping[str, Any]) -> None:
        super()._reject_unusable({name: "" for name in headers if TOKEN.fullmatch(name)})


@fault("6-19", seen="CR/LF in headers", shows_in=CUSTOM)
class LineBreaksTaken(LooseHeaders):
    """A line break in a custom header begins a header of its own."""

    def create_broadcast(self, call: OperationCall) -> OperationResult:
        """The lines of each, taken apart."""
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
