"""Lists: what pages say of those beside them, subtly wrong (sections 2.2, 4.4 and 4.7)."""

from collections.abc import Hashable, Mapping
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.paging import ListPage, Pager, Query
from hookproof.mockserver.api.request_pipeline import RequestPipeline
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.faults.catalogue.api.paging import Repaged, SpacedCursor, opaque, told
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_responses import LISTS, Object
from hookproof.mockserver.store.keyset_paging import Position, Span

SHOWN: Final = ("paging",)


@fault("2.2-7", shows_in=SHOWN)
class PrevCursorAsNumber(Repaged):
    """The cursor of the page before is a number."""

    def changed(self, page: ListPage, query: Query) -> ListPage:
        """The place of the row."""
        return (
            told(page, prev_page_cursor=page.rows[0][0])
            if page.pagination["prev_page_cursor"]
            else page
        )


@fault("2.2-7", shows_in=SHOWN)
class PrevCursorAsList(Repaged):
    """The cursor of the page before a page in ascending order is a list."""

    def changed(self, page: ListPage, query: Query) -> ListPage:
        """A list with the cursor in it."""
        cursor = page.pagination["prev_page_cursor"]
        return told(page, prev_page_cursor=[cursor]) if cursor and query.ascending else page


@fault("2.2-6", shows_in=SHOWN)
class NextCursorAsList(Repaged):
    """The cursor of the page that follows a page in ascending order is a list."""

    def changed(self, page: ListPage, query: Query) -> ListPage:
        """A list with the cursor in it."""
        cursor = page.pagination["next_page_cursor"]
        return told(page, next_page_cursor=[cursor]) if cursor and query.ascending else page


@fault("2.2-11", shows_in=SHOWN)
class FirstPageClaimsPrevious(Repaged):
    """The first page claims a previous one if another one follows it."""

    def changed(self, page: ListPage, query: Query) -> ListPage:
        """True for both."""
        return told(
            page, has_prev_page=page.pagination["has_prev_page"] or page.pagination["has_next_page"]
        )


@fault("2.2-16", shows_in=SHOWN, where=lambda dialect: not opaque(dialect))
class CursorInCapitals(SpacedCursor):
    """A cursor is an identifier in capitals, which finds its resource all the same."""

    def spoilt_data(self, call: OperationCall, data: Object) -> Object:
        """Capitals."""
        spaced = super().spoilt_data(call, data)
        names = ("next_page_cursor", "prev_page_cursor")
        cursors = {
            name: spaced["pagination"][name].strip().upper()
            for name in names
            if spaced["pagination"].get(name)
        }
        return {**data, "pagination": {**data["pagination"], **cursors}}

    def _parse_query(self, query: str) -> dict[str, list[str]]:
        given = super()._parse_query(query)
        return {
            name: [one.lower() for one in values] if "cursor" in name else values
            for name, values in given.items()
        }


@fault("4.4-1", "4.7-1", shows_in=SHOWN)
class DescRefused(Pager):
    """sort=DESC is refused: it is the default."""

    def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
        """Not what is said anyway."""
        if parameters.get("sort") == ["DESC"]:
            raise self._errors.invalid("sort: is ASC or not given")
        return super().query(project, parameters)


@fault("4.4-2", "4.7-2", shows_in=SHOWN)
class SecondPageIsCreated(RequestPipeline):
    """A page that a cursor leads to is answered with the status of a creation."""

    def _perform(self, call: OperationCall) -> OperationResult:
        reply = super()._perform(call)
        if call.operation.operation_id not in LISTS or not {
            "next_page_cursor",
            "prev_page_cursor",
        } & set(call.query):
            return reply
        return OperationResult(
            status=self._contract.operations["createEndpoint"].success.value, body=reply.body
        )


@fault("2.2-17", shows_in=SHOWN)
class PagesByCounting(Pager):
    """A page begins after as many resources as the pages before it held: what is added meanwhile
    shifts it.
    """

    def __init__(self, *given: Any, **further: Any) -> None:
        super().__init__(*given, **further)
        self._counted: dict[Hashable, int] = {}

    def page(self, project: str, query: Query) -> ListPage:
        """The page that begins so many rows from the start of the list, where the number is known."""
        if query.backwards:
            return super().page(project, query)
        before = (
            0
            if query.start is None
            else self._counted.get(self._place(project, query, query.start), 0)
        )
        page = super().page(project, self._shifted(project, query, before) if before else query)
        if page.rows:
            last = self._listing.position_of(page.rows[-1][0])
            self._counted[self._place(project, query, last)] = before + len(page.rows)
        return page

    def _shifted(self, project: str, query: Query, before: int) -> Query:
        rows = self._listing.rows(
            Span(
                project=project,
                filters=query.filters,
                start=None,
                upwards=query.ascending,
                limit=before,
            )
        )
        return msgspec.structs.replace(query, start=self._listing.position_of(rows[-1][0]))

    @staticmethod
    def _place(project: str, query: Query, position: Position) -> Hashable:
        return (
            project,
            tuple(sorted(query.filters.items())),
            query.ascending,
            position.name,
            position.seq,
        )
