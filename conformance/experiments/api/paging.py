"""Paging: walks through both lists, in each order, with each filter, in pages of every size.

Sections 2.2, 4.4 and 4.7. The exchanges "page" of a walk go forward; each "back" is the step back
from the page before it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import nullcontext
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.existing_resources import (
    NO_PORTAL_LINKS,
    NO_SOURCES,
    changeable_links,
    content,
    pagination,
    put_back,
)
from hookproof.conformance.experiments.support.planned_walks import (
    PAGES,
    Item,
    PlannedWalk,
    least_size,
    planned_walks,
)
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import Evidence, Exchange, PreconditionFailed
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.observations.lists.parameters import (
    DefaultPageSize,
    LargestPageSize,
    ListRequest,
    PageSizeAboveMaximum,
    UnreadableParameter,
)
from hookproof.conformance.observations.lists.walk import PageWalk, WalkWithInserts
from hookproof.conformance.observations.preparation import Preparation
from hookproof.conformance.target.definition import Fixtures
from hookproof.conformance.target.seeding import HOOKS
from hookproof.spec.dialect.vocabulary import CursorForm

# What is missing when a list is too short to have pages.
LISTS: Final = {"listPortalLinks": NO_PORTAL_LINKS, "listSources": NO_SOURCES}

KEPT: Final = ("uid", "name", "owner_id", "provider", "type", "created_at")
UNREADABLE: Final = {"perPage": "many", "sort": "SIDEWAYS", "direction": "across"}
GARBAGE_CURSOR: Final = "no-such-cursor"

# Walks change nothing, so that several can be taken at once.
AT_A_TIME: Final = 6

# How many resources are made during a walk, one after each of its first pages.
INSERTS: Final = 3

TOO_LONG: Final = (
    "the list is too long to be walked, or has no end; name a project with fewer, or try the deep"
    " profile"
)
NO_HOOK: Final = (
    "nothing can be added to a list during a walk; give target.yaml a provision hook {}"
)


@experiment(
    "paging",
    observes=(
        PageWalk,
        WalkWithInserts,
        DefaultPageSize,
        LargestPageSize,
        PageSizeAboveMaximum,
        UnreadableParameter,
        Preparation,
    ),
    busy=True,
)
async def paging(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Take every walk and try every single parameter, for portal links and for sources."""
    for operation_id, missing in LISTS.items():
        async for observation in _parameters(context, operation_id):
            yield observation
        async with context.portal_links if operation_id == "listPortalLinks" else nullcontext():
            async for observation in _lists(context, operation_id, missing):
                yield observation


async def _lists(
    context: ExperimentContext, operation_id: str, missing: str
) -> AsyncIterator[Evidence]:
    arranged = context.trial(f"{operation_id}: as it is walked through")
    try:
        context.refuse_lacking("sources" if operation_id == "listSources" else "portal_links")
        await context.seeding.fill(context.api, operation_id, arranged.project)
        moved = await _one_owner(context, arranged) if operation_id == "listPortalLinks" else []
    except PreconditionFailed as failed:
        yield arranged.not_observed(PageWalk, str(failed))
        return
    async for observation in _walks(context, operation_id, missing):
        yield observation
    for link in moved:
        await put_back(context, arranged, link)
    yield arranged.observe(Preparation)


async def _walks(
    context: ExperimentContext, operation_id: str, missing: str
) -> AsyncIterator[Evidence]:
    trial = context.trial(f"{operation_id}: the whole list")
    pages, complete = await _forward(
        trial, PlannedWalk(operation_id=operation_id), PAGES[context.profile]
    )
    listed = [item for page in pages for item in content(page)]
    # A list without an end is judged by what it showed twice.
    yield _observed(trial, PlannedWalk(operation_id=operation_id), listed, complete=complete)
    if len(listed) < 2 or not complete:  # noqa: PLR2004
        yield context.trial(f"{operation_id}: walks").not_observed(
            PageWalk, missing if complete else TOO_LONG
        )
        return
    if operation_id == "listSources":
        _refuse_absent(context, trial, listed)
    walks = planned_walks(context, operation_id, listed)
    async for observation in _in_order([_later(context, walk, listed) for walk in walks]):
        yield observation
    yield await _unchanged(context, operation_id, listed)
    for sort in (None, "ASC"):
        size = max(2, least_size(context, len(listed)))
        yield await _with_inserts(
            context, PlannedWalk(operation_id=operation_id, sort=sort, per_page=size)
        )


def _refuse_absent(context: ExperimentContext, trial: Trial, listed: Sequence[Item]) -> None:
    """Raise PreconditionFailed for a source that fixtures name and the list does not show."""
    shown = {item.get("uid") for item in listed}
    for uid in context.fixtures.get(trial.project.id, Fixtures()).sources:
        if uid not in shown:
            raise PreconditionFailed(
                f"the source {uid} that fixtures name in target.yaml is not in the list of"
                f" {trial.project.id}"
            )


def _later(
    context: ExperimentContext, walk: PlannedWalk, listed: Sequence[Item]
) -> Callable[[], Awaitable[Evidence]]:
    return lambda: _walked(context, walk, listed)


async def _in_order(works: Sequence[Callable[[], Awaitable[Evidence]]]) -> AsyncIterator[Evidence]:
    """What they observe, in the order given; several are under way at a time."""
    places = asyncio.Semaphore(AT_A_TIME)

    async def one(work: Callable[[], Awaitable[Evidence]]) -> Evidence:
        async with places:
            return await work()

    tasks = [asyncio.create_task(one(work)) for work in works]
    try:
        for task in tasks:
            yield await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _with_inserts(context: ExperimentContext, walk: PlannedWalk) -> Evidence:
    """Go forward in small pages, while resources are made that sort before, among and after those
    that are there.
    """
    hook = HOOKS[walk.operation_id]
    trial = context.trial(
        f"{walk.operation_id}: resources added during a walk, {walk.sort or 'no sort'}"
    )
    if not context.provision.has(hook):
        return trial.not_observed(WalkWithInserts, NO_HOOK.format(hook))
    before = await _met(context, PlannedWalk(operation_id=walk.operation_id))
    still = await _met(context, walk)
    additions: list[str | None] = []
    first_letters = iter("AmzZ0")

    async def add_resource() -> None:
        if len(additions) < INSERTS:
            additions.append(await _made(context, trial, walk.operation_id, next(first_letters)))

    _, complete = await _forward(
        trial, walk, PAGES[context.profile] + INSERTS, between=add_resource
    )
    return trial.observe(
        WalkWithInserts,
        **_asked(walk, [], complete=complete),
        before=tuple(before),
        still=tuple(still),
        made=tuple(additions),
    )


async def _met(context: ExperimentContext, walk: PlannedWalk) -> list[str]:
    """The identifiers that a walk of its own meets, in its order."""
    pages, _ = await _forward(context.trial("before"), walk, PAGES[context.profile])
    return [item["uid"] for page in pages for item in content(page)]


async def _made(
    context: ExperimentContext, trial: Trial, operation_id: str, letter: str
) -> str | None:
    name = f"{letter}{context.word(' added')}"
    if operation_id == "listSources":
        fields = {"name": name, "type": context.dialect.words.source_types[0]}
        return await context.provision.create_source(trial.project, fields)
    return await context.provision.create_portal_link(
        trial.project, {"name": name, "owner_id": context.word("owner")}
    )


async def _one_owner(context: ExperimentContext, trial: Trial) -> list[Item]:
    """Give two portal links one owner, so that a filter has more than one page; the portal links as
    they were.
    """
    links = list(await changeable_links(context, trial, pages=1))[:2]
    owner, bodies = context.word("owner"), RequestBodies.of(context)
    for link in links:
        kept = {name: link[name] for name in bodies.required("updatePortalLink") if link.get(name)}
        body = bodies.portal_link(**{**kept, "owner_id": owner})
        await trial.call(
            "updatePortalLink", role="prepare", path={"portalLinkID": link["uid"]}, body=body
        )
    return links


async def _walked(
    context: ExperimentContext, walk: PlannedWalk, listed: Sequence[Item]
) -> Evidence:
    described = ", ".join(f"{name}={value}" for name, value in walk.query.items())
    trial = context.trial(f"{walk.operation_id}: {described}")
    _, complete = await _forward(trial, walk, PAGES[context.profile], back=True)
    return _observed(trial, walk, listed, complete=complete)


def _observed(
    trial: Trial, walk: PlannedWalk, listed: Sequence[Item], *, complete: bool
) -> PageWalk:
    return trial.observe(PageWalk, **_asked(walk, listed, complete=complete))


def _asked(walk: PlannedWalk, listed: Sequence[Item], *, complete: bool) -> dict[str, Any]:
    return {
        "operation_id": walk.operation_id,
        "sort": walk.sort,
        "per_page": walk.per_page,
        "filter": None if walk.filter is None else dict(walk.filter),
        "listed": tuple({field: item.get(field) for field in KEPT} for item in listed),
        "complete": complete,
    }


async def _forward(
    trial: Trial,
    walk: PlannedWalk,
    most: int,
    *,
    back: bool = False,
    between: Callable[[], Awaitable[None]] | None = None,
) -> tuple[list[Exchange], bool]:
    """Go forward until no page follows; step back from each page to the one before, or do something
    between pages.
    """
    pages: list[Exchange] = []
    step: dict[str, str] = {}
    for _ in range(most):
        page = await trial.call(walk.operation_id, role="page", query={**walk.query, **step})
        pages.append(page)
        previous = pagination(page).get("prev_page_cursor")
        if back and len(pages) > 1 and isinstance(previous, str) and previous:
            query = {**walk.query, "direction": "prev", "prev_page_cursor": previous}
            await trial.call(walk.operation_id, role="back", query=query)
        cursor, ended = (
            pagination(page).get("next_page_cursor"),
            pagination(page).get("has_next_page") is not True,
        )
        if ended or not isinstance(cursor, str):
            return pages, page.succeeded and ended
        step = {"direction": "next", "next_page_cursor": cursor}
        if between is not None:
            await between()
    return pages, False


async def _unchanged(
    context: ExperimentContext, operation_id: str, listed: Sequence[Item]
) -> Evidence:
    trial = context.trial(f"{operation_id}: the whole list again")
    _, complete = await _forward(
        trial, PlannedWalk(operation_id=operation_id), PAGES[context.profile]
    )
    return _observed(trial, PlannedWalk(operation_id=operation_id), listed, complete=complete)


async def _parameters(context: ExperimentContext, operation_id: str) -> AsyncIterator[Evidence]:
    """Sections 4.4, 4.7 and 8: no perPage, one above the maximum, and parameters that cannot be
    read.
    """
    paging = context.dialect.paging
    tries: list[tuple[str, type[ListRequest], dict[str, str]]] = [
        ("default size", DefaultPageSize, {})
    ]
    if paging.maximum_per_page.decided:
        above = {"perPage": str(max(paging.maximum_per_page.allowed) + 1)}
        largest = {"perPage": str(min(paging.maximum_per_page.allowed))}
        tries.append(("size above the maximum", PageSizeAboveMaximum, above))
        tries.append(("largest size", LargestPageSize, largest))
    unreadable = [{name: text} for name, text in UNREADABLE.items()]
    if paging.cursor_form.decided and paging.cursor_form.value is CursorForm.OPAQUE:
        unreadable.append({"direction": "next", "next_page_cursor": GARBAGE_CURSOR})
    tries += [("unreadable parameter", UnreadableParameter, query) for query in unreadable]
    for label, kind, query in tries:
        trial = context.trial(f"{operation_id}, {label}: {' '.join(query)}".removesuffix(": "))
        await trial.call(operation_id, role="tried", query=query)
        yield trial.observe(kind, operation_id=operation_id, query=query)
