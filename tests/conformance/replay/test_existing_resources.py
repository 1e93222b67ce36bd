"""Portal links and sources that the recorded run knew of are there when they are asked for."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.replay.existing_resources import ExistingResources
from hookproof.conformance.target.definition import Project
from hookproof.target.hooks.provision import HookFailed, HookFailures, Provision
from tests.conformance.canned_evidence import NOW, exchange

PROJECT = Project(id="q1", api_key="key")
FIRST = {"uid": "l1", "name": "One", "owner_id": "o1", "created_at": "2026-01-01"}
SECOND = {"uid": "l2", "name": "Two", "owner_id": "o2", "created_at": "2026-01-02"}
SOURCE = {"uid": "s1", "name": "Source", "type": "http", "provider": "github"}


def listed(operation_id: str, *resources: Mapping[str, Any], at_s: float = 0.0) -> Exchange:
    return exchange("list", operation_id, data={"content": list(resources)}, sent_at=NOW + at_s)


class StubbedTarget:
    """A target whose resources can be asked for, and made by hooks."""

    def __init__(self, *there: str, broken: bool = False) -> None:
        self.there = set(there)
        self.broken = broken
        self.made: list[Mapping[str, Any]] = []

    async def call(
        self,
        operation_id: str,
        *,
        role: str,
        project: Project,
        path: Mapping[str, str] | None = None,
    ) -> Exchange:
        assert (role, project) == ("existing", PROJECT)
        if operation_id == "listSources":
            return listed(operation_id, *({"uid": uid} for uid in self.there))
        assert path is not None
        found = path["portalLinkID"] in self.there
        return exchange("fetch", operation_id, status=200 if found else 404)

    async def hook(self, arguments: Mapping[str, Any]) -> str:
        if self.broken:
            raise HookFailed("create_portal_link", "it is broken")
        self.made.append(arguments.get("portal_link") or arguments["source"])
        return f"new-{len(self.made)}"


def make(target: StubbedTarget, *requests: Exchange, hooks: tuple[str, ...]) -> dict[str, str]:
    """Make what is needed for each request in turn; what takes the place of which uid."""
    places: dict[str, str] = {}
    failures = HookFailures()
    existing = ExistingResources(
        requests,
        {"p1": PROJECT},
        api=target,  # type: ignore[arg-type] # what is called of it
        provision=Provision(hooks=dict.fromkeys(hooks, target.hook)),
        failures=failures,
        plain=lambda text: text.replace("o", "0"),
        takes_place=places.__setitem__,
    )

    async def make_all() -> None:
        for request in requests:
            await existing.make_for(request)

    asyncio.run(make_all())
    assert bool(failures.words) == target.broken
    return places


LINKS = ("create_portal_link",)


def test_what_is_missing_is_made_once_in_the_order_of_creation_and_takes_its_place() -> None:
    target = StubbedTarget()
    lists = [listed("listPortalLinks", SECOND, FIRST, at_s=at_s) for at_s in (0.0, 1.0)]
    assert make(target, *lists, hooks=LINKS) == {"l1": "new-1", "l2": "new-2"}
    assert target.made == [{"name": "One", "owner_id": "01"}, {"name": "Tw0", "owner_id": "02"}]


def test_what_is_there_stays() -> None:
    target = StubbedTarget("l1", "s1")
    requests = listed("listPortalLinks", FIRST), listed("listSources", SOURCE, at_s=1.0)
    assert make(target, *requests, hooks=(*LINKS, "create_source")) == {}
    assert not target.made


def test_a_source_is_made_by_its_own_hook() -> None:
    target = StubbedTarget()
    request = listed("listSources", SOURCE)
    assert make(target, request, hooks=("create_source",)) == {"s1": "new-1"}
    assert target.made == [{"name": "S0urce", "type": "http", "provider": "github"}]


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(StubbedTarget(), id="no hook"),
        pytest.param(StubbedTarget(broken=True), id="broken"),
    ],
)
def test_what_cannot_be_made_ends_nothing(target: StubbedTarget) -> None:
    hooks = LINKS if target.broken else ()
    assert make(target, listed("listPortalLinks", FIRST), hooks=hooks) == {}
