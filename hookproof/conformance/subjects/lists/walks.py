"""The walks of the experiment `paging`: in each order, with each filter, in pages of every
size (4.4, 4.7), and how they are walked.

What a number as cursor does not lead to has a role of its own: nobody knows how a number is to be
sent, so that it shows no violation.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext, Trial
from hookproof.conformance.experiments.support.existing_resources import (
    BY_NUMBER,
    NEXT,
    PREVIOUS,
    content,
    outcome,
)
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.answer import (
    cursor,
    has_numeric_cursor,
    has_value,
    pagination,
    shown,
)
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Match

Item = dict[str, Any]

# The most pages that one walk asks for.
PAGES: Final = {Profile.QUICK: 12, Profile.STANDARD: 40, Profile.DEEP: 400}

# Up to how many resources a list is walked in pages of every size; of longer ones, sizes at the
# edges are tried.
EVERY_SIZE: Final = {Profile.QUICK: 0, Profile.STANDARD: 40, Profile.DEEP: 200}

VALUES_PER_FILTER: Final = 3
# Of how many resources two are looked for that two filters tell apart.
MOST_PAIRED: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedWalk:
    """What is requested with every page of a walk."""

    operation_id: str
    sort: str | None = None
    per_page: int | None = None
    filter: Mapping[str, str] | None = None
    within: bool = False  # whether all that is walked through has this filter

    @property
    def query(self) -> dict[str, str]:
        """The query parameters of every page."""
        query: dict[str, str] = {}
        if self.per_page is not None:
            query["perPage"] = str(self.per_page)
        if self.sort is not None:
            query["sort"] = self.sort
        return query | dict(self.filter or {})


def planned_walks(
    context: ExperimentContext, whole: PlannedWalk, listed: Sequence[Item]
) -> list[PlannedWalk]:
    """All walks through a list of which the walk `whole` shows these resources; with no further
    filter if it has one.
    """
    operation_id, sizes = whole.operation_id, _sizes(context, len(listed))
    sorted_walks = [
        replace(whole, sort=sort, per_page=size) for sort in (None, "ASC", "DESC") for size in sizes
    ]
    if whole.filter:
        return sorted_walks
    filtered = [
        PlannedWalk(operation_id=operation_id, sort=sort, per_page=size, filter=terms)
        for terms, matches in filters_of_list(
            context.dialect, operation_id, listed, unknown=context.word("nobody")
        )
        for sort, size in ((None, None), ("ASC", least_size(context, matches)))
    ]
    both = [
        PlannedWalk(operation_id=operation_id, filter=terms)
        for terms in _two_filters(context, operation_id, listed)
    ]
    return [*sorted_walks, *filtered, *both]


def _sizes(context: ExperimentContext, total: int) -> list[int]:
    """Page sizes from 1 to past the total, within the dialect's maximum and the most pages of a
    walk.
    """
    least = least_size(context, total)
    maximum = context.dialect.paging.maximum_per_page
    largest = maximum.value if maximum.decided else None
    most = total + 1 if largest is None else largest
    sizes: Iterable[int] = {1, 2, 3, total // 2, total - 1, total, total + 1}
    if total <= EVERY_SIZE[context.profile]:
        sizes = range(1, total + 2)
    return sorted(size for size in sizes if least <= size <= most) or [most]


def least_size(context: ExperimentContext, total: int) -> int:
    """The smallest page size with which a walk over so many items stays within its pages."""
    return max(1, -(-total // (PAGES[context.profile] - 1)))


def filters_of_list(
    dialect: Dialect, operation_id: str, listed: Sequence[Mapping[str, Any]], *, unknown: str
) -> list[tuple[dict[str, str], int]]:
    """Filters to walk with, each with the number of items that it should match; `unknown` is a text
    that none of them has.
    """
    if operation_id == "listSources":
        words = dialect.words
        terms = [("provider", value) for value in words.source_providers]
        terms += [("type", value) for value in words.source_types]
        return [
            ({name: value}, sum(item.get(name) == value for item in listed))
            for name, value in terms
        ]
    filters: list[tuple[dict[str, str], int]] = []
    for parameter, field, match in _filtered_fields(dialect, operation_id):
        texts = [item[field] for item in listed if isinstance(item.get(field), str) and item[field]]
        values = [
            _filter_value(text, match)
            for text in _most_distinguishing_first(texts)[:VALUES_PER_FILTER]
        ]
        filters += [
            ({parameter: value}, sum(match.matches(value, text) for text in texts))
            for value in values
        ]
        filters.append(({parameter: unknown}, 0))
    return filters


def _two_filters(
    context: ExperimentContext, operation_id: str, listed: Sequence[Item]
) -> Iterator[dict[str, str]]:
    """Two filters at once, each of which lets through a resource that the other one does not."""
    fields = _filtered_fields(context.dialect, operation_id)
    if len(fields) < 2:  # noqa: PLR2004 the list has one filter, or none
        return
    # Of a long list not all pairs are looked at: they are its square.
    different: dict[str, Item] = {}
    for item in listed:
        different.setdefault(repr([item.get(field) for _, field, _ in fields]), item)
    for pair in permutations([*different.values()][:MOST_PAIRED], 2):
        values = [
            _filter_value(item[field], match)
            for item, (_, field, match) in zip(pair, fields, strict=True)
            if isinstance(item.get(field), str) and item[field]
        ]
        if len(values) == len(fields) and not any(
            match.matches(value, str(other.get(field) or ""))
            for value, other, (_, field, match) in zip(values, pair[::-1], fields, strict=True)
        ):
            parameters = (parameter for parameter, _, _ in fields)
            yield dict(zip(parameters, values, strict=True))
            return


def _filtered_fields(dialect: Dialect, operation_id: str) -> tuple[tuple[str, str, Match], ...]:
    """The parameters of the filters of a list, with the fields that they compare, and how."""
    if operation_id == "listSources":
        return (("provider", "provider", Match.EXACT), ("type", "type", Match.EXACT))
    return tuple(
        (parameter, field, answer.value if answer.decided else Match.EXACT)
        for parameter, (field, answer) in dialect.paging.portal_link_filters.items()
    )


def _most_distinguishing_first(texts: Sequence[str]) -> list[str]:
    """Each text once: the first, then those that are part of another one, since they distinguish
    ways of comparing, then the rest.
    """
    first, *others = dict.fromkeys(texts) or [""]
    return [
        first,
        *sorted(
            others, key=lambda text: not any(text in other and text != other for other in texts)
        ),
    ]


def _filter_value(text: str, match: Match) -> str:
    """A filter value that matches this text, and as few others as possible."""
    if match is Match.EXACT:
        return text
    if match is Match.PREFIX:
        return text[: max(1, len(text) // 2)]
    part = text[len(text) // 4 : len(text) // 4 + max(1, len(text) // 2)]
    return part.swapcase() if match is Match.SUBSTRING_ANY_CASE else part


async def go_forward(
    trial: Trial,
    walk: PlannedWalk,
    most: int,
    *,
    back: bool = False,
    between: Callable[[], Awaitable[None]] | None = None,
) -> tuple[list[Exchange], str]:
    """Go forward until no page follows.

    Returns the pages, and why the last one was not reached; that is empty if it was.

    If `back`, there is a step back from each page to the one before; `between` is called after each
    page that another one follows.
    """
    pages: list[Exchange] = []
    step: dict[str, str] = {}
    for _ in range(most):
        page = await trial.call(walk.operation_id, role="page", query={**walk.query, **step})
        if pages and has_numeric_cursor(pages[-1], NEXT) and not _leads_on(pages, page):
            trial.rename(page, BY_NUMBER)
            return pages, (
                f"page {len(pages)} of {walk.operation_id} shows a number as {NEXT}, and the"
                f" request with it was answered {outcome(page)} and showed nothing new"
            )
        pages.append(page)
        if back and len(pages) > 1:
            await _step_back(trial, walk, *pages[-2:])
        ended = why_ended(page, _described(len(pages), walk, step))
        if ended is not None:
            return pages, ended
        step = {"direction": "next", NEXT: cursor(page, NEXT) or ""}
        if between is not None:
            await between()
    return pages, (
        f"page {most} of {walk.operation_id} still reports a next one; name a project with fewer"
        " resources, or try the deep profile"
    )


async def _step_back(trial: Trial, walk: PlannedWalk, before: Exchange, page: Exchange) -> None:
    previous = cursor(page, PREVIOUS)
    if previous:
        query = {**walk.query, "direction": "prev", PREVIOUS: previous}
        back = await trial.call(walk.operation_id, role="back", query=query)
        if has_numeric_cursor(page, PREVIOUS) and uids_on([back]) != uids_on([before]):
            trial.rename(back, BY_NUMBER)


def _described(number: int, walk: PlannedWalk, step: Mapping[str, str]) -> str:
    """A page by its number and what was asked of it, cursors by their names."""
    query = [
        name if name == NEXT else f"{name}={value}"
        for name, value in {**walk.query, **step}.items()
    ]
    how = f" with {' and '.join(query)}" if query else ""
    return f"page {number} of {walk.operation_id}{how}"


def _leads_on(pages: Sequence[Exchange], following: Exchange) -> bool:
    """Whether a page shows resources, and none of those that the pages before it show."""
    shown_there = uids_on([following])
    return bool(shown_there) and not set(shown_there) & set(uids_on(pages))


def uids_on(pages: Sequence[Exchange]) -> list[str]:
    return [item["uid"] for page in pages for item in content(page)]


def why_ended(page: Exchange, name: str) -> str | None:
    """Why no page is requested after this one: nothing if it is the last; None if one follows."""
    if not page.succeeded:
        return f"{name} was answered {outcome(page)}; a success of it would help"
    members = shown(page)
    if isinstance(members.get("content"), list) and not isinstance(members.get("pagination"), dict):
        return (
            f"{name} has no object data.pagination that says whether another one follows; one would"
            " help"
        )
    if pagination(page).get("has_next_page") is not True or is_evidently_last(page):
        return ""
    if cursor(page, NEXT) is None:
        return f"{name} reports a next page and shows no {NEXT} that could be sent; one would help"
    return None


def is_evidently_last(page: Exchange) -> bool:
    """Whether no page can follow, although one is claimed: no cursor leads there, and this one is
    not full.
    """
    size = pagination(page).get("per_page")
    is_short = isinstance(size, int) and len(content(page)) < size
    return is_short and not has_value(pagination(page).get("next_page_cursor"))
