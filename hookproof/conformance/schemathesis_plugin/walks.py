"""Walks over the pages of lists, each request of which is one that Schemathesis sends.

Three of four valid requests for a list get the query of the next step of a walk: from page to page
until none follows, with a step back from each. The first walk is without perPage; what it shows is
what later ones, in small pages and in both orders, are compared with. As in a run of `hookproof
check`, nobody else changes what is listed meanwhile.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from math import ceil
from threading import Lock
from typing import Any, Final

from hookproof.conformance.experiments.support.existing_resources import NEXT, PREVIOUS
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import pagination, was_successful
from hookproof.conformance.schemathesis_plugin.creations import new_word
from hookproof.conformance.subjects.lists.evidence import LINKS, Item, PageWalk
from hookproof.conformance.subjects.lists.walks import filters_of_list
from hookproof.spec.dialect.model import Dialect

EXPERIMENT: Final = "schemathesis"
FLAGS: Final = ("has_next_page", "has_prev_page")
# The most pages of a walk.
LONGEST: Final = 12
# A size of pages that every service takes, where none is known.
CERTAIN: Final = 10
# Of so many requests for a list the first one stays as it was generated.
AS_GENERATED: Final = 4


@dataclass(slots=True)
class Walk:
    """A walk so far, and the request of its next step: the role and the query of it."""

    asked: Mapping[str, Any]
    filter: Mapping[str, str] | None = None
    role: str = "page"
    step: Mapping[str, Any] = field(default_factory=dict)
    exchanges: list[Exchange] = field(default_factory=list)


@dataclass(slots=True)
class Walks:
    """The walk over each list, one at a time, and what the first one has shown; all of it by the
    operation.
    """

    dialect: Dialect
    _walks: dict[str, Walk] = field(default_factory=dict)
    _on_the_way: dict[str, tuple[str, Walk]] = field(default_factory=dict)
    _listed: dict[str, tuple[Item, ...]] = field(default_factory=dict)
    _asked: Counter[str] = field(default_factory=Counter)
    _walked: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def query(self, request_id: str, operation_id: str) -> Mapping[str, Any] | None:
        """What to ask a list for in place of a valid query; None to ask for that."""
        with self._lock:
            self._asked[operation_id] += 1
            if self._asked[operation_id] % AS_GENERATED == 1:
                return None
            if self._on_the_way.pop(operation_id, None) is not None:  # no answer came
                self._walks.pop(operation_id, None)
            if operation_id not in self._walks:
                self._walks[operation_id] = self._next_walk(operation_id)
            walk = self._walks[operation_id]
            self._on_the_way[operation_id] = (request_id, walk)
            return {**walk.asked, **(walk.filter or {}), **walk.step}

    def forget_links(self) -> None:
        """Begin again with portal links, one of which is about to be changed."""
        with self._lock:
            self._walks.pop(LINKS, None)
            self._listed.pop(LINKS, None)

    def add(self, request_id: str, exchange: Exchange) -> PageWalk | None:
        """The walk up to the answer to one of its requests; None if this is none of them, or if
        something was changed since.
        """
        operation_id = exchange.operation_id or ""
        with self._lock:
            waiting, walk = self._on_the_way.get(operation_id, ("", None))
            if walk is None or waiting != request_id:
                return None
            del self._on_the_way[operation_id]
            if self._walks.get(operation_id) is not walk:
                return None
            if was_successful(exchange) and not _has_flags(exchange):
                del self._walks[operation_id]  # 2.2-3 and 2.2-4 judge that
                return None
            walk.exchanges.append(replace(exchange, role=walk.role))
            ended = self._go_on(walk)
            if ended is not None:
                del self._walks[operation_id]
                self._walked[operation_id] += bool(walk.asked or walk.filter)
            observed = PageWalk(
                experiment=EXPERIMENT,
                name=operation_id,
                exchanges=tuple(walk.exchanges),
                operation_id=operation_id,
                sort=walk.asked.get("sort"),
                per_page=walk.asked.get("perPage"),
                filter=walk.filter,
                listed=self._listed.get(operation_id, ()),
                complete=ended is True,
            )
            pages = observed.walked()
            if ended and pages is not None and pages.complete and operation_id not in self._listed:
                self._listed[operation_id] = pages.items
                observed = replace(observed, listed=pages.items)
            return observed

    def _next_walk(self, operation_id: str) -> Walk:
        """The next walk: all of the list, then with filters and in pages in turn."""
        listed = self._listed.get(operation_id)
        if listed is None:
            return Walk({})
        filters = filters_for(self.dialect, operation_id, listed)
        sizes = [size for size in self.dialect.paging.maximum_per_page.allowed if size is not None]
        largest = min(sizes, default=CERTAIN)
        plain = [Walk({}, terms) for terms, _ in filters]
        ascending = [
            Walk({"perPage": max(1, min(ceil(matches / 2), largest)), "sort": "ASC"}, terms)
            for terms, matches in filters
        ]
        pages = [Walk(query) for query in queries_for(len(listed), largest)]
        rounds = zip_longest(plain[::2], plain[1::2], pages, ascending)
        planned = [walk for each in rounds for walk in each if walk is not None]
        return planned[self._walked[operation_id] % len(planned)]

    @staticmethod
    def _go_on(walk: Walk) -> bool | None:
        """Set the next step; or whether the walk has ended with the last page, if it has ended."""
        pages = [each for each in walk.exchanges if each.role == "page"]
        latest, page = walk.exchanges[-1], pages[-1]
        if not was_successful(latest):
            return False
        shown = pagination(page)
        back, forward = shown.get(PREVIOUS), shown.get(NEXT)
        if latest is page and len(pages) > 1 and isinstance(back, str) and back:
            walk.role, walk.step = "back", {"direction": "prev", PREVIOUS: back}
            return None
        if shown.get("has_next_page") is not True:
            return shown.get("has_next_page") is False
        if not isinstance(forward, str) or not forward or len(pages) == LONGEST:
            return False
        walk.role, walk.step = "page", {"direction": "next", NEXT: forward}
        return None


def filters_for(
    dialect: Dialect, operation_id: str, listed: Sequence[Item]
) -> list[tuple[Mapping[str, str], int]]:
    """Filters, each with how many it matches: of each parameter the one that matches most, then the
    next ones.
    """
    found = filters_of_list(dialect, operation_id, listed, unknown=new_word("nobody"))
    earlier: Counter[str] = Counter()
    ranked = []
    for terms, matches in sorted(found, key=lambda each: -each[1]):
        ((parameter, value),) = terms.items()
        if value:
            ranked.append((earlier[parameter], terms, matches))
            earlier[parameter] += 1
    return [each[1:] for each in sorted(ranked, key=lambda each: each[0])]


def queries_for(total: int, largest: int) -> tuple[Mapping[str, Any], ...]:
    """What a list of so many resources is asked for in turn, in pages of at most `largest`: in
    three of them at first, and on a full one, since each page takes a request of Schemathesis.
    """
    return (
        {"perPage": max(2, min(ceil(total / 3), largest)), "sort": "ASC"},
        {"perPage": max(1, min(total, largest))},
        {"perPage": 1},
        {"perPage": 2},
        {"perPage": 1, "sort": "DESC"},
    )


def _has_flags(page: Exchange) -> bool:
    return all(isinstance(pagination(page).get(name), bool) for name in FLAGS)
