"""The lists: page sizes, cursors, order, filters, words (sections 4.4 and 4.7)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hookproof.conformance.experiments.support.seeding import Seeding
from hookproof.conformance.learning.candidates import candidates
from hookproof.conformance.learning.learned_answers import in_words
from hookproof.conformance.learning.probes.access import miss_undecided, see_status
from hookproof.conformance.learning.session import LINKS, ORDINARY, SOURCES, ProbeSession
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import (
    accepted_or_refused,
    cursor,
    items,
    pagination,
    refused,
    was_successful,
)
from hookproof.conformance.subjects.lists.laws import (
    difference_from,
    is_in_order,
    pages_back_from_nowhere,
)
from hookproof.conformance.target.hooks.noted_provision import noted_provision
from hookproof.conformance.target.preflight import is_list_answer
from hookproof.spec.dialect.vocabulary import BadParameter, Match

# No service has pages of this size.
BEYOND: Final = 1_000_000
MAXIMUM: Final = "paging.maximum_per_page"
ABOVE: Final = "paging.above_maximum"
UNREADABLE: Final = ({"perPage": "many"}, {"sort": "sideways"}, {"direction": "up"})
LOST: Final = {"direction": "next", "next_page_cursor": "?"}
SUCCESS: Final = {LINKS: "success.list_portal_links", SOURCES: "success.ok"}
EMPTY: Final = "the list of portal links is empty, and the eight operations create none"
NO_SECOND_PAGE: Final = "no list has two resources, for a second page"
# So many resources are hardly ever in the order of a field by chance.
IN_ORDER: Final = 4
SORT_KEYS: Final = ("created_at", "name")
MOST_PAGES: Final = 12
# A filter that is part of a text is told from other texts by at least so many characters.
SHORTEST: Final = 4


async def fill_lists(session: ProbeSession) -> None:
    """Have the target's hooks create what its lists lack: an empty one shows nothing."""
    provision = noted_provision(session.target.provision, session.hook_failures, str)
    seeding = Seeding(provision, session.answers.extended.words, session.nonce)
    for operation_id in SUCCESS:
        await seeding.fill(session.api, operation_id, session.project)


async def probe_lists(session: ProbeSession) -> Sequence[Mapping[str, Any]]:
    """Learn how lists are answered; returns the portal links of the first page.

    What both lists have alike is asked of each that is answered: one may be refused, or empty.
    """
    first = {name: await session.call(name, "first page") for name in SUCCESS}
    for operation_id, field in SUCCESS.items():
        if first[operation_id].succeeded:
            session.answers.see(field, first[operation_id].status, shown_by=first[operation_id])
    session.lists = taken = tuple(name for name in SUCCESS if is_list_answer(first[name]))
    _read_default_page(session, [first[name] for name in taken])
    if taken:
        await _probe_largest_page(session, taken[0])
        await _probe_bad_parameters(session, "paging.bad_parameter", UNREADABLE)
        await _probe_bad_parameters(session, "paging.bad_cursor", [LOST])
    await _probe_cursor(session)
    await _probe_direction(session)
    await _probe_order(session)
    await _read_sources(session)
    return items(first[LINKS])


def _read_default_page(session: ProbeSession, pages: Sequence[Exchange]) -> None:
    sizes = [(pagination(page).get("per_page"), page) for page in pages]
    known = [(size, page) for size, page in sizes if isinstance(size, int)]
    if known:
        values = dict.fromkeys(size for size, _ in known)
        field = "paging.default_per_page"
        session.answers.see(field, *values, shown_by=known[0][1], count=len(known))


async def _page_of(session: ProbeSession, name: str, size: int) -> Exchange:
    return await session.call(name, f"pages of {size}", query={"perPage": str(size)})


async def _probe_largest_page(session: ProbeSession, name: str) -> None:
    """A larger page is made smaller, or refused: then the largest is searched."""
    answers, beyond = session.answers, await _page_of(session, name, BEYOND)
    size = pagination(beyond).get("per_page")
    if not accepted_or_refused(beyond):
        for field in (MAXIMUM, ABOVE):
            miss_undecided(session, field, beyond)
    elif beyond.succeeded and size == BEYOND:
        answers.miss(MAXIMUM, f"none up to {BEYOND} was met")
        answers.miss(ABOVE, f"pages of {BEYOND} are accepted")
    elif beyond.succeeded and isinstance(size, int) and 0 < size < BEYOND:
        larger = await _page_of(session, name, size + 1)
        if larger.succeeded and pagination(larger).get("per_page") == size:
            answers.see(ABOVE, "clamp", shown_by=beyond)
            answers.see(MAXIMUM, size, shown_by=beyond)
        else:
            reason = f"a page of {BEYOND} becomes one of {size}, and one of {size + 1} does not"
            answers.miss(MAXIMUM, reason)
            answers.miss(ABOVE, reason)
    elif refused(beyond) and (await _page_of(session, name, 1)).succeeded:
        answers.see(ABOVE, "refuse", shown_by=beyond)
        see_status(session, "errors.invalid_value", beyond)
        await _search_largest_page(session, name)


async def _search_largest_page(session: ProbeSession, name: str) -> None:
    """By halves, between 1, which is accepted, and what is beyond every page."""
    largest, smallest_refused = 1, BEYOND
    while smallest_refused - largest > 1:
        middle = (largest + smallest_refused) // 2
        page = await _page_of(session, name, middle)
        if refused(page):
            smallest_refused = middle
        elif page.succeeded:
            largest = middle
        else:
            miss_undecided(session, MAXIMUM, page)
            return
    session.answers.see(
        MAXIMUM,
        largest,
        shown_by=f"{name} accepts perPage={largest} and refuses {smallest_refused}",
    )


async def _probe_bad_parameters(
    session: ProbeSession, field: str, queries: Sequence[Mapping[str, str]]
) -> None:
    """Each is refused, or taken as absent: then the page is the one that comes without it."""
    asked: list[tuple[Exchange, Exchange, Exchange]] = []
    for operation_id in session.lists:
        before = await session.call(operation_id, ORDINARY)
        tried = [
            await session.call(operation_id, f"with {_named(query)}", query=query)
            for query in queries
        ]
        after = await session.call(operation_id, ORDINARY)
        asked += [(before, each, after) for each in tried]
    kinds: list[BadParameter] = []
    for before, each, after in asked:
        if not accepted_or_refused(each):
            miss_undecided(session, field, each)
            return
        if refused(each):
            see_status(session, "errors.invalid_value", each)
        elif differs := difference_from(before, each, after):
            session.answers.miss(field, f"it is neither refused nor ignored: {each.role}{differs}")
            return
        kinds.append(BadParameter.REFUSE if refused(each) else BadParameter.DEFAULT)
    words = dict.fromkeys(kind.value for kind in kinds)
    session.answers.see(field, *words, shown_by=asked[0][1], count=len(asked))


def _named(query: Mapping[str, str]) -> str:
    return "a cursor of no page" if query is LOST else " ".join(map("=".join, query.items()))


async def _probe_cursor(session: ProbeSession) -> None:
    """A cursor may be the identifier of a resource on either side of where it leads, or of any."""
    for operation_id in session.lists:
        page = await session.call(operation_id, "a page of one", query={"perPage": "1"})
        onward = cursor(page, "next_page_cursor")
        if onward and items(page):
            listed = await _all_pages(session, operation_id)
            uids = [item.get("uid") for each in (page, *listed) for item in items(each)]
            if onward in uids:
                session.answers.see("paging.cursor_form", "identifier", shown_by=page)
            elif pagination(listed[-1]).get("has_next_page") is False:
                session.answers.see("paging.cursor_form", "opaque", shown_by=page)
            else:
                continue
            return
    session.answers.miss("paging.cursor_form", NO_SECOND_PAGE)


async def _probe_direction(session: ProbeSession) -> None:
    """What comes where prev leads back from nowhere; it shows where a list has two pages."""
    field, query = "paging.prev_without_cursor", {"perPage": "1"}
    for operation_id in session.lists:
        page = await session.call(operation_id, "the first page", query=query)
        if not cursor(page, "next_page_cursor"):
            continue
        back = await session.call(
            operation_id, "back from nowhere", query={**query, "direction": "prev"}
        )
        first = next((item.get("uid") for item in items(page)), None)
        last = next((item.get("uid") for item in items(back)[-1:]), None)
        if cursor(back, "next_page_cursor"):
            last = None  # others follow it
        is_answer = refused(back) or was_successful(back)
        meanings = pages_back_from_nowhere(back, first, last) if is_answer else []
        if meanings:
            session.answers.see(field, meanings[0].value, shown_by=back)
        else:
            reason = "the page that comes is neither the first nor the last one"
            session.answers.miss(field, reason)
        return
    session.answers.miss(field, NO_SECOND_PAGE)


async def _probe_order(session: ProbeSession) -> None:
    """The field by which a list of different names and times is in order."""
    field = "paging.sort_key"
    size = session.answers.value(MAXIMUM) or session.answers.value("paging.default_per_page")
    query = {"sort": "ASC", **({"perPage": str(size)} if size else {})}
    fitting: dict[str, Exchange] = {}
    for operation_id in session.lists:
        page = await session.call(operation_id, "in ascending order", query=query)
        listed = {key: [item.get(key) for item in items(page)] for key in SORT_KEYS}
        keys = [
            key
            for key, values in listed.items()
            if is_in_order(values, ascending=True) and len(set(values)) > 1
        ]
        if len(keys) == 1 and len(items(page)) >= IN_ORDER:
            fitting.setdefault(keys[0], page)
    if fitting:
        session.answers.see(field, *fitting, shown_by=next(iter(fitting.values())))
    else:
        session.answers.miss(
            field,
            f"no list of at least {IN_ORDER} resources is in order by either names or times alone;"
            " several whose names and times are in different orders would show it",
        )


async def _read_sources(session: ProbeSession) -> None:
    """The words that sources show; a list that shows none tells nothing."""
    if SOURCES not in session.lists:
        return
    pages = await _all_pages(session, SOURCES)
    listed = [item for page in pages for item in items(page)]
    places = {
        "source_types": ("type",),
        "source_providers": ("provider",),
        "verifier_types": ("verifier", "type"),
        "pub_sub_types": ("pub_sub", "type"),
        "hmac_encodings": ("verifier", "hmac", "encoding"),
        "kafka_auth_types": ("pub_sub", "kafka", "auth", "type"),
    }
    for name, path in places.items():
        words = [word for item in listed if isinstance(word := _at(item, path), str) and word]
        _see_words(session, f"words.{name}", words, pages[0])


async def _all_pages(session: ProbeSession, operation_id: str) -> list[Exchange]:
    pages = [await session.call(operation_id, "first page")]
    while len(pages) < MOST_PAGES and pagination(pages[-1]).get("has_next_page") is True:
        onward = cursor(pages[-1], "next_page_cursor")
        if not onward:
            break
        query = {"direction": "next", "next_page_cursor": onward}
        pages.append(await session.call(operation_id, "a further page", query=query))
    return pages


def _at(item: Any, path: Sequence[str]) -> Any:
    for name in path:
        item = item.get(name) if isinstance(item, Mapping) else None
    return item


def _see_words(session: ProbeSession, field: str, seen: list[str], page: Exchange) -> None:
    """The words that were seen close no list: a service has as many as nobody created yet."""
    words = list(dict.fromkeys(seen))
    if not words:
        session.answers.miss(field, "no source shows one; sources with it would")
        return
    reason = f"{' and '.join(words)} were seen ({in_words(page)}), and there may be others"
    if session.answers.may_stay_open(field):
        session.answers.miss(field, reason)
    else:
        known = session.answers.value(field) or []
        session.answers.assume(field, list(dict.fromkeys([*known, *words])), reason)


async def probe_filters(session: ProbeSession, links: Sequence[Mapping[str, Any]]) -> None:
    """Learn the names of the filters, and how each is compared."""
    for field, match, member in (
        ("paging.owner_filter", "paging.owner_match", "owner_id"),
        ("paging.name_filter", "paging.name_match", "name"),
    ):
        value = _telling_value(links, member)
        if value is None:
            no_links = why_no_links(session)
            reason = f"{no_links}; a portal link with a {member} of several letters would show it"
            session.answers.miss(field, reason)
            session.answers.miss(match, reason)
        elif (name := await _find_filter(session, field, member, value)) is not None:
            await _probe_match(session, match, member, name, value)


def why_no_links(session: ProbeSession) -> str:
    """Why no portal link can be asked for."""
    return EMPTY if LINKS in session.lists else "the list of portal links is refused"


def _telling_value(links: Sequence[Mapping[str, Any]], member: str) -> str | None:
    """A value whose parts are found nowhere else: of one portal link, with letters to be changed.

    The longest is the most telling.
    """
    values = [link.get(member) for link in links]
    texts = [value for value in values if isinstance(value, str) and len(value) >= SHORTEST]
    telling = [text for text in texts if text.isascii() and text.swapcase() != text]
    return max(telling, key=lambda text: (_is_plain(text), len(text)), default=None)


def _is_plain(text: str) -> bool:
    return text.replace(" ", "").replace("-", "").isalnum()


async def _find_filter(session: ProbeSession, field: str, member: str, value: str) -> str | None:
    """The parameter that leaves the portal links with this value, and no others."""
    for name in map(str, candidates(field, session.answers.extended)):
        query = {name: session.word("nobody")}
        nobody = await session.call(LINKS, f"filtered by {name}, for nothing", query=query)
        if items(nobody) or not nobody.succeeded:
            continue
        found = await session.call(LINKS, f"filtered by {name}", query={name: value})
        shown = [item.get(member) for item in items(found)]
        if value in shown:
            session.answers.see(field, name, shown_by=found)
            return name
    session.answers.miss(field, "none of the names that were tried filters the list")
    return None


async def _probe_match(
    session: ProbeSession, field: str, member: str, name: str, value: str
) -> None:
    """Which parts and spellings of a value find the portal link that has it."""
    tried = {"prefix": value[:-1], "part": value[1:-1], "other case": value.swapcase()}
    finds: dict[str, bool] = {}
    for about, text in tried.items():
        page = await session.call(LINKS, f"filtered by {name}, {about}", query={name: text})
        finds[about] = value in [item.get(member) for item in items(page)]
        is_cut = pagination(page).get("has_next_page") is True
        if not page.succeeded or (is_cut and not finds[about]):
            session.answers.miss(field, f"whether {about} of a value finds it cannot be told")
            return
    fitting = [
        match.value
        for match in Match
        if finds == {about: match.matches(text, value) for about, text in tried.items()}
    ]
    if fitting:
        session.answers.see(field, *fitting, shown_by=page, count=len(tried))
    else:
        session.answers.miss(field, f"{finds} is what no way to compare would find")
