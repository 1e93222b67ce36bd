"""Endpoints that are not stored or shown as they were sent.

Sections 2.3 to 2.5, 3, 4.1 and 4.2.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final
from urllib.parse import unquote, urlsplit, urlunsplit

import msgspec

from hookproof.mockserver.api.handlers.endpoints import EndpointHandlers
from hookproof.mockserver.api.serialization.response_serializer import ResponseSerializer
from hookproof.mockserver.api.service import ApiService, OperationCall, OperationResult
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_endpoints import (
    AlteredCreation,
    not_reached_by_broadcasts,
)
from hookproof.mockserver.faults.support.altered_responses import (
    BROADCAST,
    CREATE_ENDPOINT,
    GET_ENDPOINT,
    ON_PORTAL_LINKS,
    ROLL,
    UPDATE_PORTAL_LINK,
    AlteredRecords,
    AlteredResponses,
    Json,
    Object,
    has_value,
)
from hookproof.mockserver.faults.support.misread_dialect import misread_service
from hookproof.spec.contract.service_contract import Contract
from hookproof.spec.dialect.given_settings import is_dropped, may_be_dropped
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import AppIdMeaning, GivenSetting, OnInput

SHOWN: Final = ("round_trip",)
_DIGIT: Final = re.compile("[0-9]")


@fault(
    "echoed@createEndpoint.name echoed@createEndpoint.description",
    seen="a column that is too short, and cuts",
    shows_in=SHOWN,
)
class NameAndDescriptionCut(AlteredCreation):
    """The name and the description of an endpoint are cut to eight characters."""

    def alter_request(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return {
            **body,
            **{name: body[name][:8] for name in ("name", "description") if has_value(body, name)},
        }


@fault(
    "echoed@createEndpoint.url", seen="a URL that is decoded before it is stored", shows_in=SHOWN
)
class UrlNormalised(AlteredCreation):
    """The path of an endpoint's url is percent-decoded and gets a slash at its end."""

    def alter_request(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        parts = urlsplit(body["url"])
        path = unquote(parts.path)
        return {
            **body,
            "url": urlunsplit(parts._replace(path=path if path.endswith("/") else f"{path}/")),
        }


@fault(
    "owner_shared echoed@createEndpoint.owner_id",
    seen="a unique index on a column that groups",
    shows_in=SHOWN,
)
class OwnerTakenOnce(EndpointHandlers):
    """A second endpoint with the same owner_id is created without an owner."""

    def __init__(self, service: ApiService) -> None:
        super().__init__(service)
        self._used_owners: set[str] = set()

    def _owner(self, body: Mapping[str, Any]) -> str | None:
        owner = super()._owner(body)
        if "owner_id" not in body:
            return owner
        if owner in self._used_owners:
            return None
        self._used_owners.add(owner or "")
        return owner


@fault("echoed@createEndpoint.owner_id deprecated_meaning@createEndpoint.appID", shows_in=SHOWN)
class OwnerCut(EndpointHandlers):
    """The owner_id of an endpoint loses its first character."""

    def _owner(self, body: Mapping[str, Any]) -> str | None:
        owner = super()._owner(body)
        return owner[1:] if owner else owner


@fault(
    "echoed@createEndpoint.content_type content_type_sent form_body",
    shows_in=["round_trip", "broadcast"],
)
class ContentTypeIgnored(AlteredCreation):
    """The content_type of an endpoint is always the default."""

    def alter_request(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return {name: value for name, value in body.items() if name != "content_type"}


@fault(
    "default_shown@createEndpoint.content_type default_content_type_sent",
    seen="a default of the framework",
    shows_in=["round_trip", "broadcast"],
)
class OtherDefaultContentType(AlteredCreation):
    """An endpoint created without content_type gets text/plain."""

    def alter_request(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"content_type": "text/plain", **body}


@fault(
    "default_shown@createEndpoint.advanced_signatures simple_by_default",
    shows_in=["round_trip", "signing"],
)
class AdvancedByDefault(AlteredCreation):
    """An endpoint created without advanced_signatures gets the advanced format."""

    def alter_request(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"advanced_signatures": True, **body}


@fault("echoed@createEndpoint.advanced_signatures", shows_in=SHOWN)
class AdvancedNotShown(AlteredRecords):
    """An endpoint always shows advanced_signatures as false."""

    def alter_endpoint(self, endpoint: Object) -> Object:
        return {**endpoint, "advanced_signatures": False}


@fault(
    "echoed@createEndpoint.http_timeout echoed@createEndpoint.rate_limit_duration"
    " configuration_fetched",
    seen="seconds against milliseconds",
    shows_in=SHOWN,
)
class DurationsInAnotherUnit(AlteredResponses):
    """The http_timeout and the rate_limit_duration that a creation was sent are shown a thousand
    times too large in its answer.
    """

    operations = (CREATE_ENDPOINT,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        durations = ("http_timeout", "rate_limit_duration")
        return {
            **resource,
            **{name: resource[name] * 1000 for name in durations if call.body.get(name)},
        }


def _is_kept(setting: str) -> Callable[[Dialect], bool]:
    return lambda dialect: not may_be_dropped(setting, dialect)


def _is_dropped(setting: str) -> Callable[[Dialect], bool]:
    return lambda dialect: is_dropped(setting, dialect)


@fault(
    "echoed@createEndpoint.http_timeout",
    seen="one time-out for all",
    shows_in=SHOWN,
    where=_is_kept("http_timeout"),
)
class TimeoutDropped(EndpointHandlers):
    """A given http_timeout is dropped, and the default is shown and in force."""

    def __init__(self, service: ApiService) -> None:
        field = "requests.given_http_timeout"
        super().__init__(misread_service(service, field, GivenSetting.DROPPED))


@fault(
    "echoed@createEndpoint.http_timeout configuration_fetched",
    shows_in=SHOWN,
    where=_is_dropped("http_timeout"),
)
class DroppedTimeoutShown(AlteredResponses):
    """The answer to a creation shows the given http_timeout, and the default is in force."""

    operations = (CREATE_ENDPOINT,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        given = call.body.get("http_timeout")
        return {**resource, **({} if given is None else {"http_timeout": given})}


@fault(
    "echoed@createEndpoint.slack_webhook_url echoed@createEndpoint.support_email",
    shows_in=SHOWN,
    where=_is_kept("support_email"),
)
class ContactsDropped(EndpointHandlers):
    """The slack_webhook_url and the support_email of an endpoint are dropped."""

    def __init__(self, service: ApiService) -> None:
        super().__init__(misread_service(service, "requests.given_contacts", GivenSetting.DROPPED))


@fault(
    "echoed@createEndpoint.slack_webhook_url echoed@createEndpoint.support_email",
    shows_in=SHOWN,
    where=_is_dropped("support_email"),
)
class ContactsKept(EndpointHandlers):
    """The contacts of an endpoint are kept, although the dialect says that they are dropped."""

    def __init__(self, service: ApiService) -> None:
        super().__init__(misread_service(service, "requests.given_contacts", GivenSetting.KEPT))


@fault("echoed@createEndpoint.rate_limit", shows_in=SHOWN)
class RateLimitOffByOne(AlteredRecords):
    """The rate_limit of an endpoint is shown one too low."""

    def alter_endpoint(self, endpoint: Object) -> Object:
        if not endpoint.get("rate_limit"):
            return endpoint
        return {**endpoint, "rate_limit": endpoint["rate_limit"] - 1}


@fault(
    "echoed@createEndpoint.slack_webhook_url echoed@createEndpoint.support_email",
    seen="two columns in the wrong order",
    shows_in=SHOWN,
)
class ContactsSwapped(AlteredCreation):
    """The slack_webhook_url and the support_email of an endpoint are swapped."""

    def alter_request(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        others = {"slack_webhook_url": "support_email", "support_email": "slack_webhook_url"}
        if not all(has_value(body, name) for name in others):
            return body
        return {others.get(name, name): value for name, value in body.items()}


@fault("filled@createEndpoint.uid identifier_form", shows_in=SHOWN)
class UidForgotten(AlteredResponses):
    """The response to the creation of an endpoint with a description has an empty uid."""

    operations = (CREATE_ENDPOINT,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "uid": ""} if has_value(call.body, "description") else resource


@fault(
    "unique@createEndpoint.uid secrets_in_clear created_once configuration_fetched secrets_fetched",
    shows_in=SHOWN,
    where=not_reached_by_broadcasts,
)
class UidOfTheOwnersFirst(AlteredResponses):
    """A created endpoint that is disabled is shown with the uid of the first one of its owner."""

    operations = (CREATE_ENDPOINT,)
    first_uids: ClassVar[dict[tuple[str, str], str]] = {}

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        owner = resource.get("owner_id")
        if not owner or not call.body.get("is_disabled"):
            return resource
        uid = self.first_uids.setdefault((call.project, owner), resource["uid"])
        return {**resource, "uid": uid}


@fault(
    "https_shown echoed@createEndpoint.url configuration_fetched",
    shows_in=SHOWN,
)
class UrlShownAsHttp(AlteredResponses):
    """The answer to a creation shows the URL with the scheme http."""

    operations = (CREATE_ENDPOINT,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "url": f"http{resource['url'][5:]}"}


@fault("not_negative", seen="a counter that began at minus one", shows_in=SHOWN)
class CountFromMinusOne(AlteredRecords):
    """The count of events of an endpoint starts at minus one."""

    def alter_endpoint(self, endpoint: Object) -> Object:
        return {**endpoint, "events": endpoint["events"] - 1}


@fault(
    "active_shown disabled_shown", seen="a flag that is read the wrong way round", shows_in=SHOWN
)
class StatusReversed(ResponseSerializer):
    """An active endpoint shows the word for a disabled one, and the reverse."""

    def __init__(self, contract: Contract, dialect: Dialect, clock: Callable[[], float]) -> None:
        super().__init__(contract, dialect, clock)
        self._status = self._status[::-1]


@fault("both_states_taken succeeds@createEndpoint", shows_in=SHOWN)
class ExplicitFalseRefused(EndpointHandlers):
    """An endpoint with is_disabled false is refused."""

    def create(self, call: OperationCall) -> OperationResult:
        if call.body.get("is_disabled") is False:
            raise self._service.errors.invalid("/is_disabled: is required")
        return super().create(call)


@fault("as_named@getEndpoint", shows_in=SHOWN)
class LatestFetched(EndpointHandlers):
    """Fetching an endpoint finds the latest endpoint of its owner."""

    def get(self, call: OperationCall) -> OperationResult:
        row = self._find(call)
        if row.owner_id is None:
            return super().get(call)
        latest = self._service.endpoints.find_owned(call.project, [row.owner_id])[-1]
        return super().get(msgspec.structs.replace(call, target=latest.uid))


@fault("no_value_form configuration_fetched", shows_in=SHOWN)
class DescriptionShownAsNull(AlteredRecords):
    """An endpoint shows null as its description once it is created."""

    operations = (GET_ENDPOINT, ROLL, *ON_PORTAL_LINKS, BROADCAST)

    def alter_endpoint(self, endpoint: Object) -> Object:
        return {**endpoint, "description": None}


@fault(
    "deprecated_taken@createEndpoint.appID succeeds@createEndpoint",
    seen="a deprecated field that was removed early",
    shows_in=SHOWN,
)
class AppIdRefused(EndpointHandlers):
    """An endpoint with the deprecated appID is refused."""

    def create(self, call: OperationCall) -> OperationResult:
        if "appID" in call.body:
            raise self._service.errors.invalid("/appID: is deprecated")
        return super().create(call)


@fault("deprecated_meaning@createEndpoint.appID echoed@createEndpoint.owner_id", shows_in=SHOWN)
class AppIdMistaken(EndpointHandlers):
    """The deprecated appID is ignored where it may stand for the owner, and else replaces it."""

    def __init__(self, service: ApiService) -> None:
        right = service.dialect.requests.app_id.value
        wrong = (
            AppIdMeaning.IGNORED if right is AppIdMeaning.OWNER_ALIAS else AppIdMeaning.OWNER_ALIAS
        )
        super().__init__(misread_service(service, "requests.app_id", wrong))

    def _owner(self, body: Mapping[str, Any]) -> str | None:
        meaning = self._service.dialect.requests.app_id.value
        if "appID" in body and meaning is AppIdMeaning.OWNER_ALIAS:
            return super()._owner({**body, "owner_id": body["appID"]})
        return super()._owner(body)


@fault(
    "service_field",
    shows_in=["refusals"],
    where=lambda dialect: dialect.requests.service_assigned_input.value is OnInput.IGNORED,
)
class GivenTimesShown(AlteredResponses):
    """A created_at in a request, of the service's own form, is shown in place of its own."""

    operations = (CREATE_ENDPOINT, UPDATE_PORTAL_LINK, BROADCAST)

    def alter_resource(self, call: OperationCall, resource: Object) -> Json:
        given, own = call.body.get("created_at"), resource["created_at"]
        if not isinstance(given, str) or _DIGIT.sub("0", given) != _DIGIT.sub("0", own):
            return resource
        return {**resource, "created_at": given}
