"""The walks of the experiment `paging`: in each order, with each filter, in pages of every
size (4.4, 4.7).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.model.profile import Profile
from hookproof.spec.dialect.vocabulary import Match

Item = dict[str, Any]

# The most pages that one walk asks for.
PAGES: Final = {Profile.QUICK: 12, Profile.STANDARD: 40, Profile.DEEP: 400}

# Up to how many resources a list is walked in pages of every size; of longer ones, sizes at the
# edges are tried.
EVERY_SIZE: Final = {Profile.QUICK: 0, Profile.STANDARD: 40, Profile.DEEP: 200}

VALUES_PER_FILTER: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedWalk:
    """What is requested with every page of a walk."""

    operation_id: str
    sort: str | None = None
    per_page: int | None = None
    filter: Mapping[str, str] | None = None

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
    context: ExperimentContext, operation_id: str, listed: Sequence[Item]
) -> list[PlannedWalk]:
    """All walks through a list that holds these resources."""
    sizes = _sizes(context, len(listed))
    sorted_walks = [
        PlannedWalk(operation_id=operation_id, sort=sort, per_page=size)
        for sort in (None, "ASC", "DESC")
        for size in sizes
    ]
    filtered = [
        PlannedWalk(operation_id=operation_id, sort=sort, per_page=size, filter=terms)
        for terms, matches in _filters(context, operation_id, listed)
        for sort, size in ((None, None), ("ASC", least_size(context, matches)))
    ]
    return sorted_walks + filtered


def _sizes(context: ExperimentContext, total: int) -> list[int]:
    """Page sizes from 1 to past the total, within the dialect's maximum and the most pages of a
    walk.
    """
    least = least_size(context, total)
    maximum = context.dialect.paging.maximum_per_page
    most = maximum.value if maximum.decided else total + 1
    sizes: Iterable[int] = {1, 2, 3, total // 2, total - 1, total, total + 1}
    if total <= EVERY_SIZE[context.profile]:
        sizes = range(1, total + 2)
    return sorted(size for size in sizes if least <= size <= most) or [most]


def least_size(context: ExperimentContext, total: int) -> int:
    """The smallest page size with which a walk over so many items stays within its pages."""
    return max(1, -(-total // (PAGES[context.profile] - 1)))


def _filters(
    context: ExperimentContext, operation_id: str, listed: Sequence[Item]
) -> list[tuple[dict[str, str], int]]:
    """Filters to walk with, each with the number of items that it should match."""
    if operation_id == "listSources":
        words = context.dialect.words
        terms = [("provider", value) for value in words.source_providers]
        terms += [("type", value) for value in words.source_types]
        return [
            ({name: value}, sum(item.get(name) == value for item in listed))
            for name, value in terms
        ]
    paging = context.dialect.paging
    filters: list[tuple[dict[str, str], int]] = []
    for parameter, field, answer in (
        (paging.owner_filter, "owner_id", paging.owner_match),
        (paging.name_filter, "name", paging.name_match),
    ):
        texts = [item[field] for item in listed if isinstance(item.get(field), str) and item[field]]
        match = answer.value if answer.decided else Match.EXACT
        values = [
            _filter_value(text, match)
            for text in _most_distinguishing_first(texts)[:VALUES_PER_FILTER]
        ]
        filters += [
            ({parameter: value}, sum(match.matches(value, text) for text in texts))
            for value in values
        ]
        filters.append(({parameter: context.word("nobody")}, 0))
    return filters


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
