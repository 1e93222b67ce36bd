"""Base of faults that alter the pages of lists."""

from typing import Any

import msgspec

from hookproof.mockserver.api.paging import ListPage, Pager, Query


class AlteredPages(Pager):
    """Passes each page through `alter_page`."""

    def page(self, project: str, query: Query) -> ListPage:
        return self.alter_page(super().page(project, query), query)

    def alter_page(self, page: ListPage, query: Query) -> ListPage:
        return page


def with_pagination(page: ListPage, **members: Any) -> ListPage:
    """A page with other members of its pagination object."""
    return msgspec.structs.replace(page, pagination={**page.pagination, **members})
