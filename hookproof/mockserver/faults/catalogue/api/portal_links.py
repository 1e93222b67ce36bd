"""The endpoints in portal links, and what an update changes (sections 2.6, 4.4 to 4.6, 9)."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.handlers.portal_links import PortalLinkHandlers
from hookproof.mockserver.api.service import ApiService, OperationCall, OperationResult
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_responses import (
    GET_PORTAL_LINK,
    LIST_PORTAL_LINKS,
    ON_PORTAL_LINKS,
    UPDATE_PORTAL_LINK,
    AlteredResponses,
    Object,
)
from hookproof.mockserver.faults.support.misread_dialect import misread_service
from hookproof.mockserver.store.endpoints import EndpointRow, EndpointTable
from hookproof.mockserver.store.portal_links import PortalLinkRow, PortalLinkTable
from hookproof.spec.dialect.vocabulary import PortalEndpointsMeaning

SHOWN: Final = ("portal_links",)
# A list without perPage is short of some, and walks with smaller pages are compared with it.
NOT_LISTED: Final = "listed last_page page_sizes_agree"


@fault(
    "filled@getPortalLink.uid listed_as_retrieved created_once others_kept last_page"
    " page_sizes_agree",
    shows_in=[*SHOWN, "paging"],
)
class PortalLinksWithOneUid(AlteredResponses):
    """The last portal link of a page has the uid of the first."""

    operations = (LIST_PORTAL_LINKS,)

    def alter_data(self, call: OperationCall, data: Object) -> Object:
        if len(data["content"]) < 2:
            return data
        first, *between, last = data["content"]
        return {**data, "content": [first, *between, {**last, "uid": first["uid"]}]}


@fault(
    "members_complete later_members new_owners_members",
    seen="a join that keeps one row",
    shows_in=[*SHOWN, "sequences"],
)
class OneEndpointPerOwner(EndpointTable):
    """A portal link has only the first endpoint of its owner."""

    def find_owned(self, project: str, owners: Iterable[str]) -> list[EndpointRow]:
        return list(
            {row.owner_id: row for row in reversed(super().find_owned(project, owners))}.values()
        )


@fault(
    "members_complete", seen="a query with the page size of a list", shows_in=["endpoint_records"]
)
class TwentyEndpointsPerPortalLink(EndpointTable):
    """A portal link has at most 20 endpoints of its owner."""

    def find_owned(self, project: str, owners: Iterable[str]) -> list[EndpointRow]:
        return super().find_owned(project, owners)[:20]


class EndpointsOfMoreOwners(EndpointTable, ABC):
    """A portal link also has the endpoints of further owners."""

    @abstractmethod
    def belong_together(self, owner: str, other: str) -> bool: ...

    def find_owned(self, project: str, owners: Iterable[str]) -> list[EndpointRow]:
        statement = (
            "SELECT DISTINCT owner_id FROM endpoints WHERE project = ? AND owner_id IS NOT NULL"
        )
        others = [owner for (owner,) in self._database.read(statement, (project,))]
        rows: list[EndpointRow] = []
        for owner in owners:
            belonging = [other for other in others if self.belong_together(owner, other)]
            found = super().find_owned(project, belonging)
            rows += [row._replace(owner_id=owner) for row in found]
        return rows


@fault(
    "no_other_members no_old_owners_members deprecated_meaning@getPortalLink.endpoints",
    shows_in=SHOWN,
)
class EndpointsOfAnybody(EndpointsOfMoreOwners):
    """A portal link with an owner has every endpoint of its project that has one."""

    def belong_together(self, owner: str, other: str) -> bool:
        return True


@fault("no_other_members", shows_in=SHOWN)
class EndpointsOfLongerOwners(EndpointsOfMoreOwners):
    """A portal link also has the endpoints whose owner_id begins with its own."""

    def belong_together(self, owner: str, other: str) -> bool:
        return other.startswith(owner)


@fault(
    "later_members new_owners_members",
    seen="a cache that is filled once",
    shows_in=[*SHOWN, "sequences"],
)
class EndpointsOfTheFirstLook(PortalLinkHandlers):
    """A portal link keeps showing the endpoints of its owner that were shown first."""

    def __init__(self, service: ApiService) -> None:
        super().__init__(service)
        self._first_shown: dict[str, list[EndpointRow]] = {}

    def _find_inherited(
        self, project: str, owners: Collection[str]
    ) -> Mapping[str, Sequence[EndpointRow]]:
        for owner, rows in super()._find_inherited(project, owners).items():
            self._first_shown.setdefault(owner, list(rows))
        return {owner: self._first_shown.get(owner, []) for owner in owners}


@fault(
    "members_complete later_members new_owners_members",
    seen="a copy of the owner in a second table",
    shows_in=SHOWN,
)
class EndpointsOfTheFirstOwner(PortalLinkHandlers):
    """A portal link keeps showing the endpoints of the owner with which it was shown first."""

    def __init__(self, service: ApiService) -> None:
        super().__init__(service)
        self._first_owners: dict[int, str | None] = {}

    def render(self, project: str, rows: Sequence[tuple[Any, ...]]) -> Sequence[bytes]:
        with_first_owner = [
            (seq, self._first_owners.setdefault(seq, owner), listed, document)
            for seq, owner, listed, document in rows
        ]
        return super().render(project, with_first_owner)


@fault("members_counted", seen="a count that is kept beside the list", shows_in=SHOWN)
class CountOffByOne(AlteredResponses):
    """The endpoint_count of a portal link with endpoints is one too high."""

    operations = ON_PORTAL_LINKS

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        count = resource["endpoint_count"]
        return {**resource, "endpoint_count": count + 1 if count else 0}


@fault("members_named", shows_in=SHOWN)
class NamesReplacedByUids(AlteredResponses):
    """The endpoints in a portal link are shown with their uid as name."""

    operations = ON_PORTAL_LINKS

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        records = [{**record, "name": record["uid"]} for record in resource["endpoints_metadata"]]
        return {**resource, "endpoints_metadata": records}


@fault("listed_as_retrieved", shows_in=SHOWN)
class ListedManageable(AlteredResponses):
    """The list of portal links shows can_manage_endpoint as true for all of them."""

    operations = (LIST_PORTAL_LINKS,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "can_manage_endpoint": True}


@fault("members_identified", shows_in=SHOWN)
class PortalLinkAmongItsEndpoints(AlteredResponses):
    """The endpoints of a retrieved portal link also hold its own uid."""

    operations = (GET_PORTAL_LINK,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "endpoints": [*resource["endpoints"], resource["uid"]]}


@fault("listed_word@getPortalLink.auth_type listed_as_retrieved", shows_in=SHOWN)
class AuthTypeInCapitals(AlteredResponses):
    """The list of portal links shows the auth_type in upper case."""

    operations = (LIST_PORTAL_LINKS,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "auth_type": resource["auth_type"].upper()}


@fault(NOT_LISTED, seen="an index that is built at the start", shows_in=[*SHOWN, "paging"])
class UpdatedNotListed(AlteredResponses):
    """A portal link that was updated is missing in the list, if others are on its page."""

    operations = (LIST_PORTAL_LINKS,)

    def alter_data(self, call: OperationCall, data: Object) -> Object:
        as_created = [
            portal_link
            for portal_link in data["content"]
            if portal_link["updated_at"] == portal_link["created_at"]
        ]
        return {**data, "content": as_created or data["content"]}


@fault(NOT_LISTED, seen="an index by owner that is not kept up", shows_in=[*SHOWN, "paging"])
class MovedNotListed(AlteredResponses):
    """A portal link that an update names an owner for is missing in the list, if others are on its
    page.
    """

    operations = (UPDATE_PORTAL_LINK, LIST_PORTAL_LINKS)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._moved: set[str] = set()

    def alter_data(self, call: OperationCall, data: Object) -> Object:
        if call.operation.operation_id == UPDATE_PORTAL_LINK:
            if "owner_id" in call.body:
                self._moved.add(data["uid"])
            return data
        stayed = [link for link in data["content"] if link["uid"] not in self._moved]
        return {**data, "content": stayed or data["content"]}


@fault("as_named@portal_links others_kept", shows_in=SHOWN)
class FirstRetrieved(PortalLinkTable):
    """Retrieving or updating a portal link finds the first one of the project."""

    def find(self, project: str, uid: str) -> PortalLinkRow | None:
        statement = "SELECT uid FROM portal_links WHERE project = ? ORDER BY seq LIMIT 1"
        first = self._database.read(statement, (project,)).fetchone()
        return None if super().find(project, uid) is None else super().find(project, first[0])


class AlteredUpdate(PortalLinkHandlers):
    """Updates a portal link by the request body that `alter_request` returns."""

    def _apply_update(self, row: PortalLinkRow, body: Mapping[str, Any]) -> dict[str, Any]:
        return super()._apply_update(row, self.alter_request(row, body))

    def alter_request(self, row: PortalLinkRow, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return body


@fault("echoed@getPortalLink.name", seen="202, but the name was not stored", shows_in=SHOWN)
class NameNotUpdated(AlteredUpdate):
    """An update is accepted, but the name stays."""

    def alter_request(self, row: PortalLinkRow, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**body, "name": msgspec.json.decode(row.document)["name"]}


@fault("echoed@getPortalLink.owner_id", shows_in=SHOWN)
class OwnerNotUpdated(AlteredUpdate):
    """An update is accepted, but the owner_id stays."""

    def alter_request(self, row: PortalLinkRow, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return {name: value for name, value in body.items() if name != "owner_id"}


@fault(
    "echoed@getPortalLink.can_manage_endpoint",
    seen="false that is taken for not given",
    shows_in=SHOWN,
)
class FalseNotUpdated(AlteredUpdate):
    """An update with can_manage_endpoint false leaves it as it is."""

    def alter_request(self, row: PortalLinkRow, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return {name: value for name, value in body.items() if value is not False}


@fault("echoed@getPortalLink.auth_type", shows_in=SHOWN)
class AuthTypeNotUpdated(AlteredUpdate):
    """An update is accepted, but the auth_type stays."""

    def alter_request(self, row: PortalLinkRow, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return {name: value for name, value in body.items() if name != "auth_type"}


@fault("as_named@updatePortalLink", shows_in=SHOWN)
class UpdateAnswersToken(AlteredResponses):
    """The response to an update has the token of the portal link as its uid."""

    operations = (UPDATE_PORTAL_LINK,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "uid": resource["token"]}


@fault(
    "echoed@getPortalLink.name update_retrieved",
    seen="a read from a replica that lags behind",
    shows_in=SHOWN,
)
class UpdatedNameNotStored(PortalLinkHandlers):
    """The response to an update shows the new name, which is not stored."""

    def update(self, call: OperationCall) -> OperationResult:
        name = msgspec.json.decode(self._find(call).document)["name"]
        result = super().update(call)
        row = self._find(call)
        record = {**msgspec.json.decode(row.document), "name": name}
        self._service.portal_links.replace(
            row._replace(document=msgspec.json.encode(record)), name=name
        )
        return result


@fault(
    "update_retrieved",
    seen="a cached row that is compared before it is written",
    shows_in=["sequences"],
)
class LaterNamesNotStored(UpdatedNameNotStored):
    """Only the first update of a portal link stores a new name."""

    def __init__(self, service: ApiService) -> None:
        super().__init__(service)
        self._updated: set[tuple[str, str]] = set()

    def update(self, call: OperationCall) -> OperationResult:
        if (call.project, call.target) in self._updated:
            return super().update(call)
        self._updated.add((call.project, call.target))
        return PortalLinkHandlers.update(self, call)


@fault("others_kept", seen="an UPDATE whose WHERE is too wide", shows_in=SHOWN)
class NeighboursUpdated(PortalLinkTable):
    """An update of one portal link changes the names of all in its project."""

    def replace(self, row: PortalLinkRow, *, name: str) -> None:
        super().replace(row, name=name)
        self._database.write(
            "UPDATE portal_links"
            " SET name = ?, document = CAST(json_set(document, '$.name', ?) AS BLOB)"
            " WHERE project = (SELECT project FROM portal_links WHERE seq = ?)",
            (name, name, row.seq),
        )


@fault(
    "updated_at_forward created_before_updated",
    seen="a clock that is read in another zone",
    shows_in=SHOWN,
)
class UpdatedAtBack(PortalLinkHandlers):
    """An update sets updated_at to an hour ago."""

    def _apply_update(self, row: PortalLinkRow, body: Mapping[str, Any]) -> dict[str, Any]:
        record = super()._apply_update(row, body)
        return {**record, "updated_at": self._service.timestamp(self._service.now() - 3600)}


@fault(
    "deprecated_taken@updatePortalLink.endpoints succeeds@updatePortalLink",
    shows_in=[*SHOWN, "refusals"],
)
class ListedEndpointsRefused(PortalLinkHandlers):
    """An update with the deprecated endpoints is refused."""

    def update(self, call: OperationCall) -> OperationResult:
        if "endpoints" in call.body:
            raise self._service.errors.invalid("/endpoints: is deprecated")
        return super().update(call)


@fault("deprecated_meaning@getPortalLink.endpoints", shows_in=SHOWN)
class ListedEndpointsMistaken(PortalLinkHandlers):
    """The deprecated endpoints are ignored where the dialect adds them, and the reverse."""

    def __init__(self, service: ApiService) -> None:
        right = service.dialect.requests.portal_endpoints.value
        added = right is PortalEndpointsMeaning.ADDED
        wrong = PortalEndpointsMeaning.IGNORED if added else PortalEndpointsMeaning.ADDED
        super().__init__(misread_service(service, "requests.portal_endpoints", wrong))


@fault(
    "deprecated_meaning@getPortalLink.endpoints",
    shows_in=SHOWN,
    where=lambda dialect: dialect.requests.portal_endpoints.prefers(PortalEndpointsMeaning.SHOWN),
)
class ListedEndpointsForgotten(PortalLinkHandlers):
    """The deprecated endpoints are not shown, where the dialect shows them as they were written."""

    def __init__(self, service: ApiService) -> None:
        wrong = PortalEndpointsMeaning.IGNORED
        super().__init__(misread_service(service, "requests.portal_endpoints", wrong))
