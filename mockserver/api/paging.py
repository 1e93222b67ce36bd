"""Pages and cursors of the two list operations (sections 2.2, 4.4, 4.7 and 8).

An opaque cursor carries its position, the filters and the order, so that a list goes on as it began
whatever else the next request says. A cursor that is an identifier names the item beside it and can
carry nothing more.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.errors import Refusals
from hookproof.mockserver.store.keyset_paging import Listing, Position, Span
from hookproof.spec.dialect.model import Paging
from hookproof.spec.dialect.vocabulary import AboveMaximum, BadParameter, CursorForm

NEXT: Final = "next"
PREV: Final = "prev"
ASCENDING: Final = "ASC"
DESCENDING: Final = "DESC"
_SEAL_BYTES: Final = 8
_MOST_DIGITS: Final = 9


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """What a list request asks for."""

    per_page: int
    ascending: bool
    backwards: bool
    filters: dict[str, str]
    start: Position | None


class _Cursor(msgspec.Struct, frozen=True, array_like=True):
    name: str
    seq: int
    ascending: bool
    filters: dict[str, str]


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of a page, in order, and its pagination object; cursors are None where there is
    nothing to go on to.
    """

    rows: list[tuple[Any, ...]]
    pagination: dict[str, Any]


class Pager:
    """Reads list parameters and cuts pages for one operation.

    `filters` maps the query parameters that filter to columns of the listing. `seal_key` makes
    cursors unforgeable, and a cursor is good for its own list only.
    """

    def __init__(
        self,
        listing: Listing,
        rules: Paging,
        refusals: Refusals,
        *,
        filters: Mapping[str, str],
        seal_key: bytes,
    ) -> None:
        self._listing = listing
        self._rules = rules
        self._refusals = refusals
        self._filters = filters
        self._sealing = hashlib.blake2b(digest_size=_SEAL_BYTES, key=seal_key, person=listing.name)
        self._opaque = rules.cursor_form.value is CursorForm.OPAQUE

    def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
        """The meaning of a list request's parameters; raises Refusal for bad ones if the dialect
        refuses them.
        """
        given = _Parameters(
            parameters,
            refuse=self._rules.bad_parameter.value is BadParameter.REFUSE,
            to=self._refusals,
        )
        order = given.word("sort", (ASCENDING, DESCENDING)) or DESCENDING
        cursors = {NEXT: given.text("next_page_cursor"), PREV: given.text("prev_page_cursor")}
        direction = given.word("direction", (NEXT, PREV)) or (
            PREV if cursors[PREV] and not cursors[NEXT] else NEXT
        )
        filters = {
            column: text for name, column in self._filters.items() if (text := given.text(name))
        }
        query = Query(
            per_page=self._per_page(given),
            ascending=order == ASCENDING,
            backwards=direction == PREV,
            filters=filters,
            start=None,
        )
        cursor = cursors[direction]
        return (
            query
            if cursor is None
            else self._continued(query, project, cursor, given, f"{direction}_page_cursor")
        )

    def page(self, project: str, query: Query) -> Page:
        """The page that a query asks for."""
        upwards = query.ascending is not (query.backwards and query.start is not None)
        span = Span(
            project=project,
            filters=query.filters,
            start=query.start,
            upwards=upwards,
            limit=query.per_page + 1,
        )
        rows = self._listing.rows(span)
        more = len(rows) > query.per_page
        del rows[query.per_page :]
        behind = query.start is not None and self._listing.any(
            Span(
                project=project,
                filters=query.filters,
                start=self._edge(rows, query.start, upwards),
                upwards=not upwards,
                limit=1,
            )
        )
        if upwards is not query.ascending:
            rows.reverse()
            more, behind = behind, more
        return Page(
            rows=rows, pagination=self._pagination(rows, query, has_next=more, has_prev=behind)
        )

    def _edge(self, rows: list[tuple[Any, ...]], start: Position, upwards: bool) -> Position:
        """Where to look for rows on the near side of a page: before its first row, or at the start
        of an empty one.
        """
        if rows:
            return self._listing.beside(rows[0][0])
        return Position(name=start.name, seq=start.seq + (1 if upwards else -1))

    def _pagination(
        self, rows: list[tuple[Any, ...]], query: Query, *, has_next: bool, has_prev: bool
    ) -> dict[str, Any]:
        return {
            "has_next_page": has_next,
            "has_prev_page": has_prev,
            "next_page_cursor": self._cursor(rows[-1], query) if has_next and rows else None,
            "per_page": query.per_page,
            "prev_page_cursor": self._cursor(rows[0], query) if has_prev and rows else None,
        }

    def _cursor(self, row: tuple[Any, ...], query: Query) -> str:
        if not self._opaque:
            return self._listing.uid(row[0])
        place = self._listing.beside(row[0])
        content = msgspec.json.encode(
            _Cursor(
                name=place.name, seq=place.seq, ascending=query.ascending, filters=query.filters
            )
        )
        return base64.urlsafe_b64encode(self._seal(content) + content).decode().rstrip("=")

    def _continued(
        self, query: Query, project: str, cursor: str, given: "_Parameters", name: str
    ) -> Query:
        """The query from a cursor's position on, with the filters and the order that an opaque
        cursor carries.
        """
        if not self._opaque:
            start = self._listing.position(project, cursor)
            if start is None:
                given.bad(name, "is not a cursor of this list")
            return msgspec.structs.replace(query, start=start)
        content = self._opened(cursor)
        if content is None:
            given.bad(name, "is not a cursor of this list")
            return query
        start = Position(name=content.name, seq=content.seq)
        return msgspec.structs.replace(
            query, start=start, ascending=content.ascending, filters=content.filters
        )

    def _opened(self, cursor: str) -> _Cursor | None:
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
        sealing = self._sealing.copy()
        sealing.update(content)
        return sealing.digest()

    def _per_page(self, given: "_Parameters") -> int:
        maximum = self._rules.maximum_per_page.value
        asked = given.number("perPage")
        if asked is None:
            return self._rules.default_per_page.value
        if asked <= maximum:
            return asked
        if self._rules.above_maximum.value is AboveMaximum.CLAMP:
            return maximum
        raise self._refusals.invalid(f"perPage: is {maximum} at most")


class _Parameters:
    """Query parameters, read one by one; a bad one is refused or taken as not given."""

    def __init__(self, given: Mapping[str, list[str]], *, refuse: bool, to: Refusals) -> None:
        self._given = given
        self._refuse = refuse
        self._refusals = to

    def text(self, name: str) -> str | None:
        """A text; an empty one counts as not given."""
        values = self._given.get(name)
        if values is None:
            return None
        if len(values) == 1 and "\x00" not in values[0]:
            return values[0] or None
        self.bad(name, "stands more than once, or holds the character NUL")
        return None

    def word(self, name: str, words: tuple[str, ...]) -> str | None:
        """One of these words."""
        text = self.text(name)
        if text is None or text in words:
            return text
        self.bad(name, f"is one of {', '.join(words)}")
        return None

    def number(self, name: str) -> int | None:
        """A whole number above 0."""
        text = self.text(name)
        if text is None:
            return None
        digits = text.lstrip("0")
        if text.isascii() and text.isdigit() and digits:
            return int(digits[:_MOST_DIGITS] if len(digits) <= _MOST_DIGITS else "9" * _MOST_DIGITS)
        self.bad(name, "is a whole number above 0")
        return None

    def bad(self, name: str, what: str) -> None:
        """Deal with a parameter that cannot be read."""
        if self._refuse:
            raise self._refusals.invalid(f"{name}: {what}")
