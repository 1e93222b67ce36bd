"""Sections 2.2, 4.4, 4.7 and 8: the laws of lists, of their pages and of their parameters.

Most requirements of section 2.2 are about both lists. Of sections 4.4 and 4.7 each has its own for
the same law, and `both` puts the two together.

`learn` reads answers by `pages_back_from_nowhere`, `difference_from` and `is_in_order`, as the laws
do, so that what it has learned accuses nobody of what it saw.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from hookproof.conformance.checks.bounds import NO_LARGEST_PAGE
from hookproof.conformance.checks.reading import Reading, reading
from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.judgement import Judgement, json_text, not_applicable
from hookproof.conformance.model.law import Compared, Judge, Law, Requirement, Seen, law
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
from hookproof.conformance.observations.extremes import ExtremePageSize
from hookproof.conformance.observations.timestamp import unix_seconds
from hookproof.conformance.subjects.lists.evidence import (
    LINKS,
    SOURCES,
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
from hookproof.spec.dialect.model import PORTAL_LINK_FILTERS, Paging
from hookproof.spec.dialect.vocabulary import (
    AboveMaximum,
    BadParameter,
    CursorForm,
    PrevWithoutCursor,
    SortKey,
)

ASCENDING, DESCENDING = "ASC", "DESC"


def both(links: str, sources: str) -> Mapping[str, str]:
    """The requirement of each list that one law stands for."""
    return {LINKS: links, SOURCES: sources}


FORWARD: Final = both("4.4-4", "4.7-4")
BACKWARD: Final = both("4.4-5", "4.7-5")
SIZE: Final = both("4.4-6", "4.7-6")
DEFAULT_ORDER: Final = both("4.4-7", "4.7-7")
OPPOSITE: Final = both("4.4-8", "4.7-8")
FILTER_PAGES: Final = both("4.4-13", "4.7-13")
SORT_KEY: Final = both("4.4-15", "4.7-14")
UNREADABLE: Final = both("4.4-16", "4.7-15")
BACK_FROM_NOWHERE: Final = both("4.4-17", "4.7-16")
# The requirements that nothing else is listed and that nothing is left out, by the field that is
# filtered.
FILTERS: Final = {
    "owner_id": ("4.4-9", "4.4-10"),
    "name": ("4.4-11", "4.4-12"),
    "provider": ("4.7-9", "4.7-10"),
    "type": ("4.7-11", "4.7-12"),
}


def walk_law(*requirements: Requirement, wrong: str = "") -> Callable[[Law], Judge]:
    """A law of the pages of a walk, as far as they could be read."""
    return law(*requirements, wrong=wrong, observed=PageWalk, read=PageWalk.walked)


def page_law(*requirements: Requirement, wrong: str = "") -> Callable[[Law], Judge]:
    """A law of each page of a list."""
    return law(*requirements, wrong=wrong, observed=Exchange, read=_page_of_a_list)


def _page_of_a_list(exchange: Exchange) -> Exchange | None:
    return exchange if exchange.operation_id in LISTS and exchange.succeeded else None


def _uids(page: Exchange) -> list[object]:
    return [item.get("uid") for item in items(page)]


# From one page to the next and back (section 2.2).


@walk_law("2.2-9", FORWARD)
def a_page_that_claims_a_next_one_leads_to_it(walk: WalkedPages, _: CheckContext) -> Seen:
    """The cursor leads to resources, and to none that were on an earlier page.

    An empty page that leads on to others with resources is judged as such (2.2-18).
    """
    for number, (page, following) in enumerate(pairwise(walk.pages), start=2):
        is_empty, step = not following.items, (page.exchange, following.exchange)
        if is_empty and following.leads_on and any(later.items for later in walk.pages[number:]):
            continue
        wrong = "The cursor of a page that claims a next one leads to nothing"
        yield Compared("resources", "an empty page", step, not is_empty, "2.2-9", wrong)
        repeated = sorted(set(following.uids) & set(page.uids))
        yield Compared(
            "resources that were not on the page before",
            repeated or "an empty page",
            step,
            not is_empty and not repeated,
            FORWARD,
            "Direction next does not lead to the page that follows",
        )
    last = walk.pages[-1].pagination
    if last.get("has_next_page") is True and not last.get("next_page_cursor"):
        wrong = "A page claims a next one but gives no cursor for it"
        yield Compared("a cursor", dict(last), walk.exchanges[-1:], False, "2.2-9", wrong)


@law(FORWARD, BACKWARD)
def the_cursor_of_a_page_is_taken(observed: PageWalk, _: CheckContext) -> Seen:
    """With the query of the page that showed it. A page whose resources cannot be told from others
    does not show that it is the one that follows.
    """
    walk = observed.walked()
    pages = [] if walk is None else [*walk.pages, *(back for _, back in walk.stepped_back)]
    readable = {id(page.exchange) for page in pages}
    for page, step in observed.steps:
        which, of = ("next", FORWARD) if step.role == "page" else ("previous", BACKWARD)
        if refused(step) or id(step) in readable:
            wrong = f"The cursor of a page that leads to the {which} one is refused"
            yield Compared("a success", step.status, (page, step), step.succeeded, of, wrong)


@walk_law("2.2-10", wrong="A walk ends before every resource of the list was on a page")
def a_page_that_claims_no_next_one_is_the_last(walk: WalkedPages, _: CheckContext) -> Seen:
    """Walks in pages of all sizes end with the same resources met.

    What a sorted walk on one page lacks is lost by its order, which 4.4-8 judges.
    """
    listed, met = set(walk.asked.listed_uids), set(walk.uids)
    is_lost_by_order = listed != met and walk.asked.sort is not None and len(walk.pages) == 1
    if walk.complete and not walk.asked.leaves_out and not is_lost_by_order:
        yield Compared(
            f"{len(listed | met)} resources in walks of every page size",
            f"{len(met)} in this walk, {len(listed)} in one without perPage",
            walk.exchanges,
            listed == met,
        )


@walk_law("2.2-10", wrong="A page that one stepped back to claims no next one")
def a_page_that_was_stepped_back_to_claims_the_next_one(walk: WalkedPages, _: CheckContext) -> Seen:
    """It is not the last: one came from there. Whether it is the page that one came from is judged
    by 2.2-13, and what it claims follows from that.
    """
    for page, back in walk.stepped_back:
        if back.items and back.pagination:
            claimed = back.pagination.get("has_next_page")
            yield Compared(True, claimed, (page.exchange, back.exchange))


@walk_law("2.2-11", wrong="The first page claims a previous one when it is stepped back to")
def the_first_page_claims_no_previous_one_when_stepped_back_to(
    walk: WalkedPages, _: CheckContext
) -> Seen:
    """Whether a page is the first does not depend on how it was reached."""
    for page, back in walk.stepped_back:
        if page is walk.pages[0] and page.uids == back.uids and back.pagination:
            yield Compared(
                False, back.pagination.get("has_prev_page"), (page.exchange, back.exchange)
            )


@walk_law("2.2-11", "2.2-12")
def a_page_claims_a_previous_one_exactly_if_there_is_one(
    walk: WalkedPages, _: CheckContext
) -> Seen:
    """None before the first page, one before every page that was reached by going forward, unless
    that shows the first page again (2.2-14), which has none.
    """
    for position, page in enumerate(walk.pages):
        starts_again = position > 0 and page.uids[:1] == walk.pages[0].uids[:1] != ()
        if page.pagination and not starts_again:
            yield Compared(
                position > 0,
                page.pagination.get("has_prev_page"),
                [page.exchange],
                of="2.2-12" if position else "2.2-11",
                wrong="A further page claims no previous one"
                if position
                else "The first page claims a previous one",
            )


@walk_law("2.2-13", BACKWARD, wrong="Stepping back does not lead to the page before")
def one_page_forward_and_one_back_is_the_page_one_had(walk: WalkedPages, _: CheckContext) -> Seen:
    """The same resources in the same order."""
    for page, back in walk.stepped_back:
        yield Compared(page.uids, back.uids, (page.exchange, back.exchange))


@walk_law("2.2-14", wrong="Going forward meets a resource twice")
def going_forward_meets_nothing_twice(walk: WalkedPages, _: CheckContext) -> Seen:
    """Nothing changes the list meanwhile. A walk that was broken off on its first page did not go
    forward.
    """
    if walk.uids and (walk.complete or len(walk.pages) > 1):
        repeated = sorted(uid for uid, count in Counter(walk.uids).items() if count > 1)
        yield Compared("each once", repeated, walk.exchanges, not repeated)


@walk_law("2.2-15", wrong="Pages of another size show other resources or another order")
def pages_of_different_sizes_show_the_same_order(walk: WalkedPages, _: CheckContext) -> Seen:
    """Without sort, so that the order is that of the walk without perPage.

    As far as both go: a walk that ends before the last page claims to be whole (2.2-10).
    """
    asked, listed = walk.asked, walk.asked.listed_uids
    shared = min(len(walk.uids), len(listed))
    if not shared and (walk.uids or listed):
        return  # there is nothing to compare
    if walk.complete and asked.per_page and asked.sort is None and not asked.leaves_out:
        holds = walk.uids[:shared] == listed[:shared]
        yield Compared(listed, walk.uids, walk.exchanges, holds)


@law("2.2-17", wrong="A walk during which resources are added repeats or loses others")
def additions_make_a_walk_neither_repeat_nor_lose_anything(
    inserts: WalkWithInserts, _: CheckContext
) -> Seen:
    """Of what was there before the walk; what was added meanwhile may show or not.

    A walk that repeats or loses resources with nothing added is another defect.
    """
    walk, before = inserts.walked(), inserts.before
    if walk is None or not walk.complete or not inserts.made:
        return
    if sorted(inserts.still) == sorted(before):
        repeated = [uid for uid in before if walk.uids.count(uid) > 1]
        lost = [uid for uid in before if uid not in walk.uids]
        yield Compared(
            f"each of the {len(before)} resources that were there, once",
            f"repeated {json_text(repeated)}, lost {json_text(lost)}",
            walk.exchanges,
            not repeated and not lost,
        )


# Sizes, order and filters (sections 4.4 and 4.7).


@walk_law(
    SIZE, wrong="perPage is not the most that a page holds, or not the per_page that it reports"
)
def per_page_is_kept_and_reported(walk: WalkedPages, _: CheckContext) -> Seen:
    """Only sizes within the dialect's bounds are asked for."""
    size = walk.asked.per_page
    for page in walk.pages:
        if page.pagination and size is not None:
            count, reported = len(page.items), page.pagination.get("per_page")
            yield Compared(
                f"at most {size} resources, per_page {size}",
                f"{count} resources, per_page {json_text(reported)}",
                [page.exchange],
                count <= size and reported == size,
            )


@walk_law(DEFAULT_ORDER, OPPOSITE)
def sort_is_descending_by_default_and_ascending_is_its_reverse(
    walk: WalkedPages, context: CheckContext
) -> Seen:
    """Resources that the sort key does not tell apart may change places.

    A sorted list on one page that has room for all lacks none of them. A full page may have others
    behind it, where the walk without sort ended early (2.2-10). What a filter leaves is in the same
    order as in the whole list, if it is known what that is by; what it leaves is judged elsewhere.
    """
    asked, shown_uids = walk.asked, set(walk.uids)
    if not walk.complete or asked.sort is None:
        return
    if asked.leaves_out and not context.dialect.paging.sort_key.decided:
        return  # equals in it may change places, and nobody knows which they are
    listed = [
        (uid, item)
        for uid, item in zip(asked.listed_uids, asked.listed, strict=True)
        if not asked.leaves_out or uid in shown_uids
    ]
    missing = sorted({uid for uid, _ in listed} - shown_uids)
    has_room = (asked.per_page or 0) > max(len(listed), len(walk.uids))
    if missing and len(walk.pages) == 1 and has_room:
        yield Compared(
            "the same resources in both orders",
            f"without {json_text(missing)} for sort={asked.sort}",
            walk.exchanges,
            False,
            OPPOSITE,
            "A sorted list lacks a resource",
        )
    if sorted(walk.uids) == sorted(uid for uid, _ in listed):
        # What is missing on more pages or comes twice is judged by section 2.2.
        keys = [_key(item, context) for _, item in listed]
        actual = [_key(item, context) for item in walk.items]
        if asked.sort == ASCENDING:
            wrong = "ASC is not the reverse of DESC"
            yield Compared(keys[::-1], actual, walk.exchanges, of=OPPOSITE, wrong=wrong)
        else:
            wrong = "Without sort the order is not that of DESC"
            yield Compared(keys, actual, walk.exchanges, of=DEFAULT_ORDER, wrong=wrong)


@walk_law(SORT_KEY, wrong="The list is not in the order of the dialect's sort key")
def the_order_is_that_of_the_sort_key(walk: WalkedPages, context: CheckContext) -> Seen:
    """Names may be ordered with regard to case or without: the document does not say."""
    sort, sort_key = walk.asked.sort, context.dialect.paging.sort_key
    if not walk.asked.leaves_out and sort_key.decided:
        keys = [_key(item, context) for item in walk.items]
        holds = is_in_order(keys, ascending=sort == ASCENDING)
        if holds is not None:
            expected = f"{sort or DESCENDING} by {sort_key.value}"
            yield Compared(expected, keys, walk.exchanges, holds)


def is_in_order(keys: Sequence[Any], *, ascending: bool) -> bool | None:
    """Whether texts, with regard to case or without, or moments are in order; None for others."""
    if all(isinstance(key, str) for key in keys):
        readings: list[list[Any]] = [list(keys), [key.casefold() for key in keys]]
    elif all(isinstance(key, float) for key in keys):
        readings = [list(keys)]
    else:
        return None
    return any(each == sorted(each, reverse=not ascending) for each in readings)


def _key(item: Item, context: CheckContext) -> Any:
    """What a resource is sorted by; by its uid where the dialect does not say."""
    sort_key, forms = context.dialect.paging.sort_key, context.dialect.representation.timestamp
    if not sort_key.decided:
        return item.get("uid")
    value = item.get(sort_key.value)
    if sort_key.value is SortKey.CREATED_AT and forms.decided:
        return unix_seconds(value, forms.value)
    return value


@walk_law(*chain.from_iterable(FILTERS.values()), FILTER_PAGES)
def a_filter_leaves_exactly_what_matches_on_every_page(
    walk: WalkedPages, context: CheckContext
) -> Seen:
    """What is listed is judged by its fields, what is missing against the unfiltered list.

    What a sorted walk lacks may be the fault of its order (4.4-8), and what lies on further pages
    that of a cursor (2.2-10): a filter answers for the first page without sort. Of two filters
    nobody knows which one has left something out. Nothing holds by a walk that a list without the
    filter would have passed as well.
    """
    asked = walk.asked
    if asked.operation_id == LINKS:
        yield from _filters_not_offered(context.dialect.paging)
    terms = filters_of(asked, context.dialect)
    if any(len(term.match.allowed) != 1 for term in terms):
        return
    further = [
        page for page in [*walk.pages[1:], *(back for _, back in walk.stepped_back)] if page.items
    ]
    for term in terms:
        nothing_else, nothing_left_out = FILTERS[term.field]
        wrong = [page for page in walk.pages if _not_matching(page, term)]
        # On the first page a filter does not hold; on others alone, it is lost with the cursor.
        telling = wrong[:1] if wrong[:1] == [*walk.pages[:1]] else wrong or walk.pages
        if wrong or not all(map(term.passes, asked.listed)):
            yield _only_matches(walk, telling, term, nothing_else)
        wrong_further = [[page] for page in further if _not_matching(page, term)]
        if not wrong_further and further and _others_follow(walk, term):
            wrong_further = [further]
        for pages in wrong_further:
            yield _only_matches(walk, pages, term, FILTER_PAGES)
        wanted = {str(item["uid"]) for item in asked.listed if term.passes(item)}
        missing = wanted - set(walk.uids)
        is_for_filter = not missing or (asked.sort is None and len(walk.pages) == 1)
        if wanted and walk.complete and len(terms) == 1 and is_for_filter:
            yield Compared(
                sorted(wanted),
                walk.uids,
                walk.exchanges,
                not missing,
                nothing_left_out,
                "A filter leaves out a resource that matches",
            )


def _filters_not_offered(paging: Paging) -> Iterator[Judgement]:
    """What the filters of portal links do, as far as the dialect has none."""
    lacking = paging.filters_not_offered
    for field in lacking:
        for requirement in FILTERS[field]:
            reason = f"The dialect has no filter of portal links by {field}."
            yield not_applicable(requirement, reason)
    if len(lacking) == len(PORTAL_LINK_FILTERS):
        yield not_applicable(FILTER_PAGES[LINKS], "The dialect has no filter of portal links.")


def _others_follow(walk: WalkedPages, term: FilterTerm) -> bool:
    """Whether without the filter the cursor of the first page leads to others than its matches."""
    asked = walk.asked
    listed = asked.listed[::-1] if asked.sort == ASCENDING else asked.listed
    uids = _uids(walk.pages[0].exchange)
    places = [place for place, item in enumerate(listed) if item.get("uid") in uids]
    return any(not term.passes(item) for item in listed[max(places, default=len(listed)) :])


def _not_matching(page: Page, term: FilterTerm) -> set[str]:
    return {str(item.get("uid")) for item in page.items if not term.passes(item)}


def _only_matches(
    walk: WalkedPages, pages: Sequence[Page], term: FilterTerm, requirement: Requirement
) -> Compared:
    not_matching = sorted(set[str]().union(*(_not_matching(page, term) for page in pages)))
    return Compared(
        f"only matches of {json_text(dict(walk.asked.filter or {}))}",
        f"also {json_text(not_matching)}",
        [page.exchange for page in pages],
        not not_matching,
        requirement,
        "A filter lets through a resource that does not match",
    )


@law(*(nothing_else for nothing_else, _ in FILTERS.values()))
def a_filter_does_not_find_what_is_only_near(observed: NearFilter, context: CheckContext) -> Seen:
    """Judged where the value itself is found; to find nothing at all is another defect.

    A service that ignores a word that it does not know, as an unrelated one shows, filters nothing
    there.
    """
    tried, control, retrieved = observed.tried, observed.control, observed.retrieved
    field = observed.field
    if tried is None or control is None or retrieved is None or not shows_a_list(tried):
        return
    if field in PORTAL_LINK_FILTERS:  # the document names those of sources
        names = [f"{PORTAL_LINK_FILTERS[field]}_{part}" for part in ("filter", "match")]
        context.require_same_rules(
            "filters", lambda dialect: [getattr(dialect.paging, name) for name in names]
        )
    near = [
        resource["uid"]
        for resource in items(retrieved) or [shown(retrieved)]
        if isinstance(resource.get("uid"), str)
        and resource.get(field) not in observed.query.values()
    ]
    if _has_any(control, near) and not _has_any(observed.unrelated, near):
        yield Compared(
            f"only matches of {dict(observed.query)}",
            [item.get(field) for item in items(tried)],
            (control, tried),
            not _has_any(tried, near),
            FILTERS[field][0],
            f"A filter lets through a resource that does not match: {observed.near} of its"
            f" {field} was asked for",
        )


def _has_any(page: Exchange | None, uids: Sequence[str]) -> bool:
    return page is not None and any(uid in uids for uid in _uids(page))


# What each page shows (section 2.2).

TYPES: Final = {"an array": list, "an object": dict, "a boolean": bool, "an integer": int}
CURSORS: Final = {"2.2-6": "next_page_cursor", "2.2-7": "prev_page_cursor"}


@page_law("2.2-1", "2.2-2")
def a_list_holds_content_and_pagination(page: Exchange, _: CheckContext) -> Seen:
    """An array and an object."""
    yield _typed(page, "2.2-1", "data", "content", "an array")
    yield _typed(page, "2.2-2", "data", "pagination", "an object")


@page_law("2.2-3", "2.2-4", "2.2-5")
def pages_have_both_flags_and_per_page(page: Exchange, _: CheckContext) -> Seen:
    """Two booleans and an integer; `true` is not an integer."""
    yield _typed(page, "2.2-3", "pagination", "has_next_page", "a boolean")
    yield _typed(page, "2.2-4", "pagination", "has_prev_page", "a boolean")
    yield _typed(page, "2.2-5", "pagination", "per_page", "an integer")


def _typed(page: Exchange, of: str, holder: str, member: str, kind: str) -> Compared:
    value = (shown if holder == "data" else pagination)(page).get(member, "absent")
    wrong = f"The {holder} of a list has no {member} of its type"
    return Compared(kind, value, [page], type(value) is TYPES[kind], of, wrong)


@page_law(*CURSORS)
def a_cursor_is_a_string_wherever_it_has_a_value(page: Exchange, _: CheckContext) -> Seen:
    """Null, empty and absent cursors have no value."""
    for of, member in CURSORS.items():
        value, wrong = pagination(page).get(member), f"{member} is not a string"
        if has_value(value):
            yield Compared("a string", value, [page], isinstance(value, str), of, wrong)


@page_law("2.2-8", wrong="A page holds more resources than its per_page")
def a_page_holds_no_more_than_its_per_page(page: Exchange, _: CheckContext) -> Seen:
    """per_page counts what a page can hold."""
    count, most = len(items(page)), pagination(page).get("per_page")
    if isinstance(most, int):
        yield Compared(f"at most {most}", count, [page], count <= most)


@page_law("2.2-16")
def a_cursor_has_the_dialects_form(page: Exchange, context: CheckContext) -> Seen:
    """Any text is an opaque cursor; an identifier has the form of identifiers."""
    form = context.dialect.paging.cursor_form
    patterns = context.dialect.representation.identifier_patterns(LISTS[page.operation_id or ""])
    if not form.decided or not patterns:
        return
    for member in CURSORS.values():
        value = pagination(page).get(member)
        if isinstance(value, str) and value:
            is_identifier = any(re.search(pattern, value) for pattern in patterns)
            holds = CursorForm.OPAQUE in form.allowed or is_identifier
            wrong = f"{member} has another form than the dialect's"
            yield Compared(form.value.value, value, [page], holds, wrong=wrong)


@page_law("2.2-18", wrong="A page shows no resource and reports a next one")
def a_page_without_resources_reports_no_next_one(page: Exchange, _: CheckContext) -> Seen:
    """Clients that end at an empty page would miss what follows, and others may never end: those
    that go on as long as there is a cursor. What goes back from the first page shows none as well,
    and there is a next one.
    """
    claimed = pagination(page).get("has_next_page")
    query = parse_qs(urlsplit(page.url).query)
    goes_back = "prev" in query.get("direction", ()) or "prev_page_cursor" in query
    if shown(page).get("content") == [] and isinstance(claimed, bool) and not goes_back:
        leads_on = has_value(cursor(page, "next_page_cursor"))
        expected = "no next page and no cursor of one, or resources on this one"
        yield Compared(expected, dict(pagination(page)), [page], not claimed and not leads_on)


# Single requests with one parameter (sections 4.4, 4.7 and 8).


@law("8-12", wrong="Without perPage a page has another size than the dialect's default")
def without_per_page_the_size_is_the_default(
    request: DefaultPageSize, context: CheckContext
) -> Seen:
    """As the page reports it."""
    tried, default = request.tried, context.dialect.paging.default_per_page
    actual = None if tried is None else pagination(tried).get("per_page")
    if actual is not None and default.decided:
        expected = " or ".join(map(str, default.allowed))
        yield Compared(expected, actual, [tried], default.allows(actual))


@law("8-13", wrong="A perPage above the maximum is not treated as the dialect says")
def per_page_above_the_maximum_is_cut_or_refused(
    request: PageSizeAboveMaximum | ExtremePageSize, context: CheckContext
) -> Seen:
    """As the dialect says; none can be above where no size is the largest."""
    tried, paging = request.tried, context.dialect.paging
    maximum = paging.maximum_per_page
    if None in maximum.allowed:
        yield not_applicable("8-13", NO_LARGEST_PAGE)
        return
    if isinstance(request, ExtremePageSize):
        return
    read = _read(request, context)
    if tried is None or read is None or not paging.above_maximum.decided:
        return
    context.require_same_rules(
        "requests above the largest perPage", lambda dialect: dialect.paging.maximum_per_page
    )
    size, allowed = pagination(tried).get("per_page"), paging.above_maximum.allowed
    is_compared = AboveMaximum.CLAMP in allowed and len(maximum.allowed) == 1
    differs = _difference(request) if is_compared else ""
    if read is Reading.TAKEN and size is None and differs is None:
        return
    is_cut = (size is None or maximum.allows(size)) and not differs
    yield Compared(
        f"{paging.above_maximum.value}, maximum {' or '.join(map(str, maximum.allowed))}",
        f"{tried.status}, per_page {json_text(size)}{differs or ''}",
        (tried, request.ordinary),
        _is_allowed(read, allowed, AboveMaximum.REFUSE, is_right=is_cut),
    )


@law(UNREADABLE)
def an_unreadable_parameter_is_refused_or_taken_as_absent(
    request: UnreadableParameter, context: CheckContext
) -> Seen:
    """As the dialect says; what is taken as absent leads to the page that comes without it."""
    tried, rule = request.tried, _rule_for(request, context.dialect.paging)
    read = _read(request, context)
    if tried is None or read is None or not rule.decided:
        return
    differs = _difference(request) if BadParameter.DEFAULT in rule.allowed else ""
    if read is not Reading.TAKEN or differs is not None:
        yield Compared(
            rule.value.value,
            f"{tried.status}{differs or ''}",
            (tried, request.ordinary),
            _is_allowed(read, rule.allowed, BadParameter.REFUSE, is_right=not differs),
            wrong="A parameter that cannot be read is not treated as the dialect says:"
            f" {' '.join(request.query)}",
        )


def _is_allowed(read: Reading, allowed: Sequence[str], refusal: str, *, is_right: bool) -> bool:
    """Whether a request was refused or taken as a dialect allows; `is_right` is whether the page
    is, for one that was taken.
    """
    return any(
        read is Reading.REFUSED if word == refusal else read is Reading.TAKEN and is_right
        for word in allowed
    )


def _rule_for(request: UnreadableParameter, paging: Paging) -> Answer[BadParameter]:
    """What the dialect says of the parameter; a cursor may have a rule of its own."""
    has_cursor = any(name.endswith("cursor") for name in request.query)
    return paging.bad_cursor if has_cursor and paging.bad_cursor.decided else paging.bad_parameter


def _read(request: ComparedPage, context: CheckContext) -> Reading | None:
    status = context.dialect.errors.status("invalid_value", request.operation_id)
    return reading(request.tried, request.ordinary, status)


def _difference(request: ComparedPage) -> str | None:
    tried, before, after = request.tried, request.ordinary_before, request.ordinary
    if tried is None or before is None or after is None:
        return None
    return difference_from(before, tried, after)


def difference_from(before: Exchange, tried: Exchange, after: Exchange) -> str | None:
    """How a page differs from the ordinary one, which was requested before and after it, in words;
    None where that does not show.

    An empty page is like any other, and a list that changes meanwhile like none.
    """
    if not items(after) or _uids(before) != _uids(after) or not shows_a_list(tried):
        return None
    if not shows_every_uid(tried) or not shows_every_uid(after):
        return None
    return "" if _uids(tried) == _uids(after) else ", and other resources than the ordinary page"


@law(BACK_FROM_NOWHERE, wrong="Direction prev without a cursor is not answered as the dialect says")
def prev_without_a_cursor_is_answered_as_the_dialect_says(
    request: BackFromNowhere, context: CheckContext
) -> Seen:
    """Which page came shows in its only resource; a refusal may have any status."""
    tried, rule = request.tried, context.dialect.paging.prev_without_cursor
    first, last = request.first, request.last
    if tried is None or not rule.decided or first == last:
        return
    if refused(tried) or was_successful(tried):
        yield Compared(
            " or ".join(rule.allowed),
            f"{tried.status} with {json_text(_uids(tried))}, of a list from {first} to {last}",
            [tried],
            any(page in rule.allowed for page in pages_back_from_nowhere(tried, first, last)),
        )


def pages_back_from_nowhere(
    tried: Exchange, first: object, last: object
) -> list[PrevWithoutCursor]:
    """What a refusal or a success may be, of a list that begins and ends with these uids."""
    uids = _uids(tried)
    outcomes = {
        PrevWithoutCursor.REFUSED: refused(tried),
        PrevWithoutCursor.FIRST_PAGE: uids[:1] == [first],
        PrevWithoutCursor.LAST_PAGE: uids[-1:] == [last],
        PrevWithoutCursor.EMPTY_PAGE: not refused(tried) and not uids,
    }
    return [outcome for outcome, came in outcomes.items() if came]
