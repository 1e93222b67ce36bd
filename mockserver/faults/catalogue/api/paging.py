"""Lists: pages, cursors and orders (sections 2.2, 4.4, 4.7 and 8)."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.errors import ErrorResponses
from hookproof.mockserver.api.paging import ListPage, Pager, Query
from hookproof.mockserver.api.service import OperationCall
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_responses import (
    LIST_SOURCES,
    LISTS,
    Object,
    SpoiltAnswers,
)
from hookproof.mockserver.faults.support.misread_dialect import otherwise
from hookproof.mockserver.store.keyset_paging import Listing, Span
from hookproof.spec.dialect.model import Dialect, Paging
from hookproof.spec.dialect.vocabulary import AboveMaximum, BadParameter, CursorForm, SortKey

SHOWN: Final = ("paging",)


def opaque(dialect: Dialect) -> bool:
    """Whether cursors carry what a list began with."""
    return dialect.paging.cursor_form.value is CursorForm.OPAQUE


class Misruled(Pager):
    """Pages by other rules than the dialect's."""

    def __init__(
        self, listing: Listing, rules: Paging, errors: ErrorResponses, **further: Any
    ) -> None:
        super().__init__(listing, self.misread(rules), errors, **further)

    def misread(self, rules: Paging) -> Paging:
        """The rules as they are understood."""
        return rules


class Repaged(Pager):
    """Shows another page than was asked for, or says something else of it."""

    def page(self, project: str, query: Query) -> ListPage:
        """The page, changed."""
        return self.changed(super().page(project, query), query)

    def changed(self, page: ListPage, query: Query) -> ListPage:
        """Another page."""
        return page


def told(page: ListPage, **members: Any) -> ListPage:
    """A page with other members of its pagination object."""
    return msgspec.structs.replace(page, pagination={**page.pagination, **members})


def reversed_page(page: ListPage) -> ListPage:
    """A page back to front."""
    return msgspec.structs.replace(page, rows=page.rows[::-1])


@fault("2.2-1", seen="[null], or null, for an empty list", shows_in=SHOWN)
class NullForEmpty(SpoiltAnswers):
    """The content of a list that holds nothing is null."""

    operations = LISTS

    def spoilt_data(self, call: OperationCall, data: Object) -> Object:
        """Null."""
        return {**data, "content": data["content"] or None}


@fault("2.2-2", "2.2-3", "2.2-4", "2.2-5", "4.4-3", "4.7-3", shows_in=["isolation"])
class PaginationBesides(SpoiltAnswers):
    """The pagination of a list stands beside the data, not in it."""

    operations = LISTS

    def spoilt(self, call: OperationCall, envelope: Object) -> Object:
        """One level up."""
        data = dict(envelope["data"])
        return {**envelope, "pagination": data.pop("pagination"), "data": data}


@fault(
    "2.2-3",
    "2.2-4",
    also=["2.2-10", "2.2-11", "2.2-15", "4.7-10", "4.7-12"],
    seen="booleans as numbers, out of a database",
    shows_in=["isolation"],
)
class FlagsAsNumbers(SpoiltAnswers):
    """has_next_page and has_prev_page are 0 or 1."""

    operations = (LIST_SOURCES,)

    def spoilt_data(self, call: OperationCall, data: Object) -> Object:
        """Numbers."""
        pagination = data["pagination"]
        flags = {name: int(pagination[name]) for name in ("has_next_page", "has_prev_page")}
        return {**data, "pagination": {**pagination, **flags}}


@fault("2.2-5", "4.4-6", "4.7-6", "8-12", "8-13", shows_in=SHOWN)
class PerPageAsText(Repaged):
    """per_page is a text, as it was in the query."""

    def changed(self, page: ListPage, query: Query) -> ListPage:
        """A text."""
        return told(page, per_page=str(query.per_page))


@fault("2.2-6", shows_in=SHOWN)
class CursorsAsNumbers(Repaged):
    """Cursors are numbers."""

    def changed(self, page: ListPage, query: Query) -> ListPage:
        """The places of the rows."""
        names = ("next_page_cursor", "prev_page_cursor")
        return told(
            page, **{name: page.rows[-1][0] for name in names if page.pagination[name] is not None}
        )


@fault(
    "2.2-8",
    "2.2-13",
    "2.2-14",
    "2.2-15",
    "4.4-4",
    "4.4-5",
    "4.4-6",
    "4.7-4",
    "4.7-5",
    "4.7-6",
    seen="the row that is read to look further, shown",
    shows_in=SHOWN,
)
class OneRowTooMany(Pager):
    """A page holds the row after its last one too."""

    def page(self, project: str, query: Query) -> ListPage:
        """One row more, and cursors as if it were not there."""
        page = super().page(project, query)
        more = super().page(project, msgspec.structs.replace(query, per_page=query.per_page + 1))
        return page if query.backwards else msgspec.structs.replace(page, rows=more.rows)


@fault("2.2-9", "4.4-4", "4.7-4", seen="has_next without looking one further", shows_in=SHOWN)
class FullPageClaimsNext(Repaged):
    """A page that is full claims a next one, the last one too."""

    def changed(self, page: ListPage, query: Query) -> ListPage:
        """Full means more."""
        if len(page.rows) < query.per_page or page.pagination["has_next_page"] or query.backwards:
            return page
        return told(
            page, has_next_page=True, next_page_cursor=self._encode_cursor(page.rows[-1], query)
        )


@fault(
    "2.2-10",
    "2.2-15",
    "4.4-10",
    "4.4-12",
    "4.7-12",
    seen="pages counted from one, and from zero",
    shows_in=SHOWN,
)
class SecondPageIsLast(Repaged):
    """The second page claims no next one."""

    def changed(self, page: ListPage, query: Query) -> ListPage:
        """Nothing after it."""
        if query.start is None or query.backwards:
            return page
        return told(page, has_next_page=False, next_page_cursor=None)


@fault("2.2-11", "2.2-12", shows_in=SHOWN)
class PreviousReversed(Repaged):
    """The first page claims a previous one, and the others claim none."""

    def changed(self, page: ListPage, query: Query) -> ListPage:
        """The opposite."""
        return told(page, has_prev_page=not page.pagination["has_prev_page"])


@fault(
    "2.2-13", "4.4-5", "4.7-5", seen="prev broken: the page before, back to front", shows_in=SHOWN
)
class BackwardsPageReversed(Repaged):
    """A page that is reached backwards is in the opposite order."""

    def changed(self, page: ListPage, query: Query) -> ListPage:
        """Back to front."""
        return reversed_page(page) if query.backwards and query.start else page


@fault("2.2-10", "2.2-13", "4.4-5", "4.7-5", shows_in=SHOWN)
class PrevLeadsForward(Pager):
    """Direction prev leads to the page that follows."""

    def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
        """Forwards, always."""
        return msgspec.structs.replace(super().query(project, parameters), backwards=False)


@fault(
    "2.2-12",
    "2.2-14",
    "2.2-15",
    "4.4-4",
    "4.7-4",
    seen="a cursor that includes its own row",
    shows_in=SHOWN,
)
class CursorIncludesItsRow(Listing):
    """A page begins with the last row of the page before."""

    def rows(self, span: Span) -> list[tuple[Any, ...]]:
        """From one row earlier."""
        found = super().rows(span)
        if span.start is None or not found:
            return found
        back = Span(
            project=span.project,
            filters=span.filters,
            start=self.position_of(found[0][0]),
            upwards=not span.upwards,
            limit=1,
        )
        return [*super().rows(back), *found][: span.limit]


@fault(
    "2.2-9",
    "2.2-10",
    "2.2-15",
    "4.4-4",
    "4.4-10",
    "4.4-12",
    "4.7-4",
    "4.7-10",
    "4.7-12",
    seen="an offset that skips one",
    shows_in=SHOWN,
)
class CursorSkipsARow(Listing):
    """A page leaves out the row that follows the page before."""

    def rows(self, span: Span) -> list[tuple[Any, ...]]:
        """From one row later."""
        if span.start is None:
            return super().rows(span)
        return super().rows(msgspec.structs.replace(span, limit=span.limit + 1))[1:]


@fault("2.2-15", "4.4-7", "4.4-8", "4.4-15", "4.7-7", "4.7-8", "4.7-14", shows_in=SHOWN)
class SmallPagesReversed(Repaged):
    """Pages of two and three resources are in the opposite order."""

    def changed(self, page: ListPage, query: Query) -> ListPage:
        """Back to front."""
        return reversed_page(page) if query.per_page in (2, 3) else page


@fault("2.2-16", shows_in=SHOWN, where=lambda dialect: not opaque(dialect))
class SpacedCursor(SpoiltAnswers):
    """A cursor has a space before it, which reading it takes off again."""

    operations = LISTS

    def spoilt_data(self, call: OperationCall, data: Object) -> Object:
        """A space before each."""
        names = ("next_page_cursor", "prev_page_cursor")
        pagination = data["pagination"]
        return {
            **data,
            "pagination": {
                **pagination,
                **{name: f" {pagination[name]}" for name in names if pagination.get(name)},
            },
        }

    def _parse_query(self, query: str) -> dict[str, list[str]]:
        return {
            name: [value.strip() for value in values]
            for name, values in super()._parse_query(query).items()
        }


@fault("4.4-7", "4.7-7", "4.4-8", "4.7-8", "4.4-15", "4.7-14", shows_in=SHOWN)
class AscendingByDefault(Pager):
    """Without sort the order is that of ASC."""

    def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
        """ASC unless DESC is asked for."""
        return super().query(
            project, parameters if "sort" in parameters else {**parameters, "sort": ["ASC"]}
        )


@fault("4.4-8", "4.7-8", "4.4-15", "4.7-14", shows_in=SHOWN)
class SortIgnored(Pager):
    """sort=ASC is taken for DESC."""

    def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
        """Without it."""
        ascending = parameters.get("sort") == ["ASC"]
        return super().query(project, {**parameters, "sort": ["DESC"]} if ascending else parameters)


@fault("4.4-15", "4.7-14", shows_in=SHOWN)
class SortedByAnotherKey(Listing):
    """Lists are sorted by name where it should be the time of creation, and the other way round."""

    def __init__(self, *arguments: Any, sort: SortKey, **further: Any) -> None:
        other = SortKey.NAME if sort is SortKey.CREATED_AT else SortKey.CREATED_AT
        super().__init__(*arguments, sort=other, **further)


@fault(
    "2.2-9",
    "2.2-10",
    "2.2-13",
    "2.2-14",
    "4.4-4",
    "4.4-5",
    "4.4-10",
    "4.4-12",
    "4.4-15",
    "4.7-4",
    "4.7-5",
    "4.7-10",
    "4.7-12",
    "4.7-14",
    seen="a cursor that forgets the sort",
    shows_in=SHOWN,
)
class CursorForgetsTheSort(Pager):
    """From the second page on a list in ascending order goes on in the other one."""

    def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
        """DESC beyond the first page."""
        query = super().query(project, parameters)
        return query if query.start is None else msgspec.structs.replace(query, ascending=False)


@fault("4.4-16", "4.7-15", shows_in=SHOWN)
class BadParametersMistaken(Misruled):
    """A parameter that cannot be read is ignored where it is to be refused, and refused where it is
    to be ignored.
    """

    def misread(self, rules: Paging) -> Paging:
        """The opposite."""
        refuses = rules.bad_parameter.value is BadParameter.REFUSE
        return otherwise(
            rules, "bad_parameter", BadParameter.DEFAULT if refuses else BadParameter.REFUSE
        )


@fault("8-12", shows_in=SHOWN)
class OtherDefaultSize(Misruled):
    """Without perPage a page has half of its default size."""

    def misread(self, rules: Paging) -> Paging:
        """Half."""
        return otherwise(rules, "default_per_page", rules.default_per_page.value // 2)


@fault("8-13", shows_in=SHOWN)
class AboveMaximumMistaken(Misruled):
    """A perPage above the maximum is cut where it is to be refused, and refused where it is to be
    cut.
    """

    def misread(self, rules: Paging) -> Paging:
        """The opposite."""
        refuses = rules.above_maximum.value is AboveMaximum.REFUSE
        return otherwise(
            rules, "above_maximum", AboveMaximum.CLAMP if refuses else AboveMaximum.REFUSE
        )


@fault("8-13", seen="a limit that is off by one", shows_in=SHOWN)
class MaximumOffByOne(Misruled):
    """A perPage of one above the maximum is taken."""

    def misread(self, rules: Paging) -> Paging:
        """One more."""
        return otherwise(rules, "maximum_per_page", rules.maximum_per_page.value + 1)


@fault(
    "2.2-8",
    "4.4-6",
    "4.7-6",
    "8-12",
    "8-13",
    seen="the size of the page in place of the size asked for",
    shows_in=SHOWN,
)
class PerPageOfThePage(Repaged):
    """per_page is one less than the number of resources on the page."""

    def changed(self, page: ListPage, query: Query) -> ListPage:
        """Another number."""
        return told(page, per_page=max(0, len(page.rows) - 1))
