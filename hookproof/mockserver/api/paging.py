"""Pages and cursors of the two list operations (sections 2.2, 4.4, 4.7 and 8).

An opaque cursor carries its position, the filters and the order, so that a list continues as it
began whatever the next request's other parameters are. A cursor that is an identifier names the
item next to it and can carry nothing else.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.errors import ErrorResponses
from hookproof.mockserver.store.keyset_paging import Listing, Position, Span
from hookproof.spec.dialect.groups.requests import most
from hookproof.spec.dialect.model import Paging
from hookproof.spec.dialect.vocabulary import (
    AboveMaximum,
    BadParameter,
    CursorForm,
    PrevWithoutCursor,
)

NEXT: Final = "next"
PREV: Final = "prev"
ASCENDING: Final = "ASC"
DESCENDING: Final = "DESC"
_SEAL_BYTES: Final = 8
_MAX_DIGITS: Final = 9


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed list request: `filters` by column, and `start`, which is None on the first page.

    What goes backwards without a start may be `at_end`, the last page, or `empty`.
    """

    per_page: int
    ascending: bool
    backwards: bool
    filters: dict[str, str]
    start: Position | None
    at_end: bool = False
    empty: bool = False


class _Cursor(msgspec.Struct, frozen=True, array_like=True):
    name: str
    seq: int
    ascending: bool
    filters: dict[str, str]


class ListPage(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of a page, in order, and its pagination object.

    A cursor is None where there is no page to continue with.
    """

    rows: list[tuple[Any, ...]]
    pagination: dict[str, Any]


class Pager:
    """Parses list parameters and selects pages for one operation.

    `filters` maps query parameters to columns of the listing. `seal_key` makes cursors unforgeable;
    a cursor is valid only for its own list.
    """

    default_order = DESCENDING

    def __init__(
        self,
        listing: Listing,
        rules: Paging,
        errors: ErrorResponses,
        *,
        filters: Mapping[str, str],
        seal_key: bytes,
    ) -> None:
        self._listing = listing
        self._rules = rules
        self._errors = errors
        self._filters = filters
        self._hasher = hashlib.blake2b(digest_size=_SEAL_BYTES, key=seal_key, person=listing.name)
        cursors = rules.bad_cursor
        self._refuses_cursors = cursors.value is BadParameter.REFUSE if cursors.decided else None
        self._opaque = rules.cursor_form.value is CursorForm.OPAQUE

    def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
        """Parse the parameters of a list request.

        Raises ApiError for bad ones if the dialect refuses them.
        """
        reader = _ParameterReader(
            parameters,
            refuse=self._rules.bad_parameter.value is BadParameter.REFUSE,
            errors=self._errors,
        )
        order = reader.word("sort", (ASCENDING, DESCENDING)) or self.default_order
        cursors = {NEXT: reader.text("next_page_cursor"), PREV: reader.text("prev_page_cursor")}
        direction = reader.word("direction", (NEXT, PREV)) or (
            PREV if cursors[PREV] and not cursors[NEXT] else NEXT
        )
        filters = {
            column: text for name, column in self._filters.items() if (text := reader.text(name))
        }
        query = Query(
            per_page=self._per_page(reader),
            ascending=order == ASCENDING,
            backwards=direction == PREV,
            filters=filters,
            start=None,
        )
        cursor = cursors[direction]
        if cursor is None:
            return self._without_cursor(query) if direction == PREV else query
        return self._resume(query, project, cursor, reader, f"{direction}_page_cursor")

    def _without_cursor(self, query: Query) -> Query:
        """Return a query that goes backwards from nowhere, as the dialect understands it."""
        rule = self._rules.prev_without_cursor
        if rule.prefers(PrevWithoutCursor.REFUSED):
            raise self._errors.invalid("direction: prev needs a prev_page_cursor")
        return msgspec.structs.replace(
            query,
            at_end=rule.prefers(PrevWithoutCursor.LAST_PAGE),
            empty=rule.prefers(PrevWithoutCursor.EMPTY_PAGE),
        )

    def page(self, project: str, query: Query) -> ListPage:
        """Select the page that a query asks for."""
        if query.empty:
            return ListPage(
                rows=[], pagination=self._pagination([], query, has_next=False, has_prev=False)
            )
        turned_round = query.at_end or (query.backwards and query.start is not None)
        upwards = query.ascending is not turned_round
        span = Span(
            project=project,
            filters=query.filters,
            start=query.start,
            upwards=upwards,
            limit=query.per_page + 1,
        )
        rows = self._listing.rows(span)
        has_more = len(rows) > query.per_page
        del rows[query.per_page :]
        has_behind = query.start is not None and self._listing.has_rows(
            Span(
                project=project,
                filters=query.filters,
                start=self._near_edge(rows, query.start, upwards),
                upwards=not upwards,
                limit=1,
            )
        )
        if upwards is not query.ascending:
            rows.reverse()
            has_more, has_behind = has_behind, has_more
        return ListPage(
            rows=rows,
            pagination=self._pagination(rows, query, has_next=has_more, has_prev=has_behind),
        )

    def _near_edge(self, rows: list[tuple[Any, ...]], start: Position, upwards: bool) -> Position:
        """Return the position from which to look for rows on the near side of a page.

        That is its first row, or the start of an empty page.
        """
        if rows:
            return self._listing.position_of(rows[0][0])
        return Position(name=start.name, seq=start.seq + (1 if upwards else -1))

    def _pagination(
        self, rows: list[tuple[Any, ...]], query: Query, *, has_next: bool, has_prev: bool
    ) -> dict[str, Any]:
        return {
            "has_next_page": has_next,
            "has_prev_page": has_prev,
            "next_page_cursor": self._encode_cursor(rows[-1], query) if has_next and rows else None,
            "per_page": query.per_page,
            "prev_page_cursor": self._encode_cursor(rows[0], query) if has_prev and rows else None,
        }

    def _encode_cursor(self, row: tuple[Any, ...], query: Query) -> str:
        if not self._opaque:
            return self._listing.uid(row[0])
        position = self._listing.position_of(row[0])
        content = msgspec.json.encode(
            _Cursor(
                name=position.name,
                seq=position.seq,
                ascending=query.ascending,
                filters=query.filters,
            )
        )
        return base64.urlsafe_b64encode(self._seal(content) + content).decode().rstrip("=")

    def _resume(
        self, query: Query, project: str, cursor: str, reader: "_ParameterReader", name: str
    ) -> Query:
        """Return the query continued from a cursor.

        An opaque cursor replaces the filters and the order with those that it carries.
        """
        if not self._opaque:
            start = self._listing.find_position(project, cursor)
            if start is None:
                reader.reject(name, "is not a cursor of this list", refuse=self._refuses_cursors)
            return msgspec.structs.replace(query, start=start)
        content = self._decode_cursor(cursor)
        if content is None:
            reader.reject(name, "is not a cursor of this list", refuse=self._refuses_cursors)
            return query
        start = Position(name=content.name, seq=content.seq)
        return msgspec.structs.replace(
            query, start=start, ascending=content.ascending, filters=content.filters
        )

    def _decode_cursor(self, cursor: str) -> _Cursor | None:
        try:
            sealed = base64.b64decode(
                cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True
            )
        except (binascii.Error, ValueError):
            return None
        seal, content = sealed[:_SEAL_BYTES], sealed[_SEAL_BYTES:]
        if not hmac.compare_digest(seal, self._seal(content)):
            return None
        return msgspec.json.decode(content, type=_Cursor)

    def _seal(self, content: bytes) -> bytes:
        hasher = self._hasher.copy()
        hasher.update(content)
        return hasher.digest()

    def _per_page(self, reader: "_ParameterReader") -> int:
        maximum = most(self._rules.maximum_per_page.value)
        per_page = reader.number("perPage")
        if per_page is None:
            return self._rules.default_per_page.value
        if per_page <= maximum:
            return per_page
        if self._rules.above_maximum.value is AboveMaximum.CLAMP:
            return maximum
        raise self._errors.invalid(f"perPage: must be at most {maximum}")


class _ParameterReader:
    """Parses query parameters one by one; a bad one is refused or ignored."""

    def __init__(
        self, parameters: Mapping[str, list[str]], *, refuse: bool, errors: ErrorResponses
    ) -> None:
        self._parameters = parameters
        self._refuse = refuse
        self._errors = errors

    def text(self, name: str) -> str | None:
        """Return a parameter's text; None if it is absent or empty."""
        values = self._parameters.get(name)
        if values is None:
            return None
        if len(values) == 1 and "\x00" not in values[0]:
            return values[0] or None
        self.reject(name, "is given more than once, or contains the character NUL")
        return None

    def word(self, name: str, words: tuple[str, ...]) -> str | None:
        text = self.text(name)
        if text is None or text in words:
            return text
        self.reject(name, f"must be one of {', '.join(words)}")
        return None

    def number(self, name: str) -> int | None:
        """Return a whole number above 0, capped at nine digits."""
        text = self.text(name)
        if text is None:
            return None
        digits = text.lstrip("0")
        if text.isascii() and text.isdigit() and digits:
            return int(digits[:_MAX_DIGITS] if len(digits) <= _MAX_DIGITS else "9" * _MAX_DIGITS)
        self.reject(name, "must be a whole number above 0")
        return None

    def reject(self, name: str, what: str, *, refuse: bool | None = None) -> None:
        """Raise ApiError if a bad parameter is refused; `refuse` decides for this one alone."""
        if self._refuse if refuse is None else refuse:
            raise self._errors.invalid(f"{name}: {what}")
