"""Texts that are longer than a column or a buffer (sections 2.5, 2.8 and 4.1 to 4.8)."""

from typing import Any, Final

import msgspec

from hookproof.mockserver.api.errors import internal_error
from hookproof.mockserver.api.request_pipeline import RequestPipeline
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_responses import (
    GET_ENDPOINT,
    GET_PORTAL_LINK,
    AlteredResponses,
    Object,
)
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import EventEcho

SHOWN: Final = ("long_texts",)
# The most bytes of a text column in several databases.
MOST: Final = (1 << 16) - 1
# The most characters of a header in several gateways.
MOST_OF_HEADER: Final = 1 << 12
SETTINGS: Final = ("url", "secret", "content_type", "slack_webhook_url", "support_email")
FREE_TEXTS: Final = ("name", "description", "owner_id", "event_type", "idempotency_key")


def every_field_can_be_long(dialect: Dialect) -> bool:
    """Whether long endpoints disturb nobody, and an event's type is in no header."""
    delivery = dialect.delivery
    return not delivery.disabled_receives.value and delivery.event_type_header is None


def endpoints_can_be_long(dialect: Dialect) -> bool:
    """Whether long endpoints disturb nobody."""
    return not dialect.delivery.disabled_receives.value


def events_show_headers(dialect: Dialect) -> bool:
    return dialect.representation.event_headers.prefers(EventEcho.SENT)


def _cut(value: Any, most: int = MOST) -> Any:
    """The value with every text in it cut."""
    if isinstance(value, dict):
        return {name: _cut(member, most) for name, member in value.items()}
    return value[:most] if isinstance(value, str) else value


class CutBodies(RequestPipeline):
    """Cuts the texts in some fields of the bodies of one operation before they are stored."""

    operation_id: str
    fields: tuple[str, ...]
    most = MOST

    def _perform(self, call: OperationCall) -> OperationResult:
        if call.operation.operation_id == self.operation_id:
            body = {
                name: _cut(value, self.most) if name in self.fields else value
                for name, value in call.body.items()
            }
            call = msgspec.structs.replace(call, body=body)
        return super()._perform(call)


@fault(
    "echoed@*.name echoed@createEndpoint.description echoed@*.owner_id"
    " echoed@createBroadcastEvent.event_type echoed@createBroadcastEvent.idempotency_key",
    seen="a database that cuts what does not fit its column",
    shows_in=SHOWN,
    where=every_field_can_be_long,
)
class LongTextsCut(RequestPipeline):
    """Texts are cut to 65,535 characters before they are stored."""

    def _perform(self, call: OperationCall) -> OperationResult:
        body = {
            name: _cut(value) if name in FREE_TEXTS else value for name, value in call.body.items()
        }
        return super()._perform(msgspec.structs.replace(call, body=body))


@fault(
    "configuration_fetched update_retrieved",
    seen="a cache with a smaller limit than the store",
    shows_in=SHOWN,
    where=every_field_can_be_long,
)
class LongTextsFetchedShort(AlteredResponses):
    """Endpoints and portal links are fetched with texts of at most 65,535 characters."""

    operations = (GET_ENDPOINT, GET_PORTAL_LINK)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, **{name: _cut(resource.get(name)) for name in ("name", "owner_id")}}


@fault("no_server_error", seen="a value that is too long for its column", shows_in=SHOWN)
class LongTextBreaks(RequestPipeline):
    """A text of more than 65,535 characters ends in a server error."""

    def _perform(self, call: OperationCall) -> OperationResult:
        if any(isinstance(text, str) and len(text) > MOST for text in call.body.values()):
            raise internal_error()
        return super()._perform(call)


@fault(
    "given_secret_shown@createEndpoint.secrets.value echoed@createEndpoint.url"
    " echoed@createEndpoint.content_type echoed@createEndpoint.slack_webhook_url"
    " echoed@createEndpoint.support_email",
    seen="a database that cuts what does not fit its column",
    shows_in=SHOWN,
    where=endpoints_can_be_long,
)
class LongSettingsCut(CutBodies):
    """The URL, secret, content type and contacts of an endpoint are cut to 65,535 characters."""

    operation_id = "createEndpoint"
    fields = SETTINGS


@fault(
    "echoed@createEndpoint.authentication.oauth2 echoed@createEndpoint.authentication.api_key"
    " echoed@createEndpoint.authentication.basic_auth.username",
    seen="a database that cuts what does not fit its column",
    shows_in=SHOWN,
    where=endpoints_can_be_long,
)
class LongCredentialsCut(CutBodies):
    """The texts in an endpoint's authentication are cut to 65,535 characters."""

    operation_id = "createEndpoint"
    fields = ("authentication",)


@fault(
    "given_secret_shown@expireEndpointSecret.secrets",
    seen="a database that cuts what does not fit its column",
    shows_in=SHOWN,
    where=endpoints_can_be_long,
)
class LongRolledSecretsCut(CutBodies):
    """The secret that a roll is given is cut to 65,535 characters."""

    operation_id = "expireEndpointSecret"
    fields = ("secret",)


@fault(
    "headers_shown",
    seen="a gateway that cuts long headers",
    shows_in=SHOWN,
    where=events_show_headers,
)
class LongCustomHeadersCut(CutBodies):
    """The values of custom headers are cut to 4,096 characters."""

    operation_id = "createBroadcastEvent"
    fields = ("custom_headers",)
    most = MOST_OF_HEADER


@fault(
    "data_shown raw_meaning body_is_data",
    seen="a store that cuts what does not fit its column",
    shows_in=[*SHOWN, "broadcast"],
)
class LongDataCut(RequestPipeline):
    """The texts in the data of an event are cut to 65,535 characters."""

    def _perform(self, call: OperationCall) -> OperationResult:
        if call.payload is not None:
            cut = msgspec.json.encode(_cut(msgspec.json.decode(call.payload)))
            # Spelled otherwise only where something is cut.
            if len(cut) < len(call.payload) and len(call.payload) > MOST:
                call = msgspec.structs.replace(call, payload=cut)
        return super()._perform(call)
