"""Paging: walks through both lists, in each order, with each filter, in pages of every size.

Sections 2.2, 4.4 and 4.7. The exchanges with the role "page" go forward; one with the role "back"
is the step back from the page before it. What a number as cursor does not lead to has a role of its
own: nobody knows how a number is to be sent, so that it shows no violation.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, nullcontext
from dataclasses import asdict, replace
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.existing_resources import (
    LISTS,
    content,
    find_changeable_links,
    give_owner,
    kept_fields,
    links_of_owner,
    put_back_afterwards,
    why_list_is_empty,
)
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.experiments.support.telling_texts import texts_for_urls
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.observations.answer import items, refused, shown
from hookproof.conformance.observations.mistakes import ORDINARY
from hookproof.conformance.observations.preparation import Preparation
from hookproof.conformance.subjects.lists.evidence import (
    LINKS,
    ORDINARY_BEFORE,
    SOURCES,
    BackFromNowhere,
    DefaultPageSize,
    LargestPageSize,
    ListRequest,
    NearFilter,
    PageSizeAboveMaximum,
    PageWalk,
    UnreadableParameter,
    WalkWithInserts,
)
from hookproof.conformance.subjects.lists.walks import (
    PAGES,
    Item,
    PlannedWalk,
    go_forward,
    least_size,
    planned_walks,
    uids_on,
)
from hookproof.conformance.target.definition import Fixtures, Project
from hookproof.spec.dialect.vocabulary import CursorForm
from hookproof.target.hooks.wanted_resources import HOOKS

KEPT: Final = ("uid", "name", "owner_id", "provider", "type", "created_at")
UNREADABLE: Final = {"perPage": "many", "sort": "SIDEWAYS", "direction": "across"}
GARBAGE_CURSOR: Final = "no-such-cursor"

# How many characters of a value the name of a walk has.
NAMED: Final = 60

# Walks change nothing, so that several can be under way at once.
AT_A_TIME: Final = 6

# How many resources are added during a walk, one after each of its first pages.
INSERTS: Final = 3

# What their names begin with, one after the other.
FIRST_LETTERS: Final = "Amz"

# So many resources make a walk from one page to the next.
LEAST_ITEMS: Final = 2

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
        BackFromNowhere,
        Preparation,
    ),
    busy=True,
    sharing=Sharing.QUIET,
)
async def paging(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Try every single parameter and every walk, for portal links and for sources."""
    for operation_id in LISTS:
        if lacking := context.why_unasked(operation_id):
            yield context.trial(f"{operation_id}: walks").not_observed(PageWalk, lacking)
            continue
        async for observation in _try_parameters(context, operation_id):
            yield observation
        lock = context.portal_links if operation_id == LINKS else nullcontext()
        async with lock, aclosing(_walk_list(context, operation_id)) as walked:
            async for observation in walked:
                yield observation


async def _walk_list(
    context: ExperimentContext, operation_id: str
) -> AsyncGenerator[Evidence, None]:
    preparation = context.trial(f"{operation_id}: as it is walked through")
    await context.seeding.fill(context.api, operation_id, preparation.project)
    changed_links, owner = (
        await _give_one_owner(context, preparation) if operation_id == LINKS else ([], None)
    )
    whole = PlannedWalk(operation_id=operation_id)
    async with put_back_afterwards(context, preparation, *changed_links):
        known = await links_of_owner(preparation, changed_links, owner)
        async for observation in _all_walks(context, whole, known):
            yield observation
    yield preparation.observe(Preparation)


async def _all_walks(
    context: ExperimentContext, whole: PlannedWalk, known: Sequence[Item] = ()
) -> AsyncIterator[Evidence]:
    """All walks through what `whole` shows; if that is too long, those with a filter that `known`
    resources pass, and those through what their owner has.
    """
    operation_id = whole.operation_id
    trial = context.trial(f"{operation_id}: {'one owner' if whole.within else 'the whole list'}")
    pages, unended = await go_forward(trial, whole, PAGES[context.profile])
    listed = [item for page in pages for item in content(page)]
    # A list without an end is judged by what it showed twice.
    yield _observe(trial, whole, listed, complete=not unended)
    if len(listed) < LEAST_ITEMS or unended:
        failure = context.seeding.failure(operation_id, trial.project)
        reason = unended or failure or why_list_is_empty(pages[-1])
        if listed and not unended and not failure:
            reason = f"{operation_id} shows one resource, and a walk takes at least two"
        yield context.trial(f"{operation_id}: walks").not_observed(PageWalk, reason)
    if unended and len(pages) == PAGES[context.profile]:
        if known:
            filtered = [walk for walk in planned_walks(context, whole, known) if walk.filter]
            first, known_uids = content(pages[0]), {item.get("uid") for item in known}
            shows_known = known_uids <= {item.get("uid") for item in first}
            async for observation in _walk_all(context, filtered, first if shows_known else known):
                yield observation
            by_owner = context.dialect.paging.owner_filter
            if by_owner is None:
                return
            terms = {by_owner: known[0]["owner_id"]}
            async for observation in _all_walks(context, replace(whole, filter=terms, within=True)):
                yield observation
    elif len(listed) >= LEAST_ITEMS:
        async for observation in _walk_listed(
            context, whole, listed, trial.project, unended=bool(unended)
        ):
            yield observation


async def _walk_listed(
    context: ExperimentContext,
    whole: PlannedWalk,
    listed: list[Item],
    project: Project,
    *,
    unended: bool,
) -> AsyncIterator[Evidence]:
    """All walks through what has been listed; `unended` is whether the list may hold more."""
    on_one_page = await _list_on_one_page(context, whole) if unended else ()
    listed = list(on_one_page) or listed
    if whole.operation_id == SOURCES and not unended:
        _require_fixtures(context, project, listed)
    walks = planned_walks(context, whole, listed)
    is_whole = bool(on_one_page) or not unended
    async for observation in _walk_all(context, walks, listed, whole=is_whole):
        yield observation
    if unended:
        return
    yield await _walk(context, "the whole list again", whole, listed)
    if len({item.get("uid") for item in listed}) == len(listed):  # else no page is told by its uid
        yield await _go_back_from_nowhere(context, whole, listed)
    for sort in (None, "ASC"):
        size = max(2, least_size(context, len(listed)))
        yield await _walk_with_inserts(context, whole, replace(whole, sort=sort, per_page=size))


async def _list_on_one_page(context: ExperimentContext, whole: PlannedWalk) -> tuple[Item, ...]:
    """What the list holds if the largest page has room for it, for one that cannot be walked."""
    largest = context.dialect.paging.maximum_per_page
    sizes = [size for size in largest.allowed if size is not None]
    if not sizes:
        return ()
    walk = replace(whole, per_page=min(sizes))
    trial = context.trial(f"{whole.operation_id}: the whole list on one page")
    pages, unended = await go_forward(trial, walk, most=1)
    return () if unended else content(pages[0])


def _require_fixtures(context: ExperimentContext, project: Project, listed: Sequence[Item]) -> None:
    """Raise PreconditionFailed for a source that fixtures name and the list does not show."""
    shown = {item.get("uid") for item in listed}
    for uid in context.fixtures.get(project.id, Fixtures()).sources:
        if uid not in shown:
            raise PreconditionFailed(
                f"the source {uid} that fixtures name in target.yaml is not in the list of"
                f" {project.id}"
            )


async def _walk_all(
    context: ExperimentContext,
    walks: Sequence[PlannedWalk],
    listed: Sequence[Item],
    *,
    whole: bool = True,
) -> AsyncIterator[Evidence]:
    """What these walks show, in the order given; several are under way at a time.

    `whole` is whether all that they should show is listed, so that something can be missing.
    """
    concurrency_limit = asyncio.Semaphore(AT_A_TIME)

    async def walk_back_and_forth(walk: PlannedWalk) -> Evidence:
        described = ", ".join(
            f"{name}={value if len(value) < NAMED else value[:NAMED] + '...'}"
            for name, value in walk.query.items()
        )
        async with concurrency_limit:
            return await _walk(context, described, walk, listed, complete=whole, back=True)

    tasks = [asyncio.create_task(walk_back_and_forth(walk)) for walk in walks]
    try:
        for task in tasks:
            yield await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _walk(
    context: ExperimentContext,
    name: str,
    walk: PlannedWalk,
    listed: Sequence[Item],
    *,
    complete: bool = True,
    back: bool = False,
) -> Evidence:
    trial = context.trial(f"{walk.operation_id}: {name}")
    _, unended = await go_forward(trial, walk, PAGES[context.profile], back=back)
    return _observe(trial, walk, listed, complete=complete and not unended)


def _observe(
    trial: Trial, walk: PlannedWalk, listed: Sequence[Item], *, complete: bool
) -> PageWalk:
    kept = tuple({field: item.get(field) for field in KEPT} for item in listed)
    return trial.observe(PageWalk, **asdict(walk), listed=kept, complete=complete)


async def _walk_with_inserts(
    context: ExperimentContext, whole: PlannedWalk, walk: PlannedWalk
) -> Evidence:
    """Go forward in small pages, while resources are added that sort before, among and after those
    that are there.
    """
    hook = HOOKS[walk.operation_id]
    trial = context.trial(
        f"{walk.operation_id}: resources added during a walk, {walk.sort or 'no sort'}"
    )
    if not context.provision.has(hook):
        return trial.not_observed(WalkWithInserts, NO_HOOK.format(hook))
    before = await _uids_on_walk(context, whole)
    still = await _uids_on_walk(context, walk)
    additions: list[str | None] = []

    async def add_resource() -> None:
        if len(additions) < INSERTS:
            letter = FIRST_LETTERS[len(additions)]
            additions.append(await _add_resource(context, trial, walk, letter))

    _, unended = await go_forward(
        trial, walk, PAGES[context.profile] + INSERTS, between=add_resource
    )
    return trial.observe(
        WalkWithInserts,
        **asdict(walk),
        listed=(),
        complete=not unended,
        before=tuple(before),
        still=tuple(still),
        made=tuple(additions),
    )


async def _uids_on_walk(context: ExperimentContext, walk: PlannedWalk) -> list[str]:
    """The identifiers that a walk of its own shows, in its order."""
    pages, _ = await go_forward(context.trial("before"), walk, PAGES[context.profile])
    return uids_on(pages)


async def _add_resource(
    context: ExperimentContext, trial: Trial, walk: PlannedWalk, letter: str
) -> str | None:
    """Create one that the walk leads to; its uid, if it is known."""
    name = f"{letter}{context.word(' added')}"
    if walk.operation_id == SOURCES:
        fields = {"name": name, "type": context.dialect.words.source_types[0]}
        return await context.provision.create_source(trial.project, fields)
    by_owner = context.dialect.paging.owner_filter
    owner = (walk.filter or {}).get(by_owner or "", context.word("owner"))
    return await context.provision.create_portal_link(
        trial.project, {"name": name, "owner_id": owner}
    )


async def _give_one_owner(
    context: ExperimentContext, trial: Trial
) -> tuple[list[Item], str | None]:
    """Give two portal links one owner, so that a filter has more than one page: a text that tells,
    if the target accepts it.

    Others lie between the two, which a page shows if its cursor leads on without the filter.
    Returns the portal links as they were, and the owner if it was accepted.
    """
    found = (await find_changeable_links(context, trial, pages=1)).links
    links = [*found[:1], *found[1:][-1:]]
    word, bodies = context.word("owner"), RequestBodies.of(context)
    for owner in (*texts_for_urls(word), word):
        answers = [await give_owner(trial, bodies, link, owner) for link in links]
        if not any(map(refused, answers)):
            return links, owner
    return links, None


async def _go_back_from_nowhere(
    context: ExperimentContext, whole: PlannedWalk, listed: Sequence[Item]
) -> Evidence:
    """Ask for the page before no page at all."""
    operation_id = whole.operation_id
    trial = context.trial(f"{operation_id}: direction prev without a cursor")
    query = {"direction": "prev", "perPage": "1", **whole.query}
    tried = await trial.call(operation_id, role="tried", query=query)
    known = [item.get("uid") for item in listed]
    if any(item.get("uid") not in known for item in content(tried)):
        reason = f"{operation_id} shows with direction=prev what a walk through the list did not"
        return trial.not_observed(BackFromNowhere, reason)
    return trial.observe(
        BackFromNowhere,
        operation_id=operation_id,
        query=query,
        first=str(listed[0].get("uid")),
        last=str(listed[-1].get("uid")),
    )


async def _try_parameters(context: ExperimentContext, operation_id: str) -> AsyncIterator[Evidence]:
    """Sections 4.4, 4.7 and 8: no perPage, one at and one above the maximum, and parameters that
    cannot be read.
    """
    paging = context.dialect.paging
    queries: list[tuple[str, type[ListRequest], dict[str, str], dict[str, str] | None]] = [
        ("default size", DefaultPageSize, {}, None)
    ]
    sizes = [size for size in paging.maximum_per_page.allowed if size is not None]
    if sizes:
        above, largest = ({"perPage": str(size)} for size in (max(sizes) + 1, min(sizes)))
        queries.append(("size above the maximum", PageSizeAboveMaximum, above, largest))
        queries.append(("largest size", LargestPageSize, largest, None))
    label = "unreadable parameter"
    for name, text in UNREADABLE.items():
        queries.append((label, UnreadableParameter, {name: text}, {}))
    if paging.cursor_form.decided and paging.cursor_form.value is CursorForm.OPAQUE:
        onward = {"direction": "next"}
        unknown = {**onward, "next_page_cursor": GARBAGE_CURSOR}
        queries.append((label, UnreadableParameter, unknown, onward))
    for about, kind, query, ordinary in queries:
        trial = context.trial(f"{operation_id}, {about}: {' '.join(query)}".removesuffix(": "))
        if ordinary is not None:
            await trial.call(operation_id, role=ORDINARY_BEFORE, query=ordinary)
        await trial.call(operation_id, role="tried", query=query)
        if ordinary is not None:
            await trial.call(operation_id, role=ORDINARY, query=ordinary)
        yield trial.observe(kind, operation_id=operation_id, query=query)


FIELDS: Final = ("owner_id", "name")

ANOTHER_CASE: Final = "another case"

# How many characters are left out at an end, or stay before a wildcard.
CUT: Final = 3
# The same for the words of sources, which are short.
CUT_OF_WORD: Final = 1

# As long as a text in a query can be: servers of HTTP refuse a path of more than some 8 KiB.
LONG: Final = 4_000

# What stands for any text, or for any character, in some languages of queries.
WILDCARDS: Final = ("%", "_", "*", "?", ".")


@experiment("near_filters", observes=(NearFilter, Preparation), busy=True, sharing=Sharing.QUIET)
async def near_filters(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Give one portal link values of its own, ask for what is near to them, and put it back."""
    async with context.portal_links:
        preparation = context.trial("portal link to be filtered")
        existing = await find_changeable_links(context, preparation, pages=1)
        if existing.links:
            async with aclosing(_filter(context, preparation, existing.links[0])) as observed:
                async for observation in observed:
                    yield observation
        else:
            yield preparation.not_observed(NearFilter, existing.reason)
    async for observation in _ask_for_sources(context):
        yield observation


async def _filter(
    context: ExperimentContext, preparation: Trial, link: Mapping[str, Any]
) -> AsyncGenerator[Evidence, None]:
    """First with ordinary values, then with long ones, which may be refused."""
    bodies = RequestBodies.of(context)
    kept, place = kept_fields(bodies, link), {"portalLinkID": link["uid"]}
    async with put_back_afterwards(context, preparation, link):
        for role, length in (("prepare", 0), ("tried", LONG)):
            new = {field: context.word(field.title()).ljust(length, "x") for field in FIELDS}
            body = bodies.portal_link(**{**kept, **new})
            updated = await preparation.call("updatePortalLink", role=role, path=place, body=body)
            for field in FIELDS if updated.succeeded or not length else ():
                async for observation in _ask_for_near_values(context, link["uid"], field, length):
                    yield observation
    yield preparation.observe(Preparation)


async def _ask_for_near_values(
    context: ExperimentContext, uid: str, field: str, length: int
) -> AsyncIterator[Evidence]:
    """What is near to a long value differs from it in its last character alone."""
    paging = context.dialect.paging
    parameter = paging.owner_filter if field == "owner_id" else paging.name_filter
    if parameter is None:
        return  # the dialect has no such filter
    long = "long " if length else ""
    trial = context.trial(f"portal link to be filtered by {long}{field}")
    link = shown(await trial.call("getPortalLink", role="retrieve", path={"portalLinkID": uid}))
    value = link.get(field)
    if not isinstance(value, str) or not value:
        reason = (
            f"the portal link {uid} shows no {field} that a filter could ask for; one would help"
        )
        yield trial.not_observed(NearFilter, reason)
        return
    await trial.call(LINKS, role="control", query={parameter: value})
    candidates = {"another end": f"{value[:-1]}y"} if length else _candidates(value, CUT)
    for near, wanted in _near_values(context, field, value, candidates):
        asked = context.trial(f"{near} of {long}{field}")
        asked.exchanges.extend(trial.exchanges)
        query = {parameter: wanted}
        await asked.call(LINKS, role="tried", query=query)
        yield asked.observe(NearFilter, operation_id=LINKS, query=query, field=field, near=near)


async def _ask_for_sources(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Ask for what is near to the provider and the type of the first source that has them.

    Whether case counts is open. A service may refuse what is no word of its own, or ignore it: an
    unrelated word shows that.
    """
    sources = context.trial("sources to be filtered")
    if lacking := context.why_unasked(SOURCES):
        yield sources.not_observed(NearFilter, lacking)
        return
    listed = await sources.call(SOURCES, role="retrieve")
    for field in ("provider", "type"):
        source = next((item for item in items(listed) if item.get(field)), None)
        value = source[field] if source else None
        if not isinstance(value, str) or len(value) <= CUT:
            continue
        control = await sources.call(SOURCES, role="control", query={field: value})
        unrelated = {field: context.word("unrelated")}
        unlisted = await sources.call(SOURCES, role="unrelated", query=unrelated)
        candidates = _candidates(value, CUT_OF_WORD)
        candidates.pop(ANOTHER_CASE, None)
        for near, wanted in candidates.items():
            asked = context.trial(f"{near} for the {field} of sources")
            asked.exchanges.extend((listed, control, unlisted))
            query = {field: wanted}
            await asked.call(SOURCES, role="tried", query=query)
            yield asked.observe(
                NearFilter, operation_id=SOURCES, query=query, field=field, near=near
            )


def _patterns(value: str) -> Mapping[str, str]:
    """Patterns that match a value in some language of queries, and are not equal to it."""
    patterns = {sign: f"{value[:CUT]}{sign}{value[CUT + 1 :]}" for sign in WILDCARDS}
    return {
        f"a pattern with {sign}": pattern for sign, pattern in patterns.items() if pattern != value
    }


def _candidates(value: str, cut: int) -> dict[str, str]:
    """The values near to this one, by what they are; none is empty or the value itself."""
    near = {
        "a part": value[cut:-cut],
        "a prefix": value[:-cut],
        ANOTHER_CASE: value.swapcase(),
        **_patterns(value),
    }
    return {name: wanted for name, wanted in near.items() if wanted not in ("", value)}


def _near_values(
    context: ExperimentContext, field: str, value: str, candidates: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Those of the candidates that this value does not match, whatever the dialect allows."""
    paging = context.dialect.paging
    match = paging.owner_match if field == "owner_id" else paging.name_match
    for near, wanted in candidates.items():
        if match.decided and not any(how.matches(wanted, value) for how in match.allowed):
            yield near, wanted
