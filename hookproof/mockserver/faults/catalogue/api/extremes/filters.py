"""Filters that find more than what is equal, and pages that are empty too early (2.2, 4.4, 4.7)."""

from typing import Final

import msgspec

from hookproof.mockserver.api.handlers.sources import SourceHandlers
from hookproof.mockserver.api.paging import ListPage, Pager, Query
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.faults.registry import fault, variant
from hookproof.mockserver.faults.support.altered_pages import AlteredPages, with_pagination
from hookproof.mockserver.store.keyset_paging import Listing
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Match

SHOWN: Final = ("near_filters",)


def owners_are_compared_whole(dialect: Dialect) -> bool:
    return dialect.paging.owner_match.value is Match.EXACT


def names_are_compared_whole(dialect: Dialect) -> bool:
    return dialect.paging.name_match.value is Match.EXACT


class LooserListing(Listing):
    """Compares one column by another SQL term."""

    column = "owner_id"
    term = "{column} = :{column} COLLATE NOCASE"

    def _where(self, filtered: tuple[str, ...], started: bool, upwards: bool) -> str:
        exact = f"{self.column} = :{self.column}"
        return (
            super()
            ._where(filtered, started, upwards)
            .replace(exact, self.term.format(column=self.column))
        )


@fault(
    "filter_leaves_only@listPortalLinks.owner_id filter_on_every_page@listPortalLinks",
    seen="a database that compares texts without case",
    shows_in=[*SHOWN, "paging"],
    where=owners_are_compared_whole,
)
class OwnersMatchedInAnyCase(LooserListing):
    """The filter by owner ID also finds owners that differ in case."""


@fault("filter_leaves_only@listPortalLinks.name", shows_in=SHOWN, where=names_are_compared_whole)
class NamesMatchedByPrefix(LooserListing):
    """The filter by name also finds names that begin with what was asked for, if that is long."""

    column = "name"
    term = (
        "({column} = :{column} OR (length(:{column}) > 12"
        " AND substr({column}, 1, length(:{column})) = :{column}))"
    )


@fault(
    "filter_leaves_only@listPortalLinks.owner_id",
    seen="an index over the beginning of a long column",
    shows_in=SHOWN,
    where=owners_are_compared_whole,
)
class LongOwnersComparedInPart(LooserListing):
    """The filter by owner ID compares the first 2,048 characters alone."""

    term = "substr({column}, 1, 2048) = substr(:{column}, 1, 2048)"


@variant()
class ProvidersMatchedInAnyCase(LooserListing):
    """The filter by provider also finds providers that differ in case."""

    column = "provider"


@fault("filter_leaves_only@listSources.type", shows_in=SHOWN)
class TypesMatchedByPrefix(LooserListing):
    """The filter by type also finds types that begin with what was asked for."""

    column = "type"
    term = "substr({column}, 1, length(:{column})) = :{column}"


@variant()
class UnlistedWordsIgnored(SourceHandlers):
    """The filters of sources ignore what is no word that the dialect lists."""

    def list(self, call: OperationCall) -> OperationResult:
        words = self._service.dialect.words
        listed = {"type": words.source_types, "provider": words.source_providers}
        query = {
            name: values
            for name, values in call.query.items()
            if name not in listed or set(values) <= set(listed[name])
        }
        return super().list(msgspec.structs.replace(call, query=query))


@fault(
    "empty_page promised_page",
    seen="a flag that is only cleared by a short page",
    shows_in=["paging"],
)
class EmptyListHasMore(AlteredPages):
    """A filtered list that is empty reports a next page."""

    def alter_page(self, page: ListPage, query: Query) -> ListPage:
        if page.rows or not query.filters or query.start is not None:
            return page
        return with_pagination(page, has_next_page=True)


@fault("empty_page", seen="a cursor that is made before the filter is applied", shows_in=["paging"])
class EmptyListHasACursor(Pager):
    """A list by a filter that matches nothing has a cursor of a next page, and denies that page."""

    def page(self, project: str, query: Query) -> ListPage:
        page = super().page(project, query)
        if page.rows or not query.filters or query.start is not None:
            return page
        whole = super().page(project, msgspec.structs.replace(query, filters={}))
        cursors = [self._encode_cursor(row, query) for row in whole.rows[-1:]]
        return with_pagination(page, next_page_cursor=next(iter(cursors), None))
