"""Sections 2.2, 4.4 and 4.7: what a filter must not find, and pages without anything."""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, judged
from hookproof.conformance.observations.answer import (
    LISTS,
    cursor,
    has_value,
    items,
    pagination,
    shown,
)
from hookproof.conformance.observations.lists.filters import NearFilter
from hookproof.spec.dialect.model import PORTAL_LINK_FILTERS, Dialect

NEXT: Final = "next_page_cursor"
PREV: Final = "prev_page_cursor"

ONLY_MATCHES: Final = {
    "owner_id": "4.4-9",
    "name": "4.4-11",
    "provider": "4.7-9",
    "type": "4.7-11",
}


@check(*ONLY_MATCHES.values())
def a_filter_does_not_find_what_is_only_near(
    observed: NearFilter, context: CheckContext
) -> Iterator[Judgement]:
    """Judged where the value itself is found; to find nothing at all is another defect.

    A service that ignores a word that it does not know, as an unrelated one shows, filters nothing
    there.
    """
    tried, control, retrieved = observed.tried, observed.control, observed.retrieved
    if tried is None or control is None or retrieved is None or not _is_list(tried):
        return
    if observed.field in PORTAL_LINK_FILTERS:  # the document names those of sources
        context.require_same_rules("filters", lambda dialect: _filter(dialect, observed.field))
    near = _only_near(observed, retrieved)
    is_ignored = observed.unrelated is not None and not near.isdisjoint(_uids(observed.unrelated))
    if is_ignored or near.isdisjoint(_uids(control)):
        return
    yield judged(
        near.isdisjoint(_uids(tried)),
        ONLY_MATCHES[observed.field],
        f"A filter lets through a resource that does not match: {observed.near} of its"
        f" {observed.field} was asked for",
        expected=f"only matches of {dict(observed.query)}",
        actual=_values(tried, observed.field),
        exchanges=[control, tried],
    )


@check("2.2-18")
def a_page_without_resources_reports_no_next_one(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """Clients that end at an empty page would miss what follows, and others may never end: those
    that go on as long as there is a cursor. From before the first page one may lead forward.
    """
    if exchange.operation_id in LISTS and _is_list(exchange):
        claimed = pagination(exchange).get("has_next_page")
        leads_on = has_value(cursor(exchange, NEXT)) and not _goes_back(exchange)
        if not shown(exchange)["content"] and isinstance(claimed, bool):
            yield judged(
                not claimed and not leads_on,
                "2.2-18",
                "A page shows no resource and reports a next one",
                expected="no next page and no cursor of one, or resources on this one",
                actual=dict(pagination(exchange)),
                exchanges=[exchange],
            )


def _goes_back(page: Exchange) -> bool:
    """Whether a page was asked for as one before another."""
    query = parse_qs(urlsplit(page.url).query)
    return "prev" in query.get("direction", ()) or PREV in query


def _filter(dialect: Dialect, field: str) -> tuple[object, ...]:
    name = PORTAL_LINK_FILTERS[field]
    return tuple(getattr(dialect.paging, f"{name}_{part}") for part in ("filter", "match"))


def _is_list(exchange: Exchange) -> bool:
    return isinstance(shown(exchange).get("content"), list)


def _only_near(observed: NearFilter, retrieved: Exchange) -> set[str]:
    """The uids of what was retrieved, one by one or in a list, and has not the value asked for."""
    return {
        resource["uid"]
        for resource in items(retrieved) or [shown(retrieved)]
        if isinstance(resource.get("uid"), str)
        and resource.get(observed.field) not in observed.query.values()
    }


def _uids(page: Exchange) -> list[str]:
    return [uid for item in items(page) if isinstance(uid := item.get("uid"), str)]


def _values(page: Exchange, field: str) -> list[Any]:
    return [item.get(field) for item in items(page)]
