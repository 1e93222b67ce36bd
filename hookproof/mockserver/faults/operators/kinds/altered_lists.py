"""Pagers of one list that alter its queries or its pages."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from hookproof.mockserver.api.paging import ListPage, Pager, Query
from hookproof.mockserver.faults.support.altered_responses import LIST_PORTAL_LINKS, LIST_SOURCES

GROUP: Final = "lists"
TABLES: Final = {LIST_PORTAL_LINKS: "portal_links", LIST_SOURCES: "sources"}
AlterQuery = Callable[[Pager, str, Query], Query]
AlterPage = Callable[[Pager, ListPage, Query], ListPage]


def same_page(_pager: Pager, page: ListPage, _query: Query) -> ListPage:
    return page


def altered_pager(
    operation: str,
    *,
    query: AlterQuery = lambda _pager, _project, query: query,
    page: AlterPage = same_page,
) -> type:
    """A pager that alters the queries or the pages of one list."""
    table = TABLES[operation].encode()
    alter_query, alter_page = query, page

    class AlteredPager(Pager):
        def query(self, project: str, parameters: Mapping[str, list[str]]) -> Query:
            query = super().query(project, parameters)
            return alter_query(self, project, query) if self._listing.name == table else query

        def page(self, project: str, query: Query) -> ListPage:
            page = super().page(project, query)
            return alter_page(self, page, query) if self._listing.name == table else page

    return AlteredPager


def changed_query(query: Query, **members: Any) -> Query:
    return msgspec.structs.replace(query, **members)
