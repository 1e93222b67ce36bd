"""The walks that the experiment `paging` takes: in each order, with each filter, in pages of every
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
    """What to ask for on every page of a walk."""

    operation_id: str
    sort: str | None = None
    per_page: int | None = None
    filter: Mapping[str, str] | None = None

    @property
    def query(self) -> dict[str, str]:
        """The query parameters of every page."""
        sizes = {} if self.per_page is None else {"perPage": str(self.per_page)}
        return {
            **sizes,
            **({} if self.sort is None else {"sort": self.sort}),
            **(self.filter or {}),
        }


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
    """Page sizes from 1 to past the total, within the dialect's maximum and the pages that a walk
    may take.
    """
    least = least_size(context, total)
    maximum = context.dialect.paging.maximum_per_page
    most = maximum.value if maximum.decided else total + 1
    wanted: Iterable[int] = {1, 2, 3, total // 2, total - 1, total, total + 1}
    if total <= EVERY_SIZE[context.profile]:
        wanted = range(1, total + 2)
    return sorted(size for size in wanted if least <= size <= most) or [most]


def least_size(context: ExperimentContext, total: int) -> int:
    """The smallest page size with which a walk over so many items stays within its pages."""
    return max(1, -(-total // (PAGES[context.profile] - 1)))


def _filters(
    context: ExperimentContext, operation_id: str, listed: Sequence[Item]
) -> list[tuple[dict[str, str], int]]:
    """Filters to walk with, each with the number of items that it should find."""
    paging = context.dialect.paging
    if operation_id == "listSources":
        words = context.dialect.words
        wanted = [("provider", value) for value in words.source_providers]
        wanted += [("type", value) for value in words.source_types]
        return [
            ({name: value}, sum(item.get(name) == value for item in listed))
            for name, value in wanted
        ]
    filters: list[tuple[dict[str, str], int]] = []
    for parameter, field, match in (
        (paging.owner_filter, "owner_id", paging.owner_match),
        (paging.name_filter, "name", paging.name_match),
    ):
        texts = [item[field] for item in listed if isinstance(item.get(field), str) and item[field]]
        how = match.value if match.decided else Match.EXACT
        searched = [_wanted(text, how) for text in _telling(texts)[:VALUES_PER_FILTER]]
        filters += [
            ({parameter: wanted_text}, sum(how.matches(wanted_text, text) for text in texts))
            for wanted_text in searched
        ]
        filters.append(({parameter: context.word("nobody")}, 0))
    return filters


def _telling(texts: Sequence[str]) -> list[str]:
    """Each text once, the first and then those that are a part of another: they tell ways of
    comparing apart.
    """
    first, *others = dict.fromkeys(texts) or [""]
    return [
        first,
        *sorted(
            others, key=lambda text: not any(text in other and text != other for other in texts)
        ),
    ]


def _wanted(text: str, how: Match) -> str:
    """A filter value that finds this text when it is compared like this, and as little else as
    possible.
    """
    if how is Match.EXACT:
        return text
    if how is Match.PREFIX:
        return text[: max(1, len(text) // 2)]
    part = text[len(text) // 4 : len(text) // 4 + max(1, len(text) // 2)]
    return part.swapcase() if how is Match.SUBSTRING_ANY_CASE else part
