"""Keyset paging: the rows after or before a position, in either order, filtered (section 2.2).

A position is the sort key and the sequence number of a row, so that inserts and updates elsewhere
never shift a page.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

import msgspec

from hookproof.mockserver.store.database import Database
from hookproof.spec.dialect.vocabulary import Match, SortKey

_FILTERS: Final = {
    Match.EXACT: "{column} = :{column}",
    Match.PREFIX: "substr({column}, 1, length(:{column})) = :{column}",
    Match.SUBSTRING: "instr({column}, :{column}) > 0",
    Match.SUBSTRING_ANY_CASE: "instr(casefold({column}), casefold(:{column})) > 0",
}
_KEYS: Final = {SortKey.CREATED_AT: ("seq",), SortKey.NAME: ("name", "seq")}


class Position(msgspec.Struct, frozen=True, kw_only=True):
    """A place next to the row with this sequence number.

    `name` is that row's name where lists are sorted by name, else empty.
    """

    name: str
    seq: int


_NOWHERE: Final = Position(name="", seq=0)


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """Which rows to select: at most `limit` beyond `start` (None: from the end of the order)."""

    project: str
    filters: Mapping[str, str]
    start: Position | None
    upwards: bool
    limit: int


class Listing:
    """One table that can be listed. The columns of a row are seq and `columns`."""

    def __init__(
        self,
        database: Database,
        table: str,
        columns: Sequence[str],
        *,
        sort: SortKey,
        matches: Mapping[str, Match],
    ) -> None:
        self._database = database
        self._table = table
        self.name = table.encode()
        self._columns = ", ".join(("seq", *columns))
        self._key = _KEYS[sort]
        self._matches = matches
        self._select = cache(self._select_statement)

    def rows(self, span: Span) -> list[tuple[Any, ...]]:
        """Return the rows of a span, nearest to its start first."""
        statement = self._select(tuple(span.filters), span.start is not None, span.upwards)
        return self._database.read(statement, self._parameters(span)).fetchall()

    def has_rows(self, span: Span) -> bool:
        where = self._where(tuple(span.filters), span.start is not None, span.upwards)
        statement = f"SELECT EXISTS (SELECT 1 FROM {self._table} WHERE {where})"
        return bool(self._database.read(statement, self._parameters(span)).fetchone()[0])

    def find_position(self, project: str, uid: str) -> Position | None:
        """Return the position of the row with this uid."""
        statement = f"SELECT name, seq FROM {self._table} WHERE project = ? AND uid = ?"
        row = self._database.read(statement, (project, uid)).fetchone()
        return None if row is None else Position(name=row[0], seq=row[1])

    def uid(self, seq: int) -> str:
        (uid,) = self._database.read(
            f"SELECT uid FROM {self._table} WHERE seq = ?", (seq,)
        ).fetchone()
        return str(uid)

    def position_of(self, seq: int) -> Position:
        if len(self._key) == 1:
            return Position(name="", seq=seq)
        (name,) = self._database.read(
            f"SELECT name FROM {self._table} WHERE seq = ?", (seq,)
        ).fetchone()
        return Position(name=name, seq=seq)

    def _select_statement(self, filtered: tuple[str, ...], started: bool, upwards: bool) -> str:
        direction = "ASC" if upwards else "DESC"
        order = ", ".join(f"{column} {direction}" for column in self._key)
        where = self._where(filtered, started, upwards)
        return (
            f"SELECT {self._columns} FROM {self._table} WHERE {where} ORDER BY {order} LIMIT :limit"
        )

    def _where(self, filtered: tuple[str, ...], started: bool, upwards: bool) -> str:
        terms = ["project = :project"]
        terms += [_FILTERS[self._matches[column]].format(column=column) for column in filtered]
        if started:
            comparison = ">" if upwards else "<"
            key = ", ".join(self._key)
            placeholders = ", ".join(f":start_{column}" for column in self._key)
            terms.append(f"({key}) {comparison} ({placeholders})")
        return " AND ".join(terms)

    @staticmethod
    def _parameters(span: Span) -> dict[str, Any]:
        start = span.start or _NOWHERE
        return {
            "project": span.project,
            "limit": span.limit,
            "start_name": start.name,
            "start_seq": start.seq,
            **span.filters,
        }
