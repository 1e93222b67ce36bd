"""Endpoints: what is stored and shown of them is not what was sent (sections 2.3, 2.4, 2.5, 3, 4.1
and 4.2).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit, urlunsplit

from hookproof.mockserver.api.handlers.endpoints import EndpointHandlers
from hookproof.mockserver.api.serialization.response_serializer import ResponseSerializer
from hookproof.mockserver.api.service import OperationCall, OperationResult, Service
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_responses import (
    CREATE_ENDPOINT,
    GET_ENDPOINT,
    ON_ENDPOINTS,
    Json,
    Object,
    SpoiltAnswers,
    given,
)
from hookproof.mockserver.faults.support.misread_dialect import mistaken
from hookproof.mockserver.store.endpoints import EndpointRow, EndpointTable, NewEndpoint
from hookproof.spec.contract.service_contract import Contract
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import AppIdMeaning, OnInput

SHOWN = ("round_trip",)


class SentOtherwise(EndpointHandlers):
    """Creates another endpoint than was asked for."""

    def _build_endpoint(self, project: str, body: Mapping[str, Any], now: float) -> NewEndpoint:
        return super()._build_endpoint(project, self.taken(body), now)

    def taken(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The body as it is understood."""
        return body


@fault("4.1-4", "4.1-5", seen="a column that is too short, and cuts", shows_in=SHOWN)
class NameAndDescriptionCut(SentOtherwise):
    """The name and the description of an endpoint are cut to eight characters."""

    def taken(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Shorter texts."""
        return {
            **body,
            **{name: body[name][:8] for name in ("name", "description") if given(body, name)},
        }


@fault("4.1-6", seen="a URL that is decoded before it is stored", shows_in=SHOWN)
class UrlNormalised(SentOtherwise):
    """The url of an endpoint is decoded, and gets a slash at its end."""

    def taken(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Another spelling of the same place."""
        parts = urlsplit(body["url"])
        path = unquote(parts.path)
        return {
            **body,
            "url": urlunsplit(parts._replace(path=path if path.endswith("/") else f"{path}/")),
        }


@fault(
    "2.3-4",
    "4.1-7",
    also=["2.6-2", "2.6-4"],
    seen="a unique index on a column that groups",
    shows_in=SHOWN,
)
class OwnerTakenOnce(EndpointHandlers):
    """A second endpoint with the same owner_id gets none."""

    def __init__(self, service: Service) -> None:
        super().__init__(service)
        self._taken: set[str] = set()

    def _owner(self, body: Mapping[str, Any]) -> str | None:
        owner = super()._owner(body)
        if owner in self._taken:
            return None
        self._taken.add(owner or "")
        return owner


@fault("4.1-7", "2.3-4", "9-3", also=["2.6-2", "2.6-4", "4.6-10"], shows_in=SHOWN)
class OwnerCut(EndpointHandlers):
    """The owner_id of an endpoint loses its first character."""

    def _owner(self, body: Mapping[str, Any]) -> str | None:
        owner = super()._owner(body)
        return owner[1:] if owner else owner


@fault("4.1-8", "2.3-7", "6-12", shows_in=["round_trip", "broadcast"])
class ContentTypeIgnored(SentOtherwise):
    """The content_type of an endpoint is always the default."""

    def taken(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """None given."""
        return {name: value for name, value in body.items() if name != "content_type"}


@fault("2.3-5", "2.3-6", seen="a default of the framework", shows_in=["round_trip", "broadcast"])
class OtherDefaultContentType(SentOtherwise):
    """An endpoint created without content_type gets text/plain."""

    def taken(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Another default."""
        return {"content_type": "text/plain", **body}


@fault("2.3-8", "2.3-9", "6-6", "6-8", also=["6-9"], shows_in=["round_trip", "signing"])
class AdvancedByDefault(SentOtherwise):
    """An endpoint created without advanced_signatures gets the advanced format."""

    def taken(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Another default."""
        return {"advanced_signatures": True, **body}


@fault("4.1-9", shows_in=SHOWN)
class AdvancedNotShown(SpoiltAnswers):
    """A created endpoint shows advanced_signatures as false whatever was sent."""

    operations = ON_ENDPOINTS

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """False."""
        return {**resource, "advanced_signatures": False}


@fault("4.1-10", "4.1-12", also=["8-6"], seen="seconds against milliseconds", shows_in=SHOWN)
class DurationsInAnotherUnit(SpoiltAnswers):
    """The http_timeout and the rate_limit_duration of an endpoint are shown a thousand times as
    large.
    """

    operations = ON_ENDPOINTS

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """Another unit."""
        durations = ("http_timeout", "rate_limit_duration")
        return {
            **resource,
            **{name: resource[name] * 1000 for name in durations if resource.get(name)},
        }


@fault("4.1-11", shows_in=SHOWN)
class RateLimitOffByOne(SpoiltAnswers):
    """The rate_limit of an endpoint is shown one too low."""

    operations = ON_ENDPOINTS

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """One less."""
        return (
            {**resource, "rate_limit": resource["rate_limit"] - 1}
            if resource.get("rate_limit")
            else resource
        )


@fault("4.1-13", "4.1-14", seen="two columns in the wrong order", shows_in=SHOWN)
class ContactsSwapped(SentOtherwise):
    """The slack_webhook_url and the support_email of an endpoint change places."""

    def taken(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The one for the other."""
        others = {"slack_webhook_url": "support_email", "support_email": "slack_webhook_url"}
        return {others.get(name, name): value for name, value in body.items()}


@fault("2.3-1", "2.9-1", also=["2.6-4", "4.6-10"], shows_in=SHOWN)
class UidForgotten(SpoiltAnswers):
    """The answer to the creation of an endpoint with a description has an empty uid."""

    operations = (CREATE_ENDPOINT,)

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """No uid."""
        return {**resource, "uid": ""} if given(call.body, "description") else resource


@fault(
    "2.3-2",
    "2.4-4",
    "2.9-13",
    "4.2-5",
    "4.2-6",
    also=["1-10", "2.8-6", "4.3-11", "4.3-14"],
    shows_in=SHOWN,
)
class UidOfTheOwner(SpoiltAnswers):
    """Endpoints of one owner are all answered with the uid of the first of them."""

    operations = (CREATE_ENDPOINT,)
    first: ClassVar[dict[str, str]] = {}

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """The first one's uid."""
        owner = resource.get("owner_id")
        return (
            {**resource, "uid": self.first.setdefault(owner, resource["uid"])}
            if owner
            else resource
        )


@fault("2.3-3", "4.2-5", also=["2.6-6", "4.3-11"], shows_in=SHOWN)
class UrlShownAsHttp(SpoiltAnswers):
    """A fetched endpoint shows its URL with the scheme http."""

    operations = (GET_ENDPOINT,)

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """Less secure."""
        return {**resource, "url": f"http{resource['url'][5:]}"}


@fault("2.3-16", seen="a counter that began at minus one", shows_in=SHOWN)
class CountFromMinusOne(SpoiltAnswers):
    """The count of events of an endpoint begins at minus one."""

    operations = ON_ENDPOINTS

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """One less."""
        return {**resource, "events": resource["events"] - 1}


@fault("3-1", "3-2", seen="a flag that is read the wrong way round", shows_in=SHOWN)
class StatusReversed(ResponseSerializer):
    """An active endpoint shows the word for a disabled one, and the other way round."""

    def __init__(self, contract: Contract, dialect: Dialect) -> None:
        super().__init__(contract, dialect)
        self._status = self._status[::-1]


@fault("3-4", "4.1-1", shows_in=SHOWN)
class ExplicitFalseRefused(EndpointHandlers):
    """An endpoint with is_disabled false is refused: the value is taken for none."""

    def create(self, call: OperationCall) -> OperationResult:
        """Only what is true counts as given."""
        if call.body.get("is_disabled") is False:
            raise self._service.errors.invalid("/is_disabled: is required")
        return super().create(call)


@fault("4.2-4", also=["4.3-10"], shows_in=SHOWN)
class LatestFetched(EndpointTable):
    """Fetching an endpoint answers with the latest one of its owner."""

    def find(self, project: str, uid: str) -> EndpointRow | None:
        """Another row."""
        found = super().find(project, uid)
        if found is None or found.owner_id is None:
            return found
        return self.find_owned(project, [found.owner_id])[-1]


@fault("2.9-3", "4.2-5", also=["4.3-11"], shows_in=SHOWN)
class DescriptionNotStored(SpoiltAnswers):
    """A fetched endpoint has no description."""

    operations = (GET_ENDPOINT,)

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """None."""
        return {**resource, "description": None}


@fault("9-1", "4.1-1", seen="a deprecated field that was removed early", shows_in=SHOWN)
class AppIdRefused(EndpointHandlers):
    """An endpoint with the deprecated appID is refused."""

    def create(self, call: OperationCall) -> OperationResult:
        """No appID any more."""
        if "appID" in call.body:
            raise self._service.errors.invalid("/appID: is deprecated")
        return super().create(call)


@fault("9-3", "4.1-7", shows_in=SHOWN)
class AppIdMistaken(EndpointHandlers):
    """The deprecated appID does nothing where it stands for the owner, and stands for it where it
    does nothing.
    """

    def __init__(self, service: Service) -> None:
        right = service.dialect.requests.app_id.value
        wrong = (
            AppIdMeaning.IGNORED if right is AppIdMeaning.OWNER_ALIAS else AppIdMeaning.OWNER_ALIAS
        )
        super().__init__(
            replace(service, dialect=mistaken(service.dialect, "requests.app_id", wrong))
        )

    def _owner(self, body: Mapping[str, Any]) -> str | None:
        return super()._owner(
            {**body, "owner_id": body.get("appID")} if self._replaces(body) else body
        )

    def _replaces(self, body: Mapping[str, Any]) -> bool:
        return (
            "appID" in body
            and self._service.dialect.requests.app_id.value is AppIdMeaning.OWNER_ALIAS
        )


@fault(
    "2.9-10",
    also=["2.9-2", "4.6-3", "4.8-3"],
    shows_in=["refusals"],
    where=lambda dialect: dialect.requests.service_assigned_input.value is OnInput.IGNORED,
)
class GivenTimesShown(SpoiltAnswers):
    """A created_at that a request gives is shown in place of the service's own."""

    operations = (CREATE_ENDPOINT, "updatePortalLink", "createBroadcastEvent")

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Json:
        """What was sent."""
        return {
            **resource,
            **{name: call.body[name] for name in ("created_at",) if name in call.body},
        }
