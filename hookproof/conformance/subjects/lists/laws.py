"""Sections 2.2, 4.4, 4.7 and 8: the laws of lists, their pages and their parameters."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from hookproof.conformance.checks.support.bounds import NO_LARGEST_PAGE
from hookproof.conformance.checks.support.reading import Reading, reading
from hookproof.conformance.model.check_registry import CheckContext, check
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import (
    Judgement,
    json_text,
    judged,
    not_applicable,
    violated,
)
from hookproof.conformance.observations.answer import (
    LISTS,
    cursor,
    has_value,
    items,
    pagination,
    refused,
    shown,
    shows_a_list,
    shows_every_uid,
    was_successful,
)
from hookproof.conformance.observations.requests.extremes import ExtremePageSize
from hookproof.conformance.observations.timestamp import unix_seconds
from hookproof.conformance.subjects.lists.evidence import (
    BackFromNowhere,
    ComparedPage,
    DefaultPageSize,
    FilterTerm,
    Item,
    NearFilter,
    Page,
    PageSizeAboveMaximum,
    PageWalk,
    UnreadableParameter,
    WalkedPages,
    WalkWithInserts,
    filters_of,
)
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.groups.request_vocabulary import PrevWithoutCursor
from hookproof.spec.dialect.model import PORTAL_LINK_FILTERS, Dialect, Paging
from hookproof.spec.dialect.vocabulary import AboveMaximum, BadParameter, CursorForm, SortKey

FLAGS: Final = {"2.2-3": "has_next_page", "2.2-4": "has_prev_page"}
CURSORS: Final = {"2.2-6": "next_page_cursor", "2.2-7": "prev_page_cursor"}


@check("2.2-1", "2.2-2")
def a_list_holds_content_and_pagination(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """An array and an object."""
    for member, kind, requirement in (("content", list, "2.2-1"), ("pagination", dict, "2.2-2")):
        if _is_page(exchange):
            yield judged(
                isinstance(shown(exchange).get(member), kind),
                requirement,
                f"The data of a list has no {member} of its type",
                expected="an array" if kind is list else "an object",
                actual=shown(exchange).get(member, "absent"),
                exchanges=[exchange],
            )


@check(*FLAGS, "2.2-5")
def pages_have_both_flags_and_per_page(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """Two booleans and an integer; `true` is not an integer."""
    for requirement, member in {**FLAGS, "2.2-5": "per_page"}.items():
        if _is_page(exchange):
            value = pagination(exchange).get(member, "absent")
            fits = isinstance(value, bool) if requirement in FLAGS else _is_integer(value)
            yield judged(
                fits,
                requirement,
                f"The pagination of a list has no {member} of its type",
                expected="a boolean" if requirement in FLAGS else "an integer",
                actual=value,
                exchanges=[exchange],
            )


@check(*CURSORS)
def a_cursor_is_a_string_wherever_it_has_a_value(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """Null, empty and absent cursors have no value."""
    for requirement, member in CURSORS.items():
        cursor = pagination(exchange).get(member)
        if _is_page(exchange) and has_value(cursor):
            yield judged(
                isinstance(cursor, str),
                requirement,
                f"{member} is not a string",
                expected="a string",
                actual=cursor,
                exchanges=[exchange],
            )


@check("2.2-8")
def a_page_holds_no_more_than_its_per_page(
    exchange: Exchange, _context: CheckContext
) -> Iterator[Judgement]:
    """per_page counts what a page can hold."""
    most = pagination(exchange).get("per_page")
    if _is_page(exchange) and isinstance(most, int):
        yield judged(
            len(items(exchange)) <= most,
            "2.2-8",
            "A page holds more resources than its per_page",
            expected=f"at most {most}",
            actual=len(items(exchange)),
            exchanges=[exchange],
        )


@check("2.2-16")
def a_cursor_has_the_dialects_form(
    exchange: Exchange, context: CheckContext
) -> Iterator[Judgement]:
    """Any text is an opaque cursor; an identifier has the form of identifiers."""
    form = context.dialect.paging.cursor_form
    listed = LISTS.get(exchange.operation_id or "")
    patterns = context.dialect.representation.identifier_patterns(listed or "")
    if listed is None or not form.decided or not patterns:
        return
    for member in CURSORS.values():
        cursor = pagination(exchange).get(member)
        if _is_page(exchange) and isinstance(cursor, str) and cursor:
            fits = CursorForm.OPAQUE in form.allowed or any(
                re.search(pattern, cursor) for pattern in patterns
            )
            yield judged(
                fits,
                "2.2-16",
                f"{member} has another form than the dialect's",
                expected=form.value.value,
                actual=cursor,
                exchanges=[exchange],
            )


def _is_page(exchange: Exchange) -> bool:
    return exchange.operation_id in LISTS and exchange.succeeded


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


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


ASCENDING, DESCENDING = "ASC", "DESC"
DEFAULT_ORDER: Final = {"listPortalLinks": "4.4-7", "listSources": "4.7-7"}
OPPOSITE: Final = {"listPortalLinks": "4.4-8", "listSources": "4.7-8"}
SORT_KEY: Final = {"listPortalLinks": "4.4-15", "listSources": "4.7-14"}


@check(*DEFAULT_ORDER.values(), *OPPOSITE.values())
def sort_is_descending_by_default_and_ascending_is_its_reverse(
    observed: PageWalk, context: CheckContext
) -> Iterator[Judgement]:
    """Resources that the sort key does not tell apart may change places.

    A sorted list on one page that has room for all lacks none of them. A full page may have others
    behind it, where the walk without sort ended early (2.2-10). What a filter leaves is in the same
    order as in the whole list, if it is known what that is by; what it leaves is judged elsewhere.
    """
    walk = observed.walked()
    if walk is None or not walk.complete or walk.sort is None:
        return
    if walk.leaves_out and not context.dialect.paging.sort_key.decided:
        return  # equals in it may change places, and nobody knows which they are
    shown = set(walk.uids)
    listed = [item for item in walk.listed if not walk.leaves_out or str(item.get("uid")) in shown]
    missing = sorted({str(item.get("uid")) for item in listed} - shown)
    has_room = (walk.per_page or 0) > max(len(listed), len(walk.uids))
    if missing and len(walk.pages) == 1 and has_room:
        yield violated(
            OPPOSITE[walk.operation_id],
            "A sorted list lacks a resource",
            expected="the same resources in both orders",
            actual=f"without {json_text(missing)} for sort={walk.sort}",
            exchanges=walk.exchanges(),
        )
    if sorted(walk.uids) != sorted(str(item.get("uid")) for item in listed):
        return  # what is missing on more pages or comes twice is judged by section 2.2
    keys = [_key(item, context) for item in listed]
    actual = [_key(item, context) for page in walk.pages for item in page.items]
    ascending = walk.sort == ASCENDING
    yield judged(
        actual == (keys[::-1] if ascending else keys),
        (OPPOSITE if ascending else DEFAULT_ORDER)[walk.operation_id],
        "ASC is not the reverse of DESC"
        if ascending
        else "Without sort the order is not that of DESC",
        expected=keys[::-1] if ascending else keys,
        actual=actual,
        exchanges=walk.exchanges(),
    )


@check(*SORT_KEY.values())
def the_order_is_that_of_the_sort_key(
    observed: PageWalk, context: CheckContext
) -> Iterator[Judgement]:
    """Names may be ordered with regard to case or without: the document does not say."""
    walk = observed.walked()
    if walk is None or walk.leaves_out or not context.dialect.paging.sort_key.decided:
        return
    keys = [_key(item, context) for page in walk.pages for item in page.items]
    texts = [key for key in keys if isinstance(key, str)]
    moments = [key for key in keys if isinstance(key, float)]
    if len(keys) not in (len(texts), len(moments)):
        return
    readings: list[list[Any]] = [texts, [text.casefold() for text in texts]] if texts else [moments]
    yield judged(
        any(reading == sorted(reading, reverse=walk.sort != ASCENDING) for reading in readings),
        SORT_KEY[walk.operation_id],
        "The list is not in the order of the dialect's sort key",
        expected=f"{walk.sort or DESCENDING} by {context.dialect.paging.sort_key.value}",
        actual=keys,
        exchanges=walk.exchanges(),
    )


def _key(item: Item, context: CheckContext) -> Any:
    """What a resource is sorted by; by its uid where the dialect does not say."""
    sort_key, forms = context.dialect.paging.sort_key, context.dialect.representation.timestamp
    if not sort_key.decided:
        return item.get("uid")
    value = item.get(sort_key.value)
    if sort_key.value is SortKey.CREATED_AT and forms.decided:
        return unix_seconds(value, forms.value)
    return value


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


BACK_FROM_NOWHERE: Final = {"listPortalLinks": "4.4-17", "listSources": "4.7-16"}


@check(*BACK_FROM_NOWHERE.values())
def prev_without_a_cursor_is_answered_as_the_dialect_says(
    request: BackFromNowhere, context: CheckContext
) -> Iterator[Judgement]:
    """Which page came shows in its only resource; a refusal may have any status."""
    tried, rule = request.tried, context.dialect.paging.prev_without_cursor
    if tried is None or not rule.decided or request.first == request.last:
        return
    if not refused(tried) and not was_successful(tried):
        return
    uids = [item.get("uid") for item in items(tried)]
    outcomes = {
        PrevWithoutCursor.REFUSED: refused(tried),
        PrevWithoutCursor.FIRST_PAGE: uids[:1] == [request.first],
        PrevWithoutCursor.LAST_PAGE: uids[-1:] == [request.last],
        PrevWithoutCursor.EMPTY_PAGE: not refused(tried) and not uids,
    }
    yield judged(
        any(outcomes[allowed] for allowed in rule.allowed),
        BACK_FROM_NOWHERE[request.operation_id],
        "Direction prev without a cursor is not answered as the dialect says",
        expected=" or ".join(rule.allowed),
        actual=f"{tried.status} with {json_text(uids)}, of a list from {request.first} to"
        f" {request.last}",
        exchanges=[tried],
    )


UNREADABLE: Final = {"listPortalLinks": "4.4-16", "listSources": "4.7-15"}


@check("8-12")
def without_per_page_the_size_is_the_default(
    request: DefaultPageSize, context: CheckContext
) -> Iterator[Judgement]:
    """As the page reports it."""
    tried, default = request.tried, context.dialect.paging.default_per_page
    if tried is None or not tried.succeeded:
        return
    actual = pagination(tried).get("per_page")
    if actual is not None and default.decided:
        yield judged(
            default.allows(actual),
            "8-12",
            "Without perPage a page has another size than the dialect's default",
            expected=" or ".join(map(str, default.allowed)),
            actual=actual,
            exchanges=[tried],
        )


@check("8-13")
def per_page_above_the_maximum_is_cut_or_refused(
    request: PageSizeAboveMaximum | ExtremePageSize, context: CheckContext
) -> Iterator[Judgement]:
    """As the dialect says; none can be above where no size is the largest."""
    tried, paging = request.tried, context.dialect.paging
    if None in paging.maximum_per_page.allowed:
        yield not_applicable("8-13", NO_LARGEST_PAGE)
        return
    if isinstance(request, ExtremePageSize):
        return
    read = _read(request, context.dialect)
    if tried is None or read is None or not paging.above_maximum.decided:
        return
    context.require_same_rules(
        "requests above the largest perPage", lambda dialect: dialect.paging.maximum_per_page
    )
    size = pagination(tried).get("per_page")
    is_cut = size is None or paging.maximum_per_page.allows(size)
    clamps = AboveMaximum.CLAMP in paging.above_maximum.allowed
    is_compared = clamps and len(paging.maximum_per_page.allowed) == 1
    differs = _differs(request) if is_compared else ""
    if read is Reading.TAKEN and size is None and differs is None:
        return
    outcomes = {
        AboveMaximum.CLAMP: read is Reading.TAKEN and is_cut and not differs,
        AboveMaximum.REFUSE: read is Reading.REFUSED,
    }
    yield judged(
        any(outcomes[allowed] for allowed in paging.above_maximum.allowed),
        "8-13",
        "A perPage above the maximum is not treated as the dialect says",
        expected=f"{paging.above_maximum.value}, maximum"
        f" {' or '.join(map(str, paging.maximum_per_page.allowed))}",
        actual=f"{tried.status}, per_page {json_text(size)}{differs or ''}",
        exchanges=[tried, request.ordinary],
    )


@check(*UNREADABLE.values())
def an_unreadable_parameter_is_refused_or_taken_as_absent(
    request: UnreadableParameter, context: CheckContext
) -> Iterator[Judgement]:
    """As the dialect says; what is taken as absent leads to the page that comes without it."""
    tried, rule = request.tried, rule_for(request, context.dialect.paging)
    read = _read(request, context.dialect)
    if tried is None or read is None or not rule.decided:
        return
    differs = _differs(request) if BadParameter.DEFAULT in rule.allowed else ""
    if read is Reading.TAKEN and differs is None:
        return
    outcomes = {
        BadParameter.DEFAULT: read is Reading.TAKEN and not differs,
        BadParameter.REFUSE: read is Reading.REFUSED,
    }
    yield judged(
        any(outcomes[allowed] for allowed in rule.allowed),
        UNREADABLE[request.operation_id],
        "A parameter that cannot be read is not treated as the dialect says:"
        f" {' '.join(request.query)}",
        expected=rule.value.value,
        actual=f"{tried.status}{differs or ''}",
        exchanges=[tried, request.ordinary],
    )


def _read(request: ComparedPage, dialect: Dialect) -> Reading | None:
    status = dialect.errors.status("invalid_value", request.operation_id)
    return reading(request.tried, request.ordinary, status)


def _differs(request: ComparedPage) -> str | None:
    """How a page differs from the ordinary one, in words; None where that does not show.

    An empty page is like any other, and a list that changes meanwhile like none.
    """
    tried, before, after = request.tried, request.ordinary_before, request.ordinary
    if tried is None or before is None or after is None or not items(after):
        return None
    if _shown_on(before) != _shown_on(after):
        return None
    if not shows_a_list(tried) or not all(map(shows_every_uid, (tried, after))):
        return None
    if _shown_on(tried) != _shown_on(after):
        return ", and other resources than the ordinary page"
    return ""


def _shown_on(page: Exchange) -> list[object]:
    return [item.get("uid") for item in items(page)]


def rule_for(request: UnreadableParameter, paging: Paging) -> Answer[BadParameter]:
    """What the dialect says of the parameter; a cursor may have a rule of its own."""
    has_cursor = any(name.endswith("cursor") for name in request.query)
    return paging.bad_cursor if has_cursor and paging.bad_cursor.decided else paging.bad_parameter


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
