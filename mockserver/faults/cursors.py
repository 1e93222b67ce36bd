"""Lists: what pages say of those beside them, subtly wrong (sections 2.2, 4.4 and 4.7)."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from mockserver.api import Api
from mockserver.faults.paging import Repaged, SpacedCursor, opaque, told
from mockserver.faults.registry import fault
from mockserver.faults.spoiling import LISTS, Object
from mockserver.paging import Page, Pager, Query
from mockserver.service import Call, Reply
from mockserver.store.listings import Listing, Position, Span
from spec.dialect import Dialect
from spec.vocabulary import SortKey

SHOWN: Final = ("paging",)


@fault("2.2-7", shows_in=SHOWN)
class PrevCursorAsNumber(Repaged):
    """The cursor of the page before is a number."""

    def changed(self, page: Page, query: Query) -> Page:
        """The place of the row."""
        return told(page, prev_page_cursor=page.rows[0][0]) if page.pagination["prev_page_cursor"] else page


@fault("2.2-7", shows_in=SHOWN)
class PrevCursorAsList(Repaged):
    """The cursor of the page before a page in ascending order is a list."""

    def changed(self, page: Page, query: Query) -> Page:
        """A list with the cursor in it."""
        cursor = page.pagination["prev_page_cursor"]
        return told(page, prev_page_cursor=[cursor]) if cursor and query.ascending else page


@fault("2.2-6", shows_in=SHOWN)
class NextCursorAsList(Repaged):
    """The cursor of the page that follows a page in ascending order is a list."""

    def changed(self, page: Page, query: Query) -> Page:
        """A list with the cursor in it."""
        cursor = page.pagination["next_page_cursor"]
        return told(page, next_page_cursor=[cursor]) if cursor and query.ascending else page


@fault("2.2-11", shows_in=SHOWN)
class FirstPageClaimsPrevious(Repaged):
    """The first page claims a previous one if another one follows it."""

    def changed(self, page: Page, query: Query) -> Page:
        """True for both."""
        return told(page, has_prev_page=page.pagination["has_prev_page"] or page.pagination["has_next_page"])


@fault("2.2-16", shows_in=SHOWN, where=lambda dialect: not opaque(dialect))
class CursorInCapitals(SpacedCursor):
    """A cursor is an identifier in capitals, which finds its resource all the same."""

    def spoilt_data(self, call: Call, data: Object) -> Object:
        """Capitals."""
        spaced = super().spoilt_data(call, data)
        names = ("next_page_cursor", "prev_page_cursor")
        cursors = {name: spaced["pagination"][name].strip().upper() for name in names if spaced["pagination"].get(name)}
        return {**data, "pagination": {**data["pagination"], **cursors}}

    def _parameters(self, query: str) -> dict[str, list[str]]:
        given = super()._parameters(query)
        return {name: [one.lower() for one in values] if "cursor" in name else values for name, values in given.items()}


def counts_from_the_newest(dialect: Dialect) -> bool:
    """Whether a cursor can hide how many resources stand before its own."""
    return opaque(dialect) and dialect.paging.sort_key.value is SortKey.CREATED_AT


@fault("2.2-17", where=counts_from_the_newest, seen="LIMIT and OFFSET behind a cursor", shows_in=SHOWN)
class CursorIsAnOffset(Listing):
    """A cursor says how many resources are newer than its own, so that each addition shifts the page it leads to."""

    def rows(self, span: Span) -> list[tuple[Any, ...]]:
        """Beyond the row that has so many before it now."""
        return super().rows(self._now(span))

    def any(self, span: Span) -> bool:
        """Likewise."""
        return super().any(self._now(span))

    def beside(self, seq: int) -> Position:
        """The number of newer rows, negative, so that what is newer stays greater."""
        place = super().beside(seq)
        newer = (
            f"SELECT -count(*) FROM {self._table} WHERE seq > ?1"
            f" AND project = (SELECT project FROM {self._table} WHERE seq = ?1)"
        )
        (rank,) = self._database.read(newer, (seq,)).fetchone()
        return msgspec.structs.replace(place, seq=rank)

    def _now(self, span: Span) -> Span:
        if span.start is None:
            return span
        statement = f"SELECT seq FROM {self._table} WHERE project = ? ORDER BY seq DESC LIMIT 1 OFFSET ?"
        rank = -span.start.seq
        row = self._database.read(statement, (span.project, max(rank, 0))).fetchone()
        seq = (row[0] if row else 0) + (1 if rank < 0 else 0)
        return msgspec.structs.replace(span, start=msgspec.structs.replace(span.start, seq=seq))


@fault("4.4-1", "4.7-1", shows_in=SHOWN)
class DescRefused(Pager):
    """sort=DESC is refused: it is the default."""

    def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
        """Not what is said anyway."""
        if parameters.get("sort") == ["DESC"]:
            raise self._refusals.invalid("sort: is ASC or not given")
        return super().query(project, parameters)


@fault("4.4-2", "4.7-2", shows_in=SHOWN)
class SecondPageIsCreated(Api):
    """A page that a cursor leads to is answered with the status of a creation."""

    def _perform(self, call: Call) -> Reply:
        reply = super()._perform(call)
        if call.operation.operation_id not in LISTS or not {"next_page_cursor", "prev_page_cursor"} & set(call.query):
            return reply
        return Reply(status=self._contract.operations["createEndpoint"].success.value, body=reply.body)
