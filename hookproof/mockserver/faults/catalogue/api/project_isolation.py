"""Projects that are not isolated from each other (section 1)."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.handlers.endpoints import EndpointHandlers
from hookproof.mockserver.api.handlers.portal_links import PortalLinkHandlers
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_endpoints import not_reached_by_broadcasts
from hookproof.mockserver.faults.support.altered_responses import (
    LIST_PORTAL_LINKS,
    AlteredResponses,
    Object,
)
from hookproof.mockserver.store.database import Database
from hookproof.mockserver.store.endpoints import EndpointRow, EndpointTable
from hookproof.mockserver.store.keyset_paging import Listing, Position, Span
from hookproof.mockserver.store.portal_links import PortalLinkRow, PortalLinkTable

ACROSS: Final = ("isolation",)


def project_of(database: Database, table: str, uid: str) -> str | None:
    """The project of the resource with this uid."""
    row = database.read(f"SELECT project FROM {table} WHERE uid = ?", (uid,)).fetchone()
    return None if row is None else str(row[0])


def first_project(database: Database, table: str) -> str:
    """The project of the first resource that was created; empty if there is none."""
    row = database.read(f"SELECT project FROM {table} ORDER BY seq LIMIT 1").fetchone()
    return "" if row is None else str(row[0])


def projects_with_endpoints(database: Database) -> list[str]:
    return [project for (project,) in database.read("SELECT DISTINCT project FROM endpoints")]


@fault("own_project", shows_in=["portal_links"])
class UidAsProjectId(AlteredResponses):
    """A listed portal link shows its own uid as project_id."""

    operations = (LIST_PORTAL_LINKS,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "project_id": resource["uid"]}


@fault(
    "project_bound@endpoints own_project", seen="a look-up by the identifier alone", shows_in=ACROSS
)
class EndpointsFoundAnywhere(EndpointTable):
    """An endpoint is found through the path of every project."""

    def find(self, project: str, uid: str) -> EndpointRow | None:
        return super().find(project_of(self._database, "endpoints", uid) or project, uid)


@fault(
    "project_bound@portal_links own_project",
    seen="one project reads another's portal links",
    shows_in=ACROSS,
)
class PortalLinksFoundAnywhere(PortalLinkTable):
    """A portal link is found through the path of every project."""

    def find(self, project: str, uid: str) -> PortalLinkRow | None:
        return super().find(project_of(self._database, "portal_links", uid) or project, uid)


@fault(
    "listed_by_project own_project",
    seen="one project reads another's sources",
    shows_in=ACROSS,
)
class ListsOfTheFirstProject(Listing):
    """The lists of every project also hold the first resource of the first project."""

    def _where(self, *parts: Any) -> str:
        own, *terms = super()._where(*parts).split(" AND ", 1)
        return " AND ".join([f"({own} OR seq = (SELECT min(seq) FROM {self._table}))", *terms])

    def find_position(self, project: str, uid: str) -> Position | None:
        first = first_project(self._database, self._table)
        return super().find_position(project, uid) or super().find_position(first, uid)


@fault("members_by_project", shows_in=ACROSS)
class OwnersOfEveryProject(EndpointTable):
    """A portal link includes endpoints of other projects with the same owner_id."""

    def find_owned(self, project: str, owners: Iterable[str]) -> list[EndpointRow]:
        owner_ids = list(owners)
        rows: list[EndpointRow] = []
        for owning_project in projects_with_endpoints(self._database):
            rows += super().find_owned(owning_project, owner_ids)
        return rows


@fault(
    "reached_by_project",
    seen="a fan-out over the projects of an owner",
    shows_in=["fan_out"],
)
class BroadcastsToEveryProject(EndpointTable):
    """A broadcast reaches the endpoints of every project that has an owner of its project."""

    def find_reached(self, project: str, *, now: float, without_owner: bool) -> list[EndpointRow]:
        rows = super().find_reached(project, now=now, without_owner=without_owner)
        others = self._database.read(
            "SELECT DISTINCT project FROM endpoints WHERE project <> ? AND owner_id IN"
            " (SELECT owner_id FROM endpoints WHERE project = ?)",
            (project, project),
        ).fetchall()
        for (other,) in others:
            rows += super().find_reached(other, now=now, without_owner=without_owner)
        return rows


@fault("own_project project_bound@endpoints", shows_in=ACROSS, where=not_reached_by_broadcasts)
class DisabledFoundAnywhere(EndpointTable):
    """A disabled endpoint is found through the path of every project."""

    def find(self, project: str, uid: str) -> EndpointRow | None:
        row = self._database.read(
            "SELECT project FROM endpoints WHERE uid = ? AND NOT active", (uid,)
        ).fetchone()
        return super().find(row[0] if row else project, uid)


@fault(
    "project_bound@expireEndpointSecret.secrets", seen="right status, wrong effect", shows_in=ACROSS
)
class RolledAcrossAndRefused(EndpointHandlers):
    """A roll through the path of another project is refused, and carried out."""

    def expire_secret(self, call: OperationCall) -> OperationResult:
        owning_project = project_of(self._service.database, "endpoints", call.target)
        if owning_project not in (None, call.project):
            super().expire_secret(msgspec.structs.replace(call, project=owning_project))
        return super().expire_secret(call)


@fault("project_bound@updatePortalLink", seen="right status, wrong effect", shows_in=ACROSS)
class UpdatedAcrossAndRefused(PortalLinkHandlers):
    """An update through the path of another project is refused, and carried out."""

    def update(self, call: OperationCall) -> OperationResult:
        owning_project = project_of(self._service.database, "portal_links", call.target)
        if owning_project not in (None, call.project):
            super().update(msgspec.structs.replace(call, project=owning_project))
        return super().update(call)


@fault("project_bound@getPortalLink", shows_in=ACROSS)
class PortalLinksRetrievedAnywhere(PortalLinkHandlers):
    """A portal link is retrieved through the path of every project, and shown as its own."""

    def get(self, call: OperationCall) -> OperationResult:
        owning_project = project_of(self._service.database, "portal_links", call.target)
        if owning_project is None:
            return super().get(call)
        result = super().get(msgspec.structs.replace(call, project=owning_project))
        body = result.body.replace(
            b'"project_id":"%b"' % owning_project.encode(),
            b'"project_id":"%b"' % call.project.encode(),
        )
        return OperationResult(status=result.status, body=body)


@fault(
    "own_project listed_by_project later_page",
    seen="a cursor without its project",
    shows_in=[*ACROSS, "paging"],
)
class SecondPageOfTheFirstProject(Listing):
    """From the second page on a list of another project is that of the first one."""

    def rows(self, span: Span) -> list[tuple[Any, ...]]:
        first = first_project(self._database, self._table)
        if span.start is None or span.project == first:
            return super().rows(span)
        elsewhere = super().rows(msgspec.structs.replace(span, project=first, start=None))
        return elsewhere or super().rows(span)


@fault("members_by_project", shows_in=ACROSS)
class OwnersSharedWhenRetrieved(PortalLinkHandlers):
    """A retrieved portal link includes endpoints of other projects with its owner_id."""

    _retrieving = False

    def get(self, call: OperationCall) -> OperationResult:
        self._retrieving = True
        try:
            return super().get(call)
        finally:
            self._retrieving = False

    def _find_inherited(
        self, project: str, owners: Collection[str]
    ) -> Mapping[str, Sequence[EndpointRow]]:
        if not self._retrieving:
            return super()._find_inherited(project, owners)
        found: defaultdict[str, list[EndpointRow]] = defaultdict(list)
        for each in projects_with_endpoints(self._service.database):
            for owner, rows in super()._find_inherited(each, owners).items():
                found[owner] += rows
        return found


@fault("reached_by_project", seen="a fan-out by owner alone", shows_in=["fan_out"])
class BroadcastsToNamesakes(EndpointTable):
    """A broadcast also reaches endpoints of other projects with the same owner_id."""

    def find_reached(self, project: str, *, now: float, without_owner: bool) -> list[EndpointRow]:
        own = super().find_reached(project, now=now, without_owner=without_owner)
        owners = [row.owner_id for row in own if row.owner_id is not None]
        others = self._database.read(
            "SELECT DISTINCT project FROM endpoints WHERE project <> ?", (project,)
        ).fetchall()
        return [*own, *(row for (other,) in others for row in self.find_owned(other, owners))]
