"""Portal links: the endpoints in them, and what an update changes (sections 2.6, 4.4 to 4.6 and 9)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.handlers.portal_links import PortalLinkHandlers
from hookproof.mockserver.api.service import OperationCall, OperationResult, Service
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_responses import (
    GET_PORTAL_LINK,
    LIST_PORTAL_LINKS,
    ON_PORTAL_LINKS,
    UPDATE_PORTAL_LINK,
    Object,
    SpoiltAnswers,
)
from hookproof.mockserver.faults.support.misread_dialect import mistaken
from hookproof.mockserver.store.endpoints import EndpointRow, EndpointTable
from hookproof.mockserver.store.portal_links import PortalLinkRow, PortalLinkTable
from hookproof.spec.dialect.vocabulary import PortalEndpointsMeaning

SHOWN: Final = ("portal_links",)


@fault(
    "2.6-1",
    "2.6-7",
    "2.9-13",
    "4.6-12",
    also=["1-3", "2.2-10", "2.2-14", "2.2-15", "2.9-3", "4.4-9", "4.4-10", "4.4-11", "4.4-12"],
    shows_in=SHOWN,
)
class PortalLinksWithOneUid(SpoiltAnswers):
    """The last portal link of a page has the uid of the first."""

    operations = (LIST_PORTAL_LINKS,)

    def spoilt_data(self, call: OperationCall, data: Object) -> Object:
        """The first one's."""
        *others, last = data["content"] or [{}]
        return {**data, "content": [*others, {**last, "uid": others[0]["uid"]} if others else last]}


@fault("2.6-2", "2.6-4", also=["4.6-10"], seen="a join that keeps one row", shows_in=SHOWN)
class OneEndpointPerOwner(EndpointTable):
    """A portal link has only the first endpoint of its owner."""

    def find_owned(self, project: str, owners: Iterable[str]) -> list[EndpointRow]:
        """The first of each owner."""
        return list(
            {row.owner_id: row for row in reversed(super().find_owned(project, owners))}.values()
        )


@fault("2.6-3", "4.6-11", "9-4", shows_in=SHOWN)
class EndpointsOfAnybody(EndpointTable):
    """A portal link has every endpoint of its project that has an owner."""

    def find_owned(self, project: str, owners: Iterable[str]) -> list[EndpointRow]:
        """Everybody's."""
        statement = (
            "SELECT DISTINCT owner_id FROM endpoints WHERE project = ? AND owner_id IS NOT NULL"
        )
        everybody = [owner for (owner,) in self._database.read(statement, (project,))]
        rows = super().find_owned(project, everybody)
        return [row._replace(owner_id=owner) for owner in list(owners) for row in rows]


@fault("2.6-4", also=["4.6-10"], seen="a cache that is filled once", shows_in=SHOWN)
class EndpointsOfTheFirstLook(PortalLinkHandlers):
    """A portal link goes on to show the endpoints that it had when it was first asked for."""

    def __init__(self, service: Service) -> None:
        super().__init__(service)
        self._seen: dict[str, list[EndpointRow]] = {}

    def _find_inherited(
        self, project: str, owners: Collection[str]
    ) -> Mapping[str, Sequence[EndpointRow]]:
        for owner, rows in super()._find_inherited(project, owners).items():
            self._seen.setdefault(owner, list(rows))
        return {owner: self._seen.get(owner, []) for owner in owners}


@fault("2.6-5", seen="a count that is kept beside the list", shows_in=SHOWN)
class CountOffByOne(SpoiltAnswers):
    """The endpoint_count of a portal link with endpoints is one too high."""

    operations = ON_PORTAL_LINKS

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """One more."""
        count = resource["endpoint_count"]
        return {**resource, "endpoint_count": count + 1 if count else 0}


@fault("2.6-6", shows_in=SHOWN)
class StaleMetadata(SpoiltAnswers):
    """The endpoints in a portal link are shown with their uid as name."""

    operations = ON_PORTAL_LINKS

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """The uid in place of the name."""
        records = [{**one, "name": one["uid"]} for one in resource["endpoints_metadata"]]
        return {**resource, "endpoints_metadata": records}


@fault("2.6-7", shows_in=SHOWN)
class ListedManageable(SpoiltAnswers):
    """The list of portal links shows can_manage_endpoint as true for all of them."""

    operations = (LIST_PORTAL_LINKS,)

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """True."""
        return {**resource, "can_manage_endpoint": True}


@fault("2.6-8", shows_in=SHOWN)
class IdentifiersOfNobody(SpoiltAnswers):
    """The endpoints of a retrieved portal link hold its own uid as well."""

    operations = (GET_PORTAL_LINK,)

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """One more."""
        return {**resource, "endpoints": [*resource["endpoints"], resource["uid"]]}


@fault("2.9-4", "2.6-7", shows_in=SHOWN)
class AuthTypeInCapitals(SpoiltAnswers):
    """The list of portal links shows the auth_type in capitals."""

    operations = (LIST_PORTAL_LINKS,)

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """Another word."""
        return {**resource, "auth_type": resource["auth_type"].upper()}


@fault(
    "4.4-14", also=["2.2-9", "4.4-4"], seen="an index that is built at the start", shows_in=SHOWN
)
class OwnedNotListed(SpoiltAnswers):
    """A portal link whose owner has endpoints is missing in the list."""

    operations = (LIST_PORTAL_LINKS,)

    def spoilt_data(self, call: OperationCall, data: Object) -> Object:
        """Those without."""
        return {
            **data,
            "content": [one for one in data["content"] if one["updated_at"] == one["created_at"]],
        }


@fault("4.5-4", "4.6-4", "4.6-12", shows_in=SHOWN)
class FirstRetrieved(PortalLinkTable):
    """Retrieving a portal link answers with the first one of the project."""

    def find(self, project: str, uid: str) -> PortalLinkRow | None:
        """Another row, if there is one with this uid."""
        statement = "SELECT uid FROM portal_links WHERE project = ? ORDER BY seq LIMIT 1"
        first = self._database.read(statement, (project,)).fetchone()
        return None if super().find(project, uid) is None else super().find(project, first[0])


class UnderstoodOtherwise(PortalLinkHandlers):
    """Updates a portal link otherwise than it was asked to."""

    def _apply_update(self, row: PortalLinkRow, body: Mapping[str, Any]) -> dict[str, Any]:
        return super()._apply_update(row, self.understood(row, body))

    def understood(self, row: PortalLinkRow, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The body as it is understood."""
        return body


@fault("4.6-5", seen="202, but the name was not stored", shows_in=SHOWN)
class NameNotUpdated(UnderstoodOtherwise):
    """An update is accepted, but the name stays."""

    def understood(self, row: PortalLinkRow, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Without a new name."""
        return {**body, "name": msgspec.json.decode(row.document)["name"]}


@fault("2.6-2", "2.6-4", "4.6-6", "4.6-10", shows_in=SHOWN)
class OwnerNotUpdated(UnderstoodOtherwise):
    """An update is accepted, but the owner_id stays."""

    def understood(self, row: PortalLinkRow, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Without a new owner."""
        return {name: value for name, value in body.items() if name != "owner_id"}


@fault("4.6-7", seen="false that is taken for not given", shows_in=SHOWN)
class FalseNotUpdated(UnderstoodOtherwise):
    """An update with can_manage_endpoint false leaves it as it is."""

    def understood(self, row: PortalLinkRow, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Without what is false."""
        return {name: value for name, value in body.items() if value is not False}


@fault("4.6-8", shows_in=SHOWN)
class AuthTypeNotUpdated(UnderstoodOtherwise):
    """An update is accepted, but the auth_type stays."""

    def understood(self, row: PortalLinkRow, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Without a new one."""
        return {name: value for name, value in body.items() if name != "auth_type"}


@fault("4.6-4", "4.4-14", also=["2.6-7", "4.6-12"], shows_in=SHOWN)
class AnswerOfAnother(SpoiltAnswers):
    """The answer to an update has the identifier of its token as uid."""

    operations = (UPDATE_PORTAL_LINK,)

    def spoilt_resource(self, call: OperationCall, resource: Object) -> Object:
        """Another uid."""
        return {**resource, "uid": resource["token"]}


@fault(
    "4.6-5",
    "4.6-9",
    also=["2.6-7", "4.6-12"],
    seen="a read from a replica that lags behind",
    shows_in=SHOWN,
)
class UpdateNotStored(PortalLinkHandlers):
    """The answer to an update shows the new name, and it is not stored."""

    def update(self, call: OperationCall) -> OperationResult:
        """Changed back at once."""
        name = msgspec.json.decode(self._find(call).document)["name"]
        reply = super().update(call)
        row = self._find(call)
        record = {**msgspec.json.decode(row.document), "name": name}
        self._service.portal_links.replace(
            row._replace(document=msgspec.json.encode(record)), name=name
        )
        return reply


@fault(
    "2.6-7",
    "4.6-9",
    "4.6-12",
    seen="a cached row that is compared before it is written",
    shows_in=["sequences"],
)
class LaterUpdatesNotStored(UpdateNotStored):
    """The first update of a portal link is stored; those that follow are answered, and their names
    forgotten.
    """

    def __init__(self, service: Service) -> None:
        super().__init__(service)
        self._updated: set[tuple[str, str]] = set()

    def update(self, call: OperationCall) -> OperationResult:
        """Stored once."""
        if (call.project, call.target) in self._updated:
            return super().update(call)
        self._updated.add((call.project, call.target))
        return PortalLinkHandlers.update(self, call)


@fault("4.6-12", also=["2.6-7"], seen="an UPDATE whose WHERE is too wide", shows_in=SHOWN)
class NeighboursUpdated(PortalLinkTable):
    """An update of one portal link changes the names of all in its project."""

    def replace(self, row: PortalLinkRow, *, name: str) -> None:
        """All of them."""
        super().replace(row, name=name)
        self._database.write(
            "UPDATE portal_links SET name = ?, document = CAST(json_set(document, '$.name', ?) AS BLOB)"
            " WHERE project = (SELECT project FROM portal_links WHERE seq = ?)",
            (name, name, row.seq),
        )


@fault("4.6-14", "2.9-12", seen="a clock that is read in another zone", shows_in=SHOWN)
class UpdatedAtBack(PortalLinkHandlers):
    """An update sets updated_at to an hour before it."""

    def _apply_update(self, row: PortalLinkRow, body: Mapping[str, Any]) -> dict[str, Any]:
        record = super()._apply_update(row, body)
        return {**record, "updated_at": self._service.timestamp(self._service.now() - 3600)}


@fault("9-2", "4.6-1", shows_in=SHOWN)
class ListedEndpointsRefused(PortalLinkHandlers):
    """An update with the deprecated endpoints is refused."""

    def update(self, call: OperationCall) -> OperationResult:
        """No endpoints any more."""
        if "endpoints" in call.body:
            raise self._service.errors.invalid("/endpoints: is deprecated")
        return super().update(call)


@fault("9-4", shows_in=SHOWN)
class ListedEndpointsMistaken(PortalLinkHandlers):
    """The deprecated endpoints do nothing where they are added, and are added where they do
    nothing.
    """

    def __init__(self, service: Service) -> None:
        right = service.dialect.requests.portal_endpoints.value
        added = right is PortalEndpointsMeaning.ADDED
        wrong = PortalEndpointsMeaning.IGNORED if added else PortalEndpointsMeaning.ADDED
        super().__init__(
            replace(service, dialect=mistaken(service.dialect, "requests.portal_endpoints", wrong))
        )
