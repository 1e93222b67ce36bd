"""Pages of lists and their order (sections 2.2, 4.4, 4.7 and 8)."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.errors import ErrorResponses
from hookproof.mockserver.api.paging import ASCENDING, ListPage, Pager, Query
from hookproof.mockserver.api.service import OperationCall
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_pages import AlteredPages, with_pagination
from hookproof.mockserver.faults.support.altered_responses import (
    LIST_SOURCES,
    LISTS,
    AlteredResponses,
    Object,
)
from hookproof.mockserver.faults.support.misread_dialect import misread_group
from hookproof.mockserver.store.keyset_paging import Listing, Span
from hookproof.spec.dialect.groups.requests import most
from hookproof.spec.dialect.model import Dialect, Paging
from hookproof.spec.dialect.vocabulary import AboveMaximum, BadParameter, CursorForm, SortKey

SHOWN: Final = ("paging",)


class MisreadPaging(Pager):
    """Pages by the rules that `misread` returns."""

    def __init__(
        self, listing: Listing, rules: Paging, errors: ErrorResponses, **further: Any
    ) -> None:
        super().__init__(listing, self.misread(rules), errors, **further)

    def misread(self, rules: Paging) -> Paging:
        return rules


def reversed_page(page: ListPage) -> ListPage:
    return msgspec.structs.replace(page, rows=page.rows[::-1])


@fault("present@listSources.content", seen="[null], or null, for an empty list", shows_in=SHOWN)
class NullForEmpty(AlteredResponses):
    """The content of an empty list is null."""

    operations = LISTS

    def alter_data(self, call: OperationCall, data: Object) -> Object:
        return {**data, "content": data["content"] or None}


@fault(
    "present@listSources.pagination present@listSources.pagination.has_next_page"
    " present@listSources.pagination.has_prev_page present@listSources.pagination.per_page"
    " typed@lists",
    shows_in=["isolation"],
)
class PaginationBesides(AlteredResponses):
    """The pagination of a list stands beside the data, not in it."""

    operations = LISTS

    def alter_envelope(self, call: OperationCall, envelope: Object) -> Object:
        data = dict(envelope["data"])
        return {**envelope, "pagination": data.pop("pagination"), "data": data}


@fault(
    "present@listSources.pagination.has_next_page present@listSources.pagination.has_prev_page",
    seen="booleans as numbers, out of a database",
    shows_in=["isolation"],
)
class FlagsAsNumbers(AlteredResponses):
    """A list of sources shows has_next_page and has_prev_page as 0 or 1."""

    operations = (LIST_SOURCES,)

    def alter_data(self, call: OperationCall, data: Object) -> Object:
        pagination = data["pagination"]
        flags = {name: int(pagination[name]) for name in ("has_next_page", "has_prev_page")}
        return {**data, "pagination": {**pagination, **flags}}


@fault(
    "present@listSources.pagination.per_page page_size default_page_size page_size_above_maximum",
    shows_in=SHOWN,
)
class PerPageAsText(AlteredPages):
    """per_page is a string."""

    def alter_page(self, page: ListPage, query: Query) -> ListPage:
        return with_pagination(page, per_page=str(query.per_page))


@fault("text_if_any@listSources.pagination.next_page_cursor", shows_in=SHOWN)
class CursorsAsNumbers(AlteredPages):
    """The cursor of a next page is a number."""

    def alter_page(self, page: ListPage, query: Query) -> ListPage:
        if page.pagination["next_page_cursor"] is None:
            return page
        return with_pagination(page, next_page_cursor=page.rows[-1][0])


@fault(
    "page_size_told back_again shown_once page_sizes_agree next_page previous_page page_size",
    seen="the row that is read to look further, shown",
    shows_in=SHOWN,
)
class OneRowTooMany(Pager):
    """A page that is reached forwards also holds the first resource of the next page."""

    def page(self, project: str, query: Query) -> ListPage:
        page = super().page(project, query)
        more = super().page(project, msgspec.structs.replace(query, per_page=query.per_page + 1))
        return page if query.backwards else msgspec.structs.replace(page, rows=more.rows)


@fault("promised_page next_page", seen="has_next without looking one further", shows_in=SHOWN)
class FullPageClaimsNext(AlteredPages):
    """A full page claims a next page, even if it is the last."""

    def alter_page(self, page: ListPage, query: Query) -> ListPage:
        if len(page.rows) < query.per_page or page.pagination["has_next_page"] or query.backwards:
            return page
        return with_pagination(
            page, has_next_page=True, next_page_cursor=self._encode_cursor(page.rows[-1], query)
        )


@fault("last_page", seen="pages counted from one, and from zero", shows_in=SHOWN)
class SecondPageIsLast(AlteredPages):
    """A page that a cursor leads forward to claims no next page, unless it has the usual size."""

    def alter_page(self, page: ListPage, query: Query) -> ListPage:
        usual = query.per_page == self._rules.default_per_page.value
        if usual or query.start is None or query.backwards:
            return page
        return with_pagination(page, has_next_page=False, next_page_cursor=None)


@fault("first_page later_page", shows_in=SHOWN)
class PreviousReversed(AlteredPages):
    """The first page claims a previous page, and the others claim none."""

    def alter_page(self, page: ListPage, query: Query) -> ListPage:
        return with_pagination(page, has_prev_page=not page.pagination["has_prev_page"])


@fault(
    "back_again previous_page", seen="prev broken: the page before, back to front", shows_in=SHOWN
)
class BackwardsPageReversed(AlteredPages):
    """A page that is reached backwards is in reverse order."""

    def alter_page(self, page: ListPage, query: Query) -> ListPage:
        return reversed_page(page) if query.backwards and query.start else page


@fault("last_page back_again previous_page", shows_in=SHOWN)
class PrevLeadsForward(Pager):
    """The direction prev leads to the next page."""

    def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
        return msgspec.structs.replace(super().query(project, parameters), backwards=False)


@fault(
    "shown_once page_sizes_agree next_page",
    seen="a cursor that includes its own row",
    shows_in=SHOWN,
)
class CursorIncludesItsRow(Listing):
    """A page starts with the last resource of the page before."""

    def rows(self, span: Span) -> list[tuple[Any, ...]]:
        rows = super().rows(span)
        if span.start is None or not rows:
            return rows
        back = Span(
            project=span.project,
            filters=span.filters,
            start=self.position_of(rows[0][0]),
            upwards=not span.upwards,
            limit=1,
        )
        return [*super().rows(back), *rows][: span.limit]


@fault(
    "promised_page last_page page_sizes_agree next_page",
    seen="an offset that skips one",
    shows_in=SHOWN,
)
class CursorSkipsARow(Listing):
    """A page leaves out its first resource if a cursor leads to it."""

    def rows(self, span: Span) -> list[tuple[Any, ...]]:
        if span.start is None:
            return super().rows(span)
        return super().rows(msgspec.structs.replace(span, limit=span.limit + 1))[1:]


@fault("page_sizes_agree default_order opposite_orders sort_key", shows_in=SHOWN)
class SmallPagesReversed(AlteredPages):
    """Pages with a perPage of 2 or 3 are in reverse order."""

    def alter_page(self, page: ListPage, query: Query) -> ListPage:
        return reversed_page(page) if query.per_page in (2, 3) else page


@fault("default_order opposite_orders sort_key", shows_in=SHOWN)
class AscendingByDefault(Pager):
    """Without sort the order is that of ASC."""

    default_order = ASCENDING


@fault("opposite_orders sort_key", shows_in=SHOWN)
class SortIgnored(Pager):
    """The parameter sort=ASC is read as DESC."""

    def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
        ascending = parameters.get("sort") == ["ASC"]
        return super().query(project, {**parameters, "sort": ["DESC"]} if ascending else parameters)


@fault(
    "opposite_orders last_page", seen="a bound that is exclusive in one direction", shows_in=SHOWN
)
class AscendingLacksTheFirst(Pager):
    """A list with sort=ASC begins with its second resource, if it has any."""

    def page(self, project: str, query: Query) -> ListPage:
        if not query.ascending:
            return super().page(project, query)
        span = Span(project=project, filters=query.filters, start=None, upwards=True, limit=2)
        first = self._listing.rows(span)
        if query.start is None and not query.backwards and len(first) > 1:
            start = self._listing.position_of(first[0][0])
            query = msgspec.structs.replace(query, start=start, backwards=False)
            page = super().page(project, query)
        else:
            page = super().page(project, query)
            if page.rows[:1] != first[1:]:
                return page
        return with_pagination(page, has_prev_page=False, prev_page_cursor=None)


@fault("sort_key", shows_in=SHOWN)
class SortedByAnotherKey(Listing):
    """Lists are sorted by name where the dialect says time of creation, and the reverse."""

    def __init__(self, *arguments: Any, sort: SortKey, **further: Any) -> None:
        other = SortKey.NAME if sort is SortKey.CREATED_AT else SortKey.CREATED_AT
        super().__init__(*arguments, sort=other, **further)


@fault(
    "promised_page last_page back_again shown_once next_page previous_page sort_key",
    seen="a cursor that forgets the sort",
    shows_in=SHOWN,
)
class CursorForgetsTheSort(Pager):
    """From the second page on an ascending list continues in descending order."""

    def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
        query = super().query(project, parameters)
        return query if query.start is None else msgspec.structs.replace(query, ascending=False)


@fault("unreadable_parameter", shows_in=SHOWN)
class BadParametersMistaken(MisreadPaging):
    """An unusable parameter is ignored where the dialect refuses it, and the reverse."""

    def misread(self, rules: Paging) -> Paging:
        refuses = rules.bad_parameter.value is BadParameter.REFUSE
        return misread_group(
            rules, "bad_parameter", BadParameter.DEFAULT if refuses else BadParameter.REFUSE
        )


def has_a_rule_for_opaque_cursors(dialect: Dialect) -> bool:
    rules = dialect.paging
    return rules.bad_cursor.decided and rules.cursor_form.value is CursorForm.OPAQUE


@fault("unreadable_parameter", shows_in=SHOWN, where=has_a_rule_for_opaque_cursors)
class BadCursorsMistaken(MisreadPaging):
    """An unusable cursor is ignored where the dialect refuses it, and the reverse."""

    def misread(self, rules: Paging) -> Paging:
        refuses = rules.bad_cursor.value is BadParameter.REFUSE
        return misread_group(
            rules, "bad_cursor", BadParameter.DEFAULT if refuses else BadParameter.REFUSE
        )


@fault("default_page_size", shows_in=SHOWN)
class OtherDefaultSize(MisreadPaging):
    """Without perPage a page has half of its default size."""

    def misread(self, rules: Paging) -> Paging:
        return misread_group(rules, "default_per_page", rules.default_per_page.value // 2)


@fault("page_size_above_maximum", shows_in=SHOWN)
class AboveMaximumMistaken(MisreadPaging):
    """A perPage above the maximum is cut where the dialect refuses it, and the reverse."""

    def misread(self, rules: Paging) -> Paging:
        refuses = rules.above_maximum.value is AboveMaximum.REFUSE
        return misread_group(
            rules, "above_maximum", AboveMaximum.CLAMP if refuses else AboveMaximum.REFUSE
        )


@fault(
    "page_size_above_maximum",
    seen="a limit that is off by one",
    shows_in=SHOWN,
    where=lambda dialect: dialect.paging.maximum_per_page.value is not None,
)
class MaximumOffByOne(Pager):
    """A perPage of one above the maximum is accepted."""

    def _per_page(self, reader: Any) -> int:
        asked: int | None = reader.number("perPage")
        if asked == most(self._rules.maximum_per_page.value) + 1:
            return asked
        return super()._per_page(reader)


@fault(
    "page_size_told page_size default_page_size page_size_above_maximum",
    shows_in=SHOWN,
)
class PerPageBelowThePage(AlteredPages):
    """per_page is one less than the number of resources on the page."""

    def alter_page(self, page: ListPage, query: Query) -> ListPage:
        return with_pagination(page, per_page=max(0, len(page.rows) - 1))
