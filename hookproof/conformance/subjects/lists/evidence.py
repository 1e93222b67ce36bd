"""What was asked of lists, and what their pages show (sections 2.2, 4.4, 4.7 and 8)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hookproof.conformance.model.evidence import Exchange, NotExaminedError, Observation
from hookproof.conformance.observations.answer import (
    items,
    pagination,
    refused,
    shows_a_list,
    shows_every_uid,
)
from hookproof.conformance.observations.mistakes import ORDINARY
from hookproof.conformance.observations.succeeding_requests import SucceedingRequests
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Match

LINKS: Final = "listPortalLinks"
SOURCES: Final = "listSources"

# The role of an ordinary request that is sent before the one that is tried.
ORDINARY_BEFORE: Final = f"{ORDINARY}, before"

Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page: its exchange, and the resources and the pagination object that it shows.

    Without such an object `pagination` is empty, which 2.2-2 judges.
    """

    exchange: Exchange
    items: tuple[Item, ...]
    pagination: Mapping[str, Any]

    @property
    def uids(self) -> tuple[str, ...]:
        """The identifiers of its resources, in order."""
        return _uids(self.items)

    @property
    def leads_on(self) -> bool:
        """Whether it reports a next page and has a cursor for it."""
        cursor = self.pagination.get("next_page_cursor")
        return self.pagination.get("has_next_page") is True and bool(cursor)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListWalk(SucceedingRequests):
    """A walk forward until no page follows, in the order `sort`, in pages of `per_page`.

    `listed` is the whole list in descending order, as a walk of its own showed it without sort and
    filter, with the fields that are compared. Where that is too long to be walked, it is what one
    filter leaves of it, and `within` is whether this walk has that filter. `complete` is whether
    the walk ended within its bounds.
    """

    operation_id: str
    sort: str | None
    per_page: int | None
    filter: Mapping[str, str] | None
    listed: tuple[Item, ...]
    complete: bool
    within: bool = False

    @property
    def leaves_out(self) -> bool:
        """Whether a filter leaves out some of what is listed."""
        return bool(self.filter) and not self.within

    @property
    def listed_uids(self) -> tuple[str, ...]:
        """The identifiers of all that is listed, in its order."""
        return _uids(self.listed)

    @property
    def steps(self) -> Iterator[tuple[Exchange, Exchange]]:
        """The requests with the cursor of a page, each after that page."""
        page: Exchange | None = None
        for exchange in self.exchanges:
            if exchange.role in ("page", "back") and page is not None:
                yield page, exchange
            if exchange.role == "page":
                page = exchange

    @property
    def judged_elsewhere(self) -> tuple[Exchange, ...]:
        """The steps of a walk, of which sections 4.4 and 4.7 speak, and two filters at once, of
        which no sentence speaks.
        """
        if len(self.filter or {}) > 1:
            return tuple(filter(refused, self.exchanges))
        return tuple(step for _, step in self.steps if refused(step))

    def walked(self) -> "WalkedPages | None":
        """The pages up to the first that could not be read, or that shows a resource that cannot
        be told from others (2.6-1 and 2.7-1 judge that); None if that is the first of all.
        """
        pages: list[Page] = []
        stepped_back: list[tuple[Page, Page]] = []
        complete = self.complete
        for exchange in self.exchanges:
            page = _page(exchange)
            if exchange.role == "page":
                if page is None:
                    complete = False
                    break
                pages.append(page)
            elif exchange.role == "back" and page is not None and len(pages) > 1:
                stepped_back.append((pages[-2], page))
        if not pages:
            return None
        return WalkedPages(
            asked=self, complete=complete, pages=tuple(pages), stepped_back=tuple(stepped_back)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkedPages:
    """The pages of a walk in the order in which they were requested.

    `stepped_back` pairs a page with what stepping back from the one after it showed. `complete` is
    false for a walk that was broken off, or that has a page that could not be read.
    """

    asked: ListWalk
    complete: bool
    pages: tuple[Page, ...]
    stepped_back: tuple[tuple[Page, Page], ...]

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Those of going forward."""
        return tuple(page.exchange for page in self.pages)

    @property
    def items(self) -> tuple[Item, ...]:
        """All resources on the pages of going forward, in order."""
        return tuple(item for page in self.pages for item in page.items)

    @property
    def uids(self) -> tuple[str, ...]:
        """The identifiers of these resources."""
        return _uids(self.items)


def _uids(listed: tuple[Item, ...]) -> tuple[str, ...]:
    return tuple(str(item.get("uid")) for item in listed)


def _page(exchange: Exchange) -> Page | None:
    if not shows_a_list(exchange) or not shows_every_uid(exchange):
        return None
    return Page(exchange=exchange, items=items(exchange), pagination=pagination(exchange))


@dataclass(frozen=True, slots=True, kw_only=True)
class PageWalk(ListWalk):
    """A walk while nothing changes; from each page one step leads back to the page before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkWithInserts(ListWalk):
    """A walk while resources are added between its pages.

    All of these are identifiers. `before` are those of the resources that had been there, `still`
    those that the same walk showed just before, with nothing added, and `made` those of the
    resources that were added, None for one without uid.
    """

    before: tuple[str, ...]
    still: tuple[str, ...]
    made: tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterTerm:
    """The field that a filter compares, how it compares, and the value that was requested."""

    field: str
    match: Answer[Match]
    wanted: str

    def passes(self, item: Item) -> bool:
        """Whether a resource passes the filter by what it shows."""
        return self.match.value.matches(self.wanted, str(item.get(self.field) or ""))


def filters_of(walk: ListWalk, dialect: Dialect) -> list[FilterTerm]:
    """The filters of a walk, which all hold at once.

    Raises NotExaminedError if the list was filtered by a parameter of another dialect.
    """
    terms: list[FilterTerm] = []
    for parameter, wanted in (walk.filter or {}).items():
        compared = (
            (parameter, Answer((Match.EXACT,)))
            if walk.operation_id == SOURCES
            else dialect.paging.filtered_by(parameter)
        )
        if compared is None:
            raise NotExaminedError(
                f"the list was filtered by {parameter!r}, which is not a filter of the dialect"
                f" {dialect.name}"
            )
        terms.append(FilterTerm(field=compared[0], match=compared[1], wanted=wanted))
    return terms


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRequest(Observation):
    """One request for a list, with `query` as it was sent."""

    operation_id: str
    query: Mapping[str, str]

    @property
    def tried(self) -> Exchange | None:
        return self.exchange("tried")


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultPageSize(ListRequest):
    """A request without perPage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LargestPageSize(ListRequest):
    """A request with the largest perPage that the dialect accepts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedPage(ListRequest):
    """A request with a parameter, and the same one with an ordinary value or without it: before
    and after, since a list may change meanwhile.
    """

    @property
    def ordinary(self) -> Exchange | None:
        """The later one of them."""
        return self.exchange(ORDINARY)

    @property
    def ordinary_before(self) -> Exchange | None:
        return self.exchange(ORDINARY_BEFORE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSizeAboveMaximum(ComparedPage):
    """A request with one more than the largest perPage, and with the largest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableParameter(ComparedPage):
    """A request with a parameter that cannot be read, and without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackFromNowhere(ListRequest):
    """A request with direction=prev and no cursor, for one resource of a list with several.

    `first` and `last` are the uids of the first and the last of them.
    """

    first: str
    last: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NearFilter(ListRequest):
    """A resource, the list filtered by the value of its `field`, and by one that is near to it.

    `near` says how the value in `query` differs: a part, a prefix, another case, or a pattern.
    Sources are filtered by an unrelated word, too: what is no word of a service may be ignored.
    """

    field: str
    near: str

    @property
    def retrieved(self) -> Exchange | None:
        """The portal link itself, or the list of all sources."""
        return self.exchange("retrieve")

    @property
    def control(self) -> Exchange | None:
        """The list filtered by the value itself."""
        return self.exchange("control")

    @property
    def unrelated(self) -> Exchange | None:
        """The list filtered by what is near to no value; None where any text is a value."""
        return self.exchange("unrelated")
