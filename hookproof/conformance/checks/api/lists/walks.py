"""Sections 2.2, 4.4 and 4.7: the laws that hold over the pages of a list.

A requirement of section 2.2 speaks of both lists, the others of one: the tables say which
requirement a law is for each of them.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.judgement import Judgement, json_text, judged, violated
from hookproof.conformance.observations.answer import refused
from hookproof.conformance.observations.lists.walk import PageWalk, WalkWithInserts

PORTAL_LINKS, SOURCES = "listPortalLinks", "listSources"

FORWARD: Final = {PORTAL_LINKS: "4.4-4", SOURCES: "4.7-4"}
BACKWARD: Final = {PORTAL_LINKS: "4.4-5", SOURCES: "4.7-5"}
SIZE: Final = {PORTAL_LINKS: "4.4-6", SOURCES: "4.7-6"}


@check("2.2-9", *FORWARD.values())
def a_page_that_claims_a_next_one_leads_to_it(
    observed: PageWalk, _context: CheckContext
) -> Iterator[Judgement]:
    """The cursor leads to resources, and to none that were on an earlier page.

    An empty page that leads on to others with resources is judged as such (2.2-18).
    """
    walk = observed.walked()
    if walk is None:
        return
    for number, (page, following) in enumerate(pairwise(walk.pages), start=2):
        if (
            following.leads_on
            and not following.items
            and any(later.items for later in walk.pages[number:])
        ):
            continue
        exchanges = [page.exchange, following.exchange]
        yield judged(
            bool(following.items),
            "2.2-9",
            "The cursor of a page that claims a next one leads to nothing",
            expected="resources",
            actual="an empty page",
            exchanges=exchanges,
        )
        repeated = set(following.uids) & set(page.uids)
        yield judged(
            bool(following.items) and not repeated,
            FORWARD[walk.operation_id],
            "Direction next does not lead to the page that follows",
            expected="resources that were not on the page before",
            actual=sorted(repeated) or "an empty page",
            exchanges=exchanges,
        )
    last = walk.pages[-1]
    if last.pagination.get("has_next_page") is True and not last.pagination.get("next_page_cursor"):
        yield violated(
            "2.2-9",
            "A page claims a next one but gives no cursor for it",
            expected="a cursor",
            actual=dict(last.pagination),
            exchanges=[last.exchange],
        )


@check(*FORWARD.values(), *BACKWARD.values())
def the_cursor_of_a_page_is_taken(
    observed: PageWalk, _context: CheckContext
) -> Iterator[Judgement]:
    """With the query of the page that showed it. A page whose resources cannot be told from others
    does not show that it is the one that follows.
    """
    walk = observed.walked()
    pages = [] if walk is None else [*walk.pages, *(back for _, back in walk.stepped_back)]
    readable = {id(page.exchange) for page in pages}
    for page, step in observed.steps:
        laws, which = (FORWARD, "next") if step.role == "page" else (BACKWARD, "previous")
        if refused(step) or id(step) in readable:
            yield judged(
                step.succeeded,
                laws[observed.operation_id],
                f"The cursor of a page that leads to the {which} one is refused",
                expected="a success",
                actual=step.status,
                exchanges=[page, step],
            )


@check("2.2-10")
def a_page_that_claims_no_next_one_is_the_last(
    observed: PageWalk, _context: CheckContext
) -> Iterator[Judgement]:
    """Walks in pages of all sizes end with the same resources met.

    What a sorted walk on one page lacks is lost by its order, which 4.4-8 judges.
    """
    walk = observed.walked()
    if walk is None or walk.leaves_out or not walk.complete:
        return
    listed, met = {str(item["uid"]) for item in walk.listed}, set(walk.uids)
    if listed != met and walk.sort is not None and len(walk.pages) == 1:
        return
    yield judged(
        listed == met,
        "2.2-10",
        "A walk ends before every resource of the list was on a page",
        expected=f"{len(listed | met)} resources in walks of every page size",
        actual=f"{len(met)} in this walk, {len(listed)} in one without perPage",
        exchanges=walk.exchanges(),
    )


@check("2.2-10")
def a_page_that_was_stepped_back_to_claims_the_next_one(
    observed: PageWalk, _context: CheckContext
) -> Iterator[Judgement]:
    """It is not the last: one came from there. Whether it is the page that one came from is judged
    by 2.2-13, and what it claims follows from that.
    """
    walk = observed.walked()
    for page, back in walk.stepped_back if walk else ():
        if back.items and back.pagination:
            claimed = back.pagination.get("has_next_page")
            yield judged(
                claimed is True,
                "2.2-10",
                "A page that one stepped back to claims no next one",
                expected=True,
                actual=claimed,
                exchanges=[page.exchange, back.exchange],
            )


@check("2.2-11")
def the_first_page_claims_no_previous_one_when_stepped_back_to(
    observed: PageWalk, _context: CheckContext
) -> Iterator[Judgement]:
    """Whether a page is the first does not depend on how it was reached."""
    walk = observed.walked()
    for page, back in walk.stepped_back if walk else ():
        is_first = walk is not None and page is walk.pages[0] and page.uids == back.uids
        if is_first and back.pagination:
            claimed = back.pagination.get("has_prev_page")
            yield judged(
                claimed is False,
                "2.2-11",
                "The first page claims a previous one when it is stepped back to",
                expected=False,
                actual=claimed,
                exchanges=[page.exchange, back.exchange],
            )


@check("2.2-17")
def additions_make_a_walk_neither_repeat_nor_lose_anything(
    inserts: WalkWithInserts, _context: CheckContext
) -> Iterator[Judgement]:
    """Of what was there before the walk; what was added meanwhile may show or not.

    A walk that repeats or loses resources with nothing added is another defect.
    """
    walk = inserts.walked()
    if walk is None or not walk.complete or not inserts.made:
        return
    before = list(inserts.before)
    if sorted(inserts.still) != sorted(before):
        return
    repeated = [uid for uid in before if walk.uids.count(uid) > 1]
    lost = [uid for uid in before if uid not in walk.uids]
    yield judged(
        not repeated and not lost,
        "2.2-17",
        "A walk during which resources are added repeats or loses others",
        expected=f"each of the {len(before)} resources that were there, once",
        actual=f"repeated {json_text(repeated)}, lost {json_text(lost)}",
        exchanges=walk.exchanges(),
    )


@check("2.2-11", "2.2-12")
def a_page_claims_a_previous_one_exactly_if_there_is_one(
    observed: PageWalk, _context: CheckContext
) -> Iterator[Judgement]:
    """None before the first page, one before every page that was reached by going forward, unless
    that shows the first page again (2.2-14), which has none.
    """
    walk = observed.walked()
    pages = walk.pages if walk else ()
    for position, page in enumerate(pages):
        starts_again = position > 0 and page.uids[:1] == pages[0].uids[:1] != ()
        if not page.pagination or starts_again:
            continue
        claimed = page.pagination.get("has_prev_page")
        yield judged(
            claimed is (position > 0),
            "2.2-12" if position else "2.2-11",
            "A further page claims no previous one"
            if position
            else "The first page claims a previous one",
            expected=position > 0,
            actual=claimed,
            exchanges=[page.exchange],
        )


@check("2.2-13", *BACKWARD.values())
def one_page_forward_and_one_back_is_the_page_one_had(
    observed: PageWalk, _context: CheckContext
) -> Iterator[Judgement]:
    """The same resources in the same order."""
    walk = observed.walked()
    if walk is None:
        return
    for page, back in walk.stepped_back:
        for requirement in ("2.2-13", BACKWARD[walk.operation_id]):
            yield judged(
                page.uids == back.uids,
                requirement,
                "Stepping back does not lead to the page before",
                expected=page.uids,
                actual=back.uids,
                exchanges=[page.exchange, back.exchange],
            )


@check("2.2-14")
def going_forward_meets_nothing_twice(
    observed: PageWalk, _context: CheckContext
) -> Iterator[Judgement]:
    """Nothing changes the list meanwhile. A walk that was broken off on its first page did not go
    forward.
    """
    walk = observed.walked()
    if walk is not None and walk.uids and (walk.complete or len(walk.pages) > 1):
        repeated = sorted({uid for uid in walk.uids if walk.uids.count(uid) > 1})
        yield judged(
            not repeated,
            "2.2-14",
            "Going forward meets a resource twice",
            expected="each once",
            actual=repeated,
            exchanges=walk.exchanges(),
        )


@check("2.2-15")
def pages_of_different_sizes_show_the_same_order(
    observed: PageWalk, _context: CheckContext
) -> Iterator[Judgement]:
    """Without sort, so that the order is that of the walk without perPage.

    As far as both go: a walk that ends before the last page claims to be whole (2.2-10).
    """
    walk = observed.walked()
    if (
        walk is not None
        and walk.complete
        and walk.per_page
        and walk.sort is None
        and not walk.leaves_out
    ):
        listed = tuple(str(item["uid"]) for item in walk.listed)
        shared = min(len(walk.uids), len(listed))
        if not shared and (walk.uids or listed):
            return  # nothing to compare
        yield judged(
            walk.uids[:shared] == listed[:shared],
            "2.2-15",
            "Pages of another size show other resources or another order",
            expected=listed,
            actual=walk.uids,
            exchanges=walk.exchanges(),
        )


@check(*SIZE.values())
def per_page_is_kept_and_reported(
    observed: PageWalk, _context: CheckContext
) -> Iterator[Judgement]:
    """Only sizes within the dialect's bounds are asked for."""
    walk = observed.walked()
    if walk is None or walk.per_page is None:
        return
    for page in walk.pages:
        if not page.pagination:
            continue
        count, reported = len(page.items), page.pagination.get("per_page")
        yield judged(
            count <= walk.per_page and reported == walk.per_page,
            SIZE[walk.operation_id],
            "perPage is not the most that a page holds, or not the per_page that it reports",
            expected=f"at most {walk.per_page} resources, per_page {walk.per_page}",
            actual=f"{count} resources, per_page {json_text(reported)}",
            exchanges=[page.exchange],
        )
