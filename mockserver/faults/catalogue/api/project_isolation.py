"""Projects that are not isolated from each other (section 1)."""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.handlers.endpoints import EndpointHandlers
from hookproof.mockserver.api.handlers.portal_links import PortalLinkHandlers
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_responses import (
    LIST_PORTAL_LINKS,
    AlteredResponses,
    Object,
)
from hookproof.mockserver.store.database import Database
from hookproof.mockserver.store.endpoints import EndpointRow, EndpointTable
from hookproof.mockserver.store.keyset_paging import Listing, Span
from hookproof.mockserver.store.portal_links import PortalLinkRow, PortalLinkTable
from hookproof.spec.dialect.model import Dialect

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


@fault("1-3", shows_in=["portal_links"])
class UidAsProjectId(AlteredResponses):
    """A listed portal link shows its own uid as project_id."""

    operations = (LIST_PORTAL_LINKS,)

    def alter_resource(self, call: OperationCall, resource: Object) -> Object:
        return {**resource, "project_id": resource["uid"]}


@fault("1-4", "1-5", "1-3", seen="a look-up by the identifier alone", shows_in=ACROSS)
class EndpointsFoundAnywhere(EndpointTable):
    """An endpoint is found through the path of every project."""

    def find(self, project: str, uid: str) -> EndpointRow | None:
        return super().find(project_of(self._database, "endpoints", uid) or project, uid)


@fault("1-6", "1-7", "1-3", seen="one project reads another's portal links", shows_in=ACROSS)
class PortalLinksFoundAnywhere(PortalLinkTable):
    """A portal link is found through the path of every project."""

    def find(self, project: str, uid: str) -> PortalLinkRow | None:
        return super().find(project_of(self._database, "portal_links", uid) or project, uid)


@fault(
    "1-8",
    "1-9",
    "1-3",
    # What a list shows is asked for, and the project does not have it.
    also=["2.9-10", "2.9-11", "4.5-1", "4.6-1", "4.9-6", "9-2"],
    seen="one project reads another's sources",
    shows_in=ACROSS,
)
class ListsOfTheFirstProject(Listing):
    """The lists of every project hold what the first project holds."""

    def rows(self, span: Span) -> list[tuple[Any, ...]]:
        first = first_project(self._database, self._table)
        return super().rows(msgspec.structs.replace(span, project=first))


@fault("1-10", shows_in=ACROSS)
class OwnersOfEveryProject(EndpointTable):
    """A portal link includes endpoints of other projects with the same owner_id."""

    def find_owned(self, project: str, owners: Iterable[str]) -> list[EndpointRow]:
        owner_ids = list(owners)
        rows: list[EndpointRow] = []
        for owning_project in projects_with_endpoints(self._database):
            rows += super().find_owned(owning_project, owner_ids)
        return rows


@fault(
    "1-11",
    # Every endpoint gets the events of all experiments; what is late or crowded by it is chance.
    also=[
        "1-1",
        "1-16",
        "1-17",
        "1-18",
        "2.3-17",
        "2.5-3",
        "2.5-9",
        "2.5-10",
        "6-16",
        "8-4",
    ],
    seen="a fan-out by owner alone",
    shows_in=["fan_out"],
)
class BroadcastsToEveryProject(EndpointTable):
    """A broadcast reaches the endpoints of every project."""

    def find_reached(self, project: str, *, now: float, without_owner: bool) -> list[EndpointRow]:
        rows: list[EndpointRow] = []
        for owning_project in projects_with_endpoints(self._database):
            rows += super().find_reached(owning_project, now=now, without_owner=without_owner)
        return rows


def not_reached_by_broadcasts(dialect: Dialect) -> bool:
    """Whether the suites create disabled endpoints."""
    return not dialect.delivery.disabled_receives.value


@fault("1-3", "1-4", "1-5", shows_in=ACROSS, where=not_reached_by_broadcasts)
class DisabledFoundAnywhere(EndpointTable):
    """A disabled endpoint is found through the path of every project."""

    def find(self, project: str, uid: str) -> EndpointRow | None:
        row = self._database.read(
            "SELECT project FROM endpoints WHERE uid = ? AND NOT active", (uid,)
        ).fetchone()
        return super().find(row[0] if row else project, uid)


@fault("1-5", seen="right status, wrong effect", shows_in=ACROSS)
class RolledAcrossAndRefused(EndpointHandlers):
    """A roll through the path of another project is refused, and carried out."""

    def expire_secret(self, call: OperationCall) -> OperationResult:
        owning_project = project_of(self._service.database, "endpoints", call.target)
        if owning_project not in (None, call.project):
            super().expire_secret(msgspec.structs.replace(call, project=owning_project))
        return super().expire_secret(call)


@fault("1-7", seen="right status, wrong effect", shows_in=ACROSS)
class UpdatedAcrossAndRefused(PortalLinkHandlers):
    """An update through the path of another project is refused, and carried out."""

    def update(self, call: OperationCall) -> OperationResult:
        owning_project = project_of(self._service.database, "portal_links", call.target)
        if owning_project not in (None, call.project):
            super().update(msgspec.structs.replace(call, project=owning_project))
        return super().update(call)


@fault("1-6", shows_in=ACROSS)
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
    "1-3",
    "1-8",
    "1-9",
    seen="a cursor without its project",
    shows_in=ACROSS,
)
class SecondPageOfTheFirstProject(Listing):
    """From the second page on a list is that of the first project."""

    def rows(self, span: Span) -> list[tuple[Any, ...]]:
        if span.start is None:
            return super().rows(span)
        first = first_project(self._database, self._table)
        return super().rows(msgspec.structs.replace(span, project=first, start=None))


@fault("1-10", also=["9-4"], shows_in=ACROSS)
class OwnersSharedWhenRetrieved(PortalLinkHandlers):
    """A retrieved portal link includes endpoints of other projects with its owner_id."""

    def get(self, call: OperationCall) -> OperationResult:
        portal_link = self._find(call)
        owners = [portal_link.owner_id or ""]
        rows = [
            row
            for project in projects_with_endpoints(self._service.database)
            for row in self._service.endpoints.find_owned(project, owners)
        ]
        serializer = self._service.serializer
        return OperationResult(
            status=call.operation.success.value,
            body=serializer.envelope(
                "Portal link is fetched",
                portal_link.document[:-1] + serializer.exposed_endpoints(rows),
            ),
        )


@fault("1-11", seen="a fan-out by owner alone", shows_in=["fan_out"])
class BroadcastsToNamesakes(EndpointTable):
    """A broadcast also reaches endpoints of other projects with the same owner_id."""

    def find_reached(self, project: str, *, now: float, without_owner: bool) -> list[EndpointRow]:
        own = super().find_reached(project, now=now, without_owner=without_owner)
        owners = [row.owner_id for row in own if row.owner_id is not None]
        others = self._database.read(
            "SELECT DISTINCT project FROM endpoints WHERE project <> ?", (project,)
        ).fetchall()
        return [*own, *(row for (other,) in others for row in self.find_owned(other, owners))]
