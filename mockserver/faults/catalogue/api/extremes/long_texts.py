"""Texts that are longer than a column or a buffer (sections 4.1, 4.2, 4.6 and 4.8)."""

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

SHOWN: Final = ("long_texts",)
# The most bytes of a text column in several databases.
MOST: Final = (1 << 16) - 1
FREE_TEXTS: Final = ("name", "description", "owner_id", "event_type", "idempotency_key")


def every_field_can_be_long(dialect: Dialect) -> bool:
    """Whether long endpoints disturb nobody, and an event's type is in no header."""
    delivery = dialect.delivery
    return not delivery.disabled_receives.value and delivery.event_type_header is None


def _cut(value: Any) -> Any:
    return value[:MOST] if isinstance(value, str) else value


@fault(
    "4.1-4",
    "4.1-5",
    "4.1-7",
    "4.6-5",
    "4.6-6",
    "4.8-4",
    "4.8-5",
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
    "4.2-5",
    "4.6-9",
    seen="a cache with a smaller limit than the store",
    shows_in=SHOWN,
    where=every_field_can_be_long,
)
class LongTextsFetchedShort(AlteredResponses):
    """Endpoints and portal links are fetched with texts of at most 65,535 characters."""

    operations = (GET_ENDPOINT, GET_PORTAL_LINK)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, **{name: _cut(resource.get(name)) for name in ("name", "owner_id")}}


@fault("7-8", seen="a value that is too long for its column", shows_in=SHOWN)
class LongTextBreaks(RequestPipeline):
    """A text of more than 65,535 characters ends in a server error."""

    def _perform(self, call: OperationCall) -> OperationResult:
        if any(isinstance(text, str) and len(text) > MOST for text in call.body.values()):
            raise internal_error()
        return super()._perform(call)
