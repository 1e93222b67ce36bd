"""Paging: walks through both lists, in each order and with each filter, in pages of several sizes (2.2, 4.4, 4.7).

Every case but those about single parameters is one walk. Its exchanges "page" go forward; each "back" is the step back
from the page before it. Facts: `about` is "walk"; `operation_id`; `sort`, `per_page` and `filter` as sent, null where
absent; `listed`, the whole list in descending order as a walk of its own showed it; `complete`, whether the walk ended
within its bounds.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Final

from conformance.evidence import Case, Exchange
from conformance.experiments.bench import Bench, Trial, experiment
from conformance.experiments.inventory import NO_PORTAL_LINKS, NO_SOURCES, content, pagination, put_back
from conformance.experiments.inventory import listed as listed_on_pages
from conformance.experiments.request_bodies import RequestBodies
from conformance.target import Profile
from spec.vocabulary import CursorForm, Match

Item = dict[str, Any]

LISTS: Final = {"listPortalLinks": NO_PORTAL_LINKS, "listSources": NO_SOURCES}
"""What is missing when a list is too short to have pages."""

PAGES: Final = {Profile.QUICK: 12, Profile.STANDARD: 40, Profile.DEEP: 400}
"""The most pages that one walk asks for."""

KEPT: Final = ("uid", "name", "owner_id", "provider", "type", "created_at")
VALUES_PER_FILTER = 3
UNREADABLE: Final = {"perPage": "many", "sort": "SIDEWAYS", "direction": "across"}
GARBAGE_CURSOR = "no-such-cursor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """What to ask for on every page of a walk."""

    operation_id: str
    sort: str | None = None
    per_page: int | None = None
    filter: Mapping[str, str] | None = None

    @property
    def query(self) -> dict[str, str]:
        """The query parameters of every page."""
        sizes = {} if self.per_page is None else {"perPage": str(self.per_page)}
        return {**sizes, **({} if self.sort is None else {"sort": self.sort}), **(self.filter or {})}


@experiment("paging")
async def paging(bench: Bench) -> AsyncIterator[Case]:
    """One case per walk and per single parameter, for portal links and for sources."""
    for operation_id, missing in LISTS.items():
        async for case in _parameters(bench, operation_id):
            yield case
        async with bench.portal_links if operation_id == "listPortalLinks" else nullcontext():
            arranged = bench.trial(f"{operation_id}: as it is walked through")
            moved = await _one_owner(bench, arranged) if operation_id == "listPortalLinks" else []
            async for case in _walks(bench, operation_id, missing):
                yield case
            for link in moved:
                await put_back(bench, arranged, link)
            yield arranged.case(facts={"about": "preparation"})


async def _walks(bench: Bench, operation_id: str, missing: str) -> AsyncIterator[Case]:
    trial = bench.trial(f"{operation_id}: the whole list")
    pages, complete = await _forward(trial, Walk(operation_id=operation_id), PAGES[bench.profile])
    listed = [item for page in pages for item in content(page)]
    if len(listed) < 2 or not complete:  # noqa: PLR2004
        yield trial.obstacle(missing if complete else "the list is too long to be walked, or has no end")
        return
    yield trial.case(facts=_facts(Walk(operation_id=operation_id), listed, complete=complete))
    for walk in _plans(bench, operation_id, listed):
        yield await _walked(bench, walk, listed)
    yield await _unchanged(bench, operation_id, listed)


async def _one_owner(bench: Bench, trial: Trial) -> list[Item]:
    """Give two portal links one owner, so that a filter has more than one page; the portal links as they were."""
    links = list(await listed_on_pages(trial, "listPortalLinks", pages=1))[:2]
    owner, bodies = bench.word("owner"), RequestBodies.of(bench)
    for link in links:
        kept = {name: link[name] for name in bodies.required("updatePortalLink") if link.get(name)}
        body = bodies.portal_link(**{**kept, "owner_id": owner})
        await trial.call("updatePortalLink", role="prepare", path={"portalLinkID": link["uid"]}, body=body)
    return links


def _plans(bench: Bench, operation_id: str, listed: Sequence[Item]) -> list[Walk]:
    sizes = _sizes(bench, len(listed))
    sorted_walks = [
        Walk(operation_id=operation_id, sort=sort, per_page=size) for sort in (None, "ASC", "DESC") for size in sizes
    ]
    filtered = [
        Walk(operation_id=operation_id, sort=sort, per_page=size, filter=one)
        for one, found in _filters(bench, operation_id, listed)
        for sort, size in ((None, None), ("ASC", _least(bench, found)))
    ]
    return sorted_walks + filtered


def _sizes(bench: Bench, total: int) -> list[int]:
    """Page sizes from 1 to past the total, within the dialect's maximum and the pages that a walk may take."""
    least = _least(bench, total)
    maximum = bench.dialect.paging.maximum_per_page
    most = maximum.value if maximum.decided else total + 1
    wanted = {1, 2, 3, total // 2, total - 1, total, total + 1}
    return sorted(size for size in wanted if least <= size <= most) or [most]


def _least(bench: Bench, total: int) -> int:
    """The smallest page size with which a walk over so many items takes no more pages than it may."""
    return max(1, -(-total // (PAGES[bench.profile] - 1)))


def _filters(bench: Bench, operation_id: str, listed: Sequence[Item]) -> list[tuple[dict[str, str], int]]:
    """Filters to walk with, each with the number of items that it should find."""
    paging = bench.dialect.paging
    if operation_id == "listSources":
        words = bench.dialect.words
        wanted = [("provider", value) for value in words.source_providers]
        wanted += [("type", value) for value in words.source_types]
        return [({name: value}, sum(item.get(name) == value for item in listed)) for name, value in wanted]
    filters: list[tuple[dict[str, str], int]] = []
    for parameter, field, match in (
        (paging.owner_filter, "owner_id", paging.owner_match),
        (paging.name_filter, "name", paging.name_match),
    ):
        texts = [item[field] for item in listed if isinstance(item.get(field), str) and item[field]]
        how = match.value if match.decided else Match.EXACT
        searched = [_wanted(text, how) for text in _telling(texts)[:VALUES_PER_FILTER]]
        filters += [({parameter: one}, sum(how.matches(one, text) for text in texts)) for one in searched]
        filters.append(({parameter: bench.word("nobody")}, 0))
    return filters


def _telling(texts: Sequence[str]) -> list[str]:
    """Each text once, the first and then those that are a part of another: they tell ways of comparing apart."""
    first, *others = dict.fromkeys(texts) or [""]
    return [first, *sorted(others, key=lambda text: not any(text in other and text != other for other in texts))]


def _wanted(text: str, how: Match) -> str:
    """A filter value that finds this text when it is compared like this, and as little else as possible."""
    if how is Match.EXACT:
        return text
    if how is Match.PREFIX:
        return text[: max(1, len(text) // 2)]
    part = text[len(text) // 4 : len(text) // 4 + max(1, len(text) // 2)]
    return part.swapcase() if how is Match.SUBSTRING_ANY_CASE else part


async def _walked(bench: Bench, walk: Walk, listed: Sequence[Item]) -> Case:
    described = ", ".join(f"{name}={value}" for name, value in walk.query.items())
    trial = bench.trial(f"{walk.operation_id}: {described}")
    _, complete = await _forward(trial, walk, PAGES[bench.profile], back=True)
    return trial.case(facts=_facts(walk, listed, complete=complete))


def _facts(walk: Walk, listed: Sequence[Item], *, complete: bool) -> dict[str, Any]:
    return {
        "about": "walk",
        "operation_id": walk.operation_id,
        "sort": walk.sort,
        "per_page": walk.per_page,
        "filter": None if walk.filter is None else dict(walk.filter),
        "listed": [{field: item.get(field) for field in KEPT} for item in listed],
        "complete": complete,
    }


async def _forward(trial: Trial, walk: Walk, most: int, *, back: bool = False) -> tuple[list[Exchange], bool]:
    """Go forward until no page follows; step back from each page to the one before if wanted."""
    pages: list[Exchange] = []
    step: dict[str, str] = {}
    for _ in range(most):
        page = await trial.call(walk.operation_id, role="page", query={**walk.query, **step})
        pages.append(page)
        previous = pagination(page).get("prev_page_cursor")
        if back and len(pages) > 1 and isinstance(previous, str) and previous:
            query = {**walk.query, "direction": "prev", "prev_page_cursor": previous}
            await trial.call(walk.operation_id, role="back", query=query)
        cursor, ended = pagination(page).get("next_page_cursor"), pagination(page).get("has_next_page") is not True
        if ended or not isinstance(cursor, str):
            return pages, page.succeeded and ended
        step = {"direction": "next", "next_page_cursor": cursor}
    return pages, False


async def _unchanged(bench: Bench, operation_id: str, listed: Sequence[Item]) -> Case:
    trial = bench.trial(f"{operation_id}: the whole list again")
    pages, complete = await _forward(trial, Walk(operation_id=operation_id), PAGES[bench.profile])
    again = [item for page in pages for item in content(page)]
    return trial.case(facts=_facts(Walk(operation_id=operation_id), listed, complete=complete) | {"again": len(again)})


async def _parameters(bench: Bench, operation_id: str) -> AsyncIterator[Case]:
    """Sections 4.4, 4.7 and 8: no perPage, one above the maximum, and parameters that cannot be read."""
    paging = bench.dialect.paging
    tries: list[tuple[str, dict[str, str]]] = [("default size", {})]
    if paging.maximum_per_page.decided:
        tries.append(("size above the maximum", {"perPage": str(max(paging.maximum_per_page.allowed) + 1)}))
        tries.append(("largest size", {"perPage": str(min(paging.maximum_per_page.allowed))}))
    tries += [("unreadable parameter", {name: text}) for name, text in UNREADABLE.items()]
    if paging.cursor_form.decided and paging.cursor_form.value is CursorForm.OPAQUE:
        garbage = {"direction": "next", "next_page_cursor": GARBAGE_CURSOR}
        tries.append(("unreadable parameter", garbage))
    for about, query in tries:
        trial = bench.trial(f"{operation_id}, {about}: {' '.join(query)}".removesuffix(": "))
        await trial.call(operation_id, role="tried", query=query)
        yield trial.case(facts={"about": about, "operation_id": operation_id, "query": query})
