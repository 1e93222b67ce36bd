"""Operators on filters: ignored, forgotten, compared in another way, joined by or."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.paging import ListPage, Pager, Query
from hookproof.mockserver.faults.operators.kinds.altered_lists import (
    GROUP,
    TABLES,
    AlterQuery,
    altered_pager,
    changed_query,
)
from hookproof.mockserver.faults.operators.laws import violated_by_list
from hookproof.mockserver.faults.operators.operator import Alteration, Parameters, operators_of
from hookproof.mockserver.faults.operators.place import Place, PlaceKind
from hookproof.mockserver.faults.operators.places import filter_columns
from hookproof.mockserver.faults.support.altered_pages import with_pagination
from hookproof.mockserver.store.keyset_paging import Listing
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Match

# A value of a filter, and what a resource may have in that field.
_PAIRS: Final = (
    ("one", "one"),
    ("one", "one and more"),
    ("one", "more and one"),
    ("one", "One"),
    ("one", "More and One"),
    ("one", "two"),
)
_OTHERWISE: Final = {
    "whole": Match.EXACT,
    "start": Match.PREFIX,
    "part": Match.SUBSTRING,
    "part_in_any_case": Match.SUBSTRING_ANY_CASE,
}
# Where the value holds the sign, it stands for any text, or for any character.
_WILDCARDS: Final = {
    "percent": ("%", "{column} LIKE replace(:{column}, '_', '\\_') ESCAPE '\\'"),
    "underscore": ("_", "{column} LIKE replace(:{column}, '%', '\\%') ESCAPE '\\'"),
    "star": ("*", "{column} GLOB replace(:{column}, '?', '[?]')"),
}


def _joined_by_or(place: Place, _parameters: Parameters, _dialect: Dialect) -> Alteration | None:
    if place.kind is not PlaceKind.LIST:
        return None
    return Alteration(
        part=partial(_filters_joined_by_or, TABLES[place.operation]),
        violates=violated_by_list(place.operation, "filter_leaves_only filter_on_every_page"),
    )


def _filters_joined_by_or(table: str) -> type:
    class FiltersJoinedByOr(Listing):
        def _where(self, filtered: tuple[str, ...], started: bool, upwards: bool) -> str:
            if self._table != table or len(filtered) < 2:
                return super()._where(filtered, started, upwards)
            each = [
                f"({super(FiltersJoinedByOr, self)._where((name,), False, upwards)})"
                for name in filtered
            ]
            return f"({' OR '.join(each)}) AND {super()._where((), started, upwards)}"

    return FiltersJoinedByOr


def _at_filters(
    alter: Callable[[str], AlterQuery],
    *laws: str,
    further: str = "",
    excuse: Callable[[Place, Dialect], str] = lambda _place, _dialect: "",
) -> Any:
    """A defect of the queries with one filter."""

    def defect(place: Place, _parameters: Parameters, dialect: Dialect) -> Alteration | None:
        if place.kind is not PlaceKind.FILTER:
            return None
        column = filter_columns(place.operation, dialect)[place.path[0]]
        broken = [*(f"{law}.{column}" for law in laws), "filter_on_every_page", further]
        return Alteration(
            part=partial(altered_pager, place.operation, query=alter(column)),
            violates=violated_by_list(place.operation, " ".join(broken)),
            equivalent=excuse(place, dialect),
        )

    return defect


def _compares_words(place: Place, dialect: Dialect) -> str:
    """Why nobody can tell that the spaces around a value do not count."""
    if place.operation == "listSources":
        return "the words by which sources are filtered have no spaces around them"
    match = _match(filter_columns(place.operation, dialect)[place.path[0]], dialect)
    whole = match.matches("one", "one") and not match.matches("one", " one ")
    return "" if whole else "a part of a text is looked for, which need not begin with a space"


def _ignore(column: str) -> AlterQuery:
    return lambda _pager, _project, query: changed_query(
        query, filters={name: value for name, value in query.filters.items() if name != column}
    )


def _forget(column: str) -> AlterQuery:
    ignore = _ignore(column)
    return lambda pager, project, query: (
        query if query.start is None else ignore(pager, project, query)
    )


def _trimmed(column: str) -> AlterQuery:
    return lambda _pager, _project, query: changed_query(
        query,
        filters={
            name: value.strip() if name == column else value
            for name, value in query.filters.items()
        },
    )


def _matched_otherwise(place: Place, given: Parameters, dialect: Dialect) -> Alteration | None:
    if place.kind is not PlaceKind.FILTER:
        return None
    column = filter_columns(place.operation, dialect)[place.path[0]]
    right, wrong = _match(column, dialect), _OTHERWISE[given["how"]]
    more = any(wrong.matches(*pair) and not right.matches(*pair) for pair in _PAIRS)
    less = any(right.matches(*pair) and not wrong.matches(*pair) for pair in _PAIRS)
    broken = f"filter_leaves_only.{column} filter_on_every_page" if more else ""
    broken += f" filter_leaves_out_none.{column}" if less else ""
    return Alteration(
        part=partial(_listing_with_match, TABLES[place.operation], column, wrong),
        violates=violated_by_list(place.operation, broken),
        equivalent="" if broken else "the dialect compares so",
    )


def _match(column: str, dialect: Dialect) -> Match:
    rules = dialect.paging
    matches = {"owner_id": rules.owner_match.value, "name": rules.name_match.value}
    return matches.get(column, Match.EXACT)


def _listing_with_match(table: str, column: str, how: Match) -> type:
    class OtherwiseMatched(Listing):
        def __init__(
            self,
            database: Any,
            own_table: str,
            *columns: Any,
            matches: Mapping[str, Match],
            **further: Any,
        ) -> None:
            if own_table == table:
                matches = {**matches, column: how}
            super().__init__(database, own_table, *columns, matches=matches, **further)

    return OtherwiseMatched


def _with_wildcards(place: Place, given: Parameters, dialect: Dialect) -> Alteration | None:
    if place.kind is not PlaceKind.FILTER:
        return None
    column = filter_columns(place.operation, dialect)[place.path[0]]
    part = partial(_listing_with_wildcards, TABLES[place.operation], column, given["sign"])
    violates = violated_by_list(place.operation, f"filter_leaves_only.{column}")
    return Alteration(part=part, violates=violates)


def _listing_with_wildcards(table: str, column: str, word: str) -> type:
    sign, condition = _WILDCARDS[word]
    wild = f"(instr(:{column}, '{sign}') AND {condition.format(column=column)})"

    class WildcardsTaken(Listing):
        def _where(self, filtered: tuple[str, ...], started: bool, upwards: bool) -> str:
            where = super()._where(filtered, started, upwards)
            if self._table != table or column not in filtered:
                return where
            others = tuple(name for name in filtered if name != column)
            return f"({where}) OR ({super()._where(others, started, upwards)} AND {wild})"

    return WildcardsTaken


def _filter_after_cut(place: Place, _parameters: Parameters, dialect: Dialect) -> Alteration | None:
    if place.kind is not PlaceKind.FILTER:
        return None
    column = filter_columns(place.operation, dialect)[place.path[0]]
    part = partial(_filtered_pages, TABLES[place.operation], column, _match(column, dialect))
    # The last page may be an empty one, and the page before it reports it.
    violates = violated_by_list(place.operation, "promised_page empty_page next_page")
    return Alteration(part=part, violates=violates)


def _filtered_pages(table: str, column: str, how: Match) -> type:
    class FilteredAfterCut(Pager):
        def page(self, project: str, query: Query) -> ListPage:
            wanted = query.filters.get(column)
            if self._listing.name != table.encode() or wanted is None:
                return super().page(project, query)
            page = super().page(project, _ignore(column)(self, project, query))
            cursors = {
                name: self._encode_cursor(page.rows[at], query)
                for name, at in (("next_page_cursor", -1), ("prev_page_cursor", 0))
                if page.pagination[name] is not None
            }
            rows = [
                row
                for row in page.rows
                if how.matches(wanted, msgspec.json.decode(row[-1]).get(column) or "")
            ]
            return with_pagination(msgspec.structs.replace(page, rows=rows), **cursors)

    return FilteredAfterCut


_operator: Final = operators_of(GROUP)
OPERATORS: Final = (
    _operator(
        "filter_ignored",
        "A filter is ignored",
        "filters",
        _at_filters(_ignore, "filter_leaves_only"),
    ),
    _operator(
        "filter_forgotten",
        "From the second page on a filter is forgotten",
        "filters",
        _at_filters(_forget, "filter_leaves_only", further="first_page back_again"),
    ),
    _operator(
        "filter_trimmed",
        "The value of a filter loses the spaces around it",
        "filters",
        _at_filters(
            _trimmed, "filter_leaves_only", "filter_leaves_out_none", excuse=_compares_words
        ),
    ),
    _operator(
        "filter_matched_otherwise",
        "A filter compares by whole, by start, by part or in any case",
        "filters",
        _matched_otherwise,
        *({"how": how} for how in _OTHERWISE),
    ),
    _operator(
        "filter_with_wildcards",
        "A sign in the value of a filter stands for any text",
        "filters",
        _with_wildcards,
        *({"sign": sign} for sign in _WILDCARDS),
    ),
    _operator(
        "filter_after_cut",
        "A filter is applied after the page was cut",
        "filters",
        _filter_after_cut,
    ),
    _operator("filters_joined_by_or", "Two filters are joined by or", "lists", _joined_by_or),
)
