"""Makes the portal links and sources that were there in the recorded run, and are not now.

No operation of the API creates them (sections 2.6 and 2.7): they were found, or a hook made them.
One that the target lacks is made by its hook, if there is one, before the first request whose
answer showed it, and takes its place from then on.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import Kind, Resource, items, resources
from hookproof.conformance.replay.recording import RequestKey, request_key
from hookproof.conformance.target.client import ApiClient
from hookproof.conformance.target.definition import Project
from hookproof.target.hooks.provision import HookFailed, HookFailures, Provision

ROLE: Final = "existing"
HOOKS: Final = {Kind.PORTAL_LINK: "create_portal_link", Kind.SOURCE: "create_source"}
# What a hook is told of each.
TOLD: Final = {
    Kind.PORTAL_LINK: ("name", "owner_id"),
    Kind.SOURCE: ("name", "type", "provider"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExistingResource:
    """A portal link or a source, as the first answer with it showed it; `project` is recorded."""

    kind: Kind
    project: str
    uid: str
    created_at: str
    told: Mapping[str, str]


class ExistingResources:
    """Those of one recording, by the first request that knew of them.

    `takes_place` is called with the recorded uid and the new one.
    """

    def __init__(
        self,
        requests: Sequence[Exchange],
        projects: Mapping[str, Project],
        *,
        api: ApiClient,
        provision: Provision,
        failures: HookFailures,
        plain: Callable[[str], str],
        takes_place: Callable[[str, str], None],
    ) -> None:
        self._api, self._provision, self._failures = api, provision, failures
        self._projects, self._plain, self._takes_place = projects, plain, takes_place
        self._by_request: dict[RequestKey, list[ExistingResource]] = {}
        known: set[tuple[str, str]] = set()
        for request in requests:
            for resource in self._shown(request):
                if (resource.project, resource.uid) not in known:
                    known.add((resource.project, resource.uid))
                    self._by_request.setdefault(request_key(request), []).append(resource)

    async def make_for(self, request: Exchange) -> None:
        """Make what the target lacks of what this request was the first to know of."""
        for resource in sorted(
            self._by_request.get(request_key(request), ()), key=lambda each: each.created_at
        ):
            if not await self._is_there(resource):
                await self._make(resource)

    def _shown(self, request: Exchange) -> Iterator[ExistingResource]:
        if request.project not in self._projects:
            return
        for resource in resources(request):
            hook, uid = HOOKS.get(resource.kind), resource.text("uid")
            if hook is not None and uid is not None and self._provision.has(hook):
                yield ExistingResource(
                    kind=resource.kind,
                    project=request.project,
                    uid=uid,
                    created_at=resource.text("created_at") or "",
                    told=dict(self._told(resource)),
                )

    def _told(self, resource: Resource) -> Iterator[tuple[str, str]]:
        for name in TOLD[resource.kind]:
            if (text := resource.text(name)) is not None:
                yield name, self._plain(text)

    async def _is_there(self, resource: ExistingResource) -> bool:
        project = self._projects[resource.project]
        if resource.kind is Kind.SOURCE:
            page = await self._api.call("listSources", role=ROLE, project=project)
            return any(item.get("uid") == resource.uid for item in items(page))
        answer = await self._api.call(
            "getPortalLink", role=ROLE, project=project, path={"portalLinkID": resource.uid}
        )
        return answer.succeeded

    async def _make(self, resource: ExistingResource) -> None:
        project = self._projects[resource.project]
        try:
            if resource.kind is Kind.SOURCE:
                uid = await self._provision.create_source(project, resource.told)
            else:
                uid = await self._provision.create_portal_link(project, resource.told)
        except HookFailed as failure:
            self._failures.note(failure)
            return
        if uid is not None:
            self._takes_place(resource.uid, uid)
