"""Sections 4.4 and 4.7: filters leave exactly what matches, on every page."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, json_text, judged, not_applicable
from hookproof.conformance.observations.lists.walk import (
    FilterTerm,
    Page,
    PageWalk,
    WalkedPages,
    filters_of,
)
from hookproof.spec.dialect.model import PORTAL_LINK_FILTERS, Dialect

FILTER_PAGES: Final = {"listPortalLinks": "4.4-13", "listSources": "4.7-13"}
# The requirements that nothing else is listed and that nothing is left out, by the field that is
# filtered.
FILTERS: Final = {
    "owner_id": ("4.4-9", "4.4-10"),
    "name": ("4.4-11", "4.4-12"),
    "provider": ("4.7-9", "4.7-10"),
    "type": ("4.7-11", "4.7-12"),
}


@check(*chain.from_iterable(FILTERS.values()), *FILTER_PAGES.values())
def a_filter_leaves_exactly_what_matches_on_every_page(
    observed: PageWalk, context: CheckContext
) -> Iterator[Judgement]:
    """What is listed is judged by its fields, what is missing against the unfiltered list.

    What a sorted walk lacks may be the fault of its order (4.4-8), and what lies on further pages
    that of a cursor (2.2-10): a filter answers for the first page without sort. Of two filters
    nobody knows which one has left something out.
    """
    walk = observed.walked()
    if walk is not None and walk.operation_id == "listPortalLinks":
        yield from _not_offered(context.dialect)
    terms = filters_of(walk, context.dialect) if walk is not None else ()
    if walk is None or any(len(term.match.allowed) != 1 for term in terms):
        return
    further = [
        page for page in [*walk.pages[1:], *(back for _, back in walk.stepped_back)] if page.items
    ]
    for term in terms:
        nothing_else, nothing_left_out = FILTERS[term.field]
        yield _only_matches(walk, _telling(walk.pages, term), term, nothing_else)
        on_pages = FILTER_PAGES[walk.operation_id]
        if wrong := [page for page in further if _not_matching(page, term)]:
            for page in wrong:
                yield _only_matches(walk, [page], term, on_pages)
        elif further:
            yield _only_matches(walk, further, term, on_pages)
        if len(terms) == 1:
            yield from _all_matches(walk, term, nothing_left_out)


def _not_offered(dialect: Dialect) -> Iterator[Judgement]:
    """What the filters of portal links do, as far as the dialect has none."""
    lacking = dialect.paging.filters_not_offered
    for field in lacking:
        for requirement in FILTERS[field]:
            reason = f"The dialect has no filter of portal links by {field}."
            yield not_applicable(requirement, reason)
    if len(lacking) == len(PORTAL_LINK_FILTERS):
        requirement = FILTER_PAGES["listPortalLinks"]
        yield not_applicable(requirement, "The dialect has no filter of portal links.")


def _all_matches(walk: WalkedPages, term: FilterTerm, requirement: str) -> Iterator[Judgement]:
    wanted = {str(item["uid"]) for item in walk.listed if term.passes(item)}
    missing = sorted(wanted - set(walk.uids))
    if walk.complete and (not missing or (walk.sort is None and len(walk.pages) == 1)):
        yield judged(
            not missing,
            requirement,
            "A filter leaves out a resource that matches",
            expected=sorted(wanted),
            actual=walk.uids,
            exchanges=walk.exchanges(),
        )


def _telling(pages: Sequence[Page], term: FilterTerm) -> Sequence[Page]:
    """The pages that show whether a filter holds: the first if it does not there, or else those on
    which it does not, since what is wrong with these is the cursor (4.4-13, 4.7-13).
    """
    wrong = [page for page in pages if _not_matching(page, term)]
    return wrong[:1] if wrong[:1] == list(pages[:1]) else wrong or pages


def _not_matching(page: Page, term: FilterTerm) -> set[str]:
    return {str(item.get("uid")) for item in page.items if not term.passes(item)}


def _only_matches(
    walk: WalkedPages, pages: Sequence[Page], term: FilterTerm, requirement: str
) -> Judgement:
    not_matching = sorted(set[str]().union(*(_not_matching(page, term) for page in pages)))
    return judged(
        not not_matching,
        requirement,
        "A filter lets through a resource that does not match",
        expected=f"only matches of {json_text(dict(walk.filter))}",
        actual=f"also {json_text(not_matching)}",
        exchanges=[page.exchange for page in pages],
    )
