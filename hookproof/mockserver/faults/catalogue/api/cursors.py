"""Cursors to the next and previous pages, subtly wrong (sections 2.2, 4.4 and 4.7)."""

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, Final

import msgspec

from hookproof.mockserver.api.paging import ListPage, Pager, Query
from hookproof.mockserver.api.request_pipeline import RequestPipeline
from hookproof.mockserver.api.service import OperationCall, OperationResult
from hookproof.mockserver.faults.registry import fault
from hookproof.mockserver.faults.support.altered_pages import AlteredPages, with_pagination
from hookproof.mockserver.faults.support.altered_responses import (
    CREATE_ENDPOINT,
    LISTS,
    AlteredResponses,
    Object,
)
from hookproof.mockserver.faults.support.misread_dialect import misread_group
from hookproof.mockserver.store.keyset_paging import Listing, Position, Span
from hookproof.spec.dialect.model import Dialect, Paging
from hookproof.spec.dialect.vocabulary import CursorForm, PrevWithoutCursor

SHOWN: Final = ("paging",)
CURSORS: Final = ("next_page_cursor", "prev_page_cursor")
MOST_CHARACTERS: Final = 255


def _cursors_carry_filters(dialect: Dialect) -> bool:
    return dialect.paging.cursor_form.value is CursorForm.OPAQUE


@fault("text_if_any@listSources.pagination.prev_page_cursor", shows_in=SHOWN)
class PrevCursorAsNumber(AlteredPages):
    """The cursor of the previous page is a number."""

    def alter_page(self, page: ListPage, query: Query) -> ListPage:
        if not page.pagination["prev_page_cursor"]:
            return page
        return with_pagination(page, prev_page_cursor=page.rows[0][0])


class CursorAsList(AlteredPages):
    """Shows one of the two cursors as a list if the order is ascending."""

    cursor_name: ClassVar[str]

    def alter_page(self, page: ListPage, query: Query) -> ListPage:
        cursor = page.pagination[self.cursor_name]
        if not cursor or not query.ascending:
            return page
        return with_pagination(page, **{self.cursor_name: [cursor]})


@fault("text_if_any@listSources.pagination.prev_page_cursor", shows_in=SHOWN)
class PrevCursorAsList(CursorAsList):
    """The cursor of the previous page is a list if the order is ascending."""

    cursor_name = "prev_page_cursor"


@fault("text_if_any@listSources.pagination.next_page_cursor", shows_in=SHOWN)
class NextCursorAsList(CursorAsList):
    """The cursor of the next page is a list if the order is ascending."""

    cursor_name = "next_page_cursor"


@fault("first_page", shows_in=SHOWN)
class FirstPageClaimsPrevious(AlteredPages):
    """The first page claims a previous page if it has a next one."""

    def alter_page(self, page: ListPage, query: Query) -> ListPage:
        return with_pagination(
            page, has_prev_page=page.pagination["has_prev_page"] or page.pagination["has_next_page"]
        )


def has_opaque_cursors(dialect: Dialect) -> bool:
    return dialect.paging.cursor_form.value is CursorForm.OPAQUE


@fault("cursor_form", shows_in=SHOWN, where=lambda dialect: not has_opaque_cursors(dialect))
class SpacedCursor(AlteredResponses):
    """A cursor starts with a space, which is ignored when the cursor is used."""

    operations = LISTS

    def alter_data(self, call: OperationCall, data: Object) -> Object:
        pagination = data["pagination"]
        cursors = {
            name: self.alter_cursor(pagination[name]) for name in CURSORS if pagination.get(name)
        }
        return {**data, "pagination": {**pagination, **cursors}}

    def alter_cursor(self, cursor: str) -> str:
        return f" {cursor}"

    def _parse_query(self, query: str) -> dict[str, list[str]]:
        return {
            name: [value.strip() for value in values] if name in CURSORS else values
            for name, values in super()._parse_query(query).items()
        }


@fault("cursor_form", shows_in=SHOWN, where=lambda dialect: not has_opaque_cursors(dialect))
class CursorInCapitals(SpacedCursor):
    """A cursor is an identifier in upper case, and is accepted as such."""

    def alter_cursor(self, cursor: str) -> str:
        return cursor.upper()

    def _parse_query(self, query: str) -> dict[str, list[str]]:
        parameters = super()._parse_query(query)
        return {
            name: [value.lower() for value in values] if name in CURSORS else values
            for name, values in parameters.items()
        }


@fault("succeeds@lists", shows_in=SHOWN)
class DescRefused(Pager):
    """The parameter sort=DESC is refused."""

    def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
        if parameters.get("sort") == ["DESC"]:
            raise self._errors.invalid("sort: is ASC or absent")
        return super().query(project, parameters)


@fault("previous_page", shows_in=SHOWN)
class PrevCursorRefused(Pager):
    """The cursor of a previous page is refused."""

    def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
        if "prev_page_cursor" in parameters:
            raise self._errors.invalid("prev_page_cursor: is not a cursor of this list")
        return super().query(project, parameters)


@fault(
    "next_page@listPortalLinks.pagination.next_page_cursor",
    shows_in=SHOWN,
    where=_cursors_carry_filters,
)
class LongCursorRefused(Pager):
    """A cursor of more than 255 characters is refused."""

    def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
        cursors = [text for name in CURSORS for text in parameters.get(name, ())]
        if any(len(text) > MOST_CHARACTERS for text in cursors):
            raise self._errors.invalid("the cursor is too long")
        return super().query(project, parameters)


@fault("success_status@lists", shows_in=SHOWN)
class SecondPageIsCreated(RequestPipeline):
    """A page that a cursor leads to has the status of a creation."""

    def _perform(self, call: OperationCall) -> OperationResult:
        result = super()._perform(call)
        if call.operation.operation_id not in LISTS or not any(
            name in call.query for name in CURSORS
        ):
            return result
        created = self._contract.operations[CREATE_ENDPOINT].success.value
        return OperationResult(status=created, body=result.body)


@fault("walk_while_adding", shows_in=SHOWN)
class PagesByCounting(Pager):
    """Pages are found by counting, so resources that are added meanwhile shift them."""

    def __init__(self, *arguments: Any, **further: Any) -> None:
        super().__init__(*arguments, **further)
        self._counted: dict[Hashable, int] = {}

    def page(self, project: str, query: Query) -> ListPage:
        if query.backwards:
            return super().page(project, query)
        before = 0
        if query.start is not None:
            before = self._counted.get(self._place(project, query, query.start), 0)
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


@fault(
    "back_from_nowhere",
    seen="an order that is turned round before anybody looks for a cursor",
    shows_in=SHOWN,
    where=lambda dialect: dialect.paging.prev_without_cursor.decided,
)
class BackFromNowhereMistaken(Pager):
    """Direction prev without a cursor leads to the last page where the dialect has another answer,
    and to the first one where that is right.
    """

    def __init__(self, listing: Listing, rules: Paging, *further: Any, **named: Any) -> None:
        right = rules.prev_without_cursor.value
        is_last = right is PrevWithoutCursor.LAST_PAGE
        wrong = PrevWithoutCursor.FIRST_PAGE if is_last else PrevWithoutCursor.LAST_PAGE
        misread = misread_group(rules, "prev_without_cursor", wrong)
        super().__init__(listing, misread, *further, **named)


@fault(
    "back_from_nowhere",
    seen="an empty page that is asked for before the list begins",
    shows_in=SHOWN,
    where=lambda dialect: (
        not dialect.paging.prev_without_cursor.allows(PrevWithoutCursor.EMPTY_PAGE)
    ),
)
class NothingBeforeTheFirst(Pager):
    """Direction prev without a cursor leads to an empty page."""

    def __init__(self, listing: Listing, rules: Paging, *further: Any, **named: Any) -> None:
        misread = misread_group(rules, "prev_without_cursor", PrevWithoutCursor.EMPTY_PAGE)
        super().__init__(listing, misread, *further, **named)
