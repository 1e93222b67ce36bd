"""Operators on pages: their edges, flags, sizes and order, and what a page's size cuts off."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.paging import ListPage, Pager, Query
from hookproof.mockserver.faults.operators.altered_fields import alter_place
from hookproof.mockserver.faults.operators.kinds.altered_lists import (
    GROUP,
    AlterPage,
    altered_pager,
    changed_query,
)
from hookproof.mockserver.faults.operators.laws import requirements_of, violated_by_list
from hookproof.mockserver.faults.operators.operator import Alteration, Parameters, operators_of
from hookproof.mockserver.faults.operators.place import Place, PlaceKind
from hookproof.mockserver.faults.support.altered_pages import with_pagination
from hookproof.mockserver.faults.support.altered_responses import BROADCAST, ON_PORTAL_LINKS, Object
from hookproof.mockserver.store.endpoints import EndpointRow, EndpointTable
from hookproof.mockserver.store.keyset_paging import Position, Span
from hookproof.spec.dialect.model import Dialect

# The rows that have the same sort key, where times are compared by the second.
_TIED: Final = """SELECT seq FROM {table} AS tied WHERE project = :project AND seq != :seq AND (
        tied.name = :name
        OR (:name = '' AND {second} = (SELECT {second} FROM {table} AS tied WHERE seq = :seq)))"""
_SECOND: Final = """substr(json_extract(CAST(tied.document AS TEXT), '$.created_at'), 1,
    iif(json_extract(CAST(tied.document AS TEXT), '$.created_at') LIKE '%-%', 19, 10))"""


# What a list breaks that loses resources between its pages.
_LOST_ON_THE_WAY: Final = (
    "promised_page last_page back_again page_sizes_agree next_page previous_page"
    " filter_leaves_out_none opposite_orders listed"
)
_SHOWN_TWICE: Final = "later_page back_again shown_once page_sizes_agree next_page previous_page"
_BACKWARDS: Final = "back_again previous_page"
_ORDER: Final = "opposite_orders default_order sort_key"
_FLAGS: Final = {
    ("has_next_page", "true"): "promised_page empty_page",
    ("has_next_page", "false"): "last_page",
    ("has_prev_page", "true"): "first_page",
    ("has_prev_page", "false"): "later_page",
}


def _pages(laws: str, **alter: Any) -> Any:
    """A defect of all pages of a list."""

    def defect(place: Place, _parameters: Parameters, _dialect: Dialect) -> Alteration | None:
        if place.kind is not PlaceKind.LIST:
            return None
        part = partial(altered_pager, place.operation, **alter)
        return Alteration(part=part, violates=violated_by_list(place.operation, laws))

    return defect


def _by_parameter(name: str, defects: Mapping[str, Any]) -> Any:
    """One defect for each value of a parameter."""

    def defect(place: Place, given: Parameters, dialect: Dialect) -> Alteration | None:
        chosen: Alteration | None = defects[given[name]](place, given, dialect)
        return chosen

    return defect


def _after_ties(pager: Pager, project: str, query: Query) -> Query:
    """Goes on behind all that have the sort key of the last one shown."""
    tied = _tied(pager, project, query)
    if query.start is None or not tied:
        return query
    upwards = query.ascending is not query.backwards
    seq = max(query.start.seq, *tied) if upwards else min(query.start.seq, *tied)
    return changed_query(query, start=Position(name=query.start.name, seq=seq))


def _before_tie(pager: Pager, project: str, query: Query) -> Query:
    """Goes on with the last one shown, if another has its sort key."""
    if query.start is None or not _tied(pager, project, query):
        return query
    step = -1 if query.ascending is not query.backwards else 1
    return changed_query(query, start=Position(name=query.start.name, seq=query.start.seq + step))


def _tied(pager: Pager, project: str, query: Query) -> list[int]:
    listing = pager._listing  # noqa: SLF001  a fault reaches where the server does
    if query.start is None:
        return []
    statement = _TIED.format(table=listing._table, second=_SECOND)  # noqa: SLF001
    named = {"project": project, "seq": query.start.seq, "name": query.start.name}
    return [seq for (seq,) in listing._database.read(statement, named)]  # noqa: SLF001


def _one_further_back(pager: Pager, project: str, query: Query) -> Query:
    if query.start is None or not query.backwards:
        return query
    listing = pager._listing  # noqa: SLF001
    rows = listing.rows(
        Span(
            project=project,
            filters=query.filters,
            start=query.start,
            upwards=not query.ascending,
            limit=1,
        )
    )
    return changed_query(query, start=listing.position_of(rows[0][0])) if rows else query


def _edge_lost(edge: str) -> AlterPage:
    def alter(_pager: Pager, page: ListPage, query: Query) -> ListPage:
        if query.start is None or query.backwards or len(page.rows) < 2:
            return page
        rows = page.rows[1:] if edge == "first" else page.rows[:-1]
        return msgspec.structs.replace(page, rows=rows)

    return alter


def _reversed_back(_pager: Pager, page: ListPage, query: Query) -> ListPage:
    is_back = query.backwards and query.start is not None
    return msgspec.structs.replace(page, rows=page.rows[::-1]) if is_back else page


def _flag(name: str, value: str) -> AlterPage:
    return lambda _pager, page, _query: with_pagination(page, **{name: value == "true"})


def _flag_lies(place: Place, given: Parameters, dialect: Dialect) -> Alteration | None:
    flag, value = given["flag"], given["always"]
    defect = _pages(_FLAGS[flag, value], page=_flag(flag, value))
    made: Alteration | None = defect(place, given, dialect)
    return made


def _one_more(_pager: Pager, _project: str, query: Query) -> Query:
    return changed_query(query, per_page=query.per_page + 1)


def _size_as_asked(_pager: Pager, page: ListPage, query: Query) -> ListPage:
    return with_pagination(page, per_page=query.per_page - 1)


def _default_size(pager: Pager, _project: str, query: Query) -> Query:
    rules = pager._rules  # noqa: SLF001
    return changed_query(query, per_page=rules.default_per_page.value)


def _never_ascending(_pager: Pager, _project: str, query: Query) -> Query:
    return changed_query(query, ascending=False)


def _always_ascending(_pager: Pager, _project: str, query: Query) -> Query:
    return changed_query(query, ascending=True)


def _order_forgotten(_pager: Pager, _project: str, query: Query) -> Query:
    return query if query.start is None else changed_query(query, ascending=False)


def _first_ones_alone(place: Place, given: Parameters, _dialect: Dialect) -> Alteration | None:
    """What a query with the page size of a list leaves out, where all are wanted."""
    most = int(given["most"])
    if place.kind is PlaceKind.WRITTEN and place.operation == BROADCAST:
        violates = requirements_of("delivered reached")
        return Alteration(part=partial(_reaches_few, most), violates=violates)
    if place.kind is not PlaceKind.ANSWER or place.operation not in ON_PORTAL_LINKS:
        return None
    shown = Place(operation=place.operation, kind=PlaceKind.SHOWN, path=("endpoints_metadata",))

    def cut(resource: Object) -> None:
        for name in ("endpoints", "endpoints_metadata"):
            if isinstance(resource.get(name), list):
                resource[name] = resource[name][:most]
        if isinstance(resource.get("endpoint_count"), int):
            resource["endpoint_count"] = min(resource["endpoint_count"], most)

    return Alteration(
        part=partial(alter_place, shown, cut),
        violates=requirements_of("members_complete"),
    )


def _reaches_few(most: int) -> type:
    class FewReached(EndpointTable):
        def find_reached(self, project: str, **further: Any) -> list[EndpointRow]:
            return super().find_reached(project, **further)[:most]

    return FewReached


_operator: Final = operators_of(GROUP)
OPERATORS: Final = (
    _operator(
        "ties_lost_or_doubled",
        "At the edge of a page what has the same sort key, or second, is lost or doubled",
        "lists",
        _by_parameter(
            "how",
            {
                "lost": _pages(_LOST_ON_THE_WAY, query=_after_ties),
                "doubled": _pages(_SHOWN_TWICE, query=_before_tie),
            },
        ),
        *({"how": "lost"}, {"how": "doubled"}),
    ),
    _operator(
        "edge_lost",
        "A later page lacks the resource at its edge",
        "lists",
        _by_parameter(
            "edge",
            {edge: _pages(_LOST_ON_THE_WAY, page=_edge_lost(edge)) for edge in ("first", "last")},
        ),
        *({"edge": "first"}, {"edge": "last"}),
    ),
    _operator(
        "prev_off_by_one",
        "The page before begins one resource too early",
        "lists",
        _pages(f"{_BACKWARDS} empty_page", query=_one_further_back),
    ),
    _operator(
        "prev_reversed",
        "The page before is in reverse order",
        "lists",
        _pages(_BACKWARDS, page=_reversed_back),
    ),
    _operator(
        "flag_lies",
        "A flag of the pagination is always the same",
        "lists",
        _flag_lies,
        *(
            {"flag": flag, "always": value}
            for flag in ("has_next_page", "has_prev_page")
            for value in ("true", "false")
        ),
    ),
    _operator(
        "page_size_mistaken",
        "A page holds one more than it says, or has the default size whatever is asked for",
        "lists",
        _by_parameter(
            "how",
            {
                "one_more": _pages(
                    "page_size_told page_size", query=_one_more, page=_size_as_asked
                ),
                "default": _pages("page_size", query=_default_size),
            },
        ),
        *({"how": "one_more"}, {"how": "default"}),
    ),
    _operator(
        "order_mistaken",
        "The order is always one of the two, or is forgotten from the second page on",
        "lists",
        _by_parameter(
            "how",
            {
                "descending": _pages(_ORDER, query=_never_ascending),
                "ascending": _pages(_ORDER, query=_always_ascending),
                "forgotten": _pages(
                    f"{_ORDER} {_LOST_ON_THE_WAY} {_SHOWN_TWICE}", query=_order_forgotten
                ),
            },
        ),
        *({"how": how} for how in ("descending", "ascending", "forgotten")),
    ),
    _operator(
        "first_ones_alone",
        "Of what belongs together only the first ones are found",
        "the fan-out of broadcasts, and the endpoints of portal links",
        _first_ones_alone,
        *({"most": "20"}, {"most": "100"}),
    ),
)
