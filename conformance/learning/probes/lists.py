"""The lists: page sizes, cursors, order, filters, words (sections 4.4 and 4.7)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hookproof.conformance.experiments.support.seeding import Seeding
from hookproof.conformance.learning.candidates import candidates
from hookproof.conformance.learning.probes.access import miss_undecided, see_status
from hookproof.conformance.learning.session import LINKS, SOURCES, ProbeSession
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import (
    accepted_or_refused,
    cursor,
    items,
    pagination,
    refused,
)
from hookproof.conformance.target.hooks.noted_provision import noted_provision
from hookproof.spec.dialect.vocabulary import Match

# No service has pages of this size.
BEYOND: Final = 1_000_000
MAXIMUM: Final = "paging.maximum_per_page"
SUCCESS: Final = {LINKS: "success.list_portal_links", SOURCES: "success.ok"}
EMPTY: Final = "the list of portal links is empty, and the eight operations create none"
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
    """Learn how lists are answered; returns the portal links of the first page."""
    first: dict[str, Exchange] = {}
    for operation_id, field in SUCCESS.items():
        first[operation_id] = await session.call(operation_id, "first page")
        if first[operation_id].succeeded:
            session.answers.see(field, first[operation_id].status, shown_by=first[operation_id])
    per_page = pagination(first[LINKS]).get("per_page")
    if isinstance(per_page, int):
        session.answers.see("paging.default_per_page", per_page, shown_by=first[LINKS])
    await _probe_largest_page(session)
    await _probe_bad_parameter(session)
    await _probe_cursor(session)
    await _probe_order(session)
    await _read_sources(session)
    return items(first[LINKS])


async def _page_of(session: ProbeSession, size: int) -> Exchange:
    return await session.call(LINKS, f"pages of {size}", query={"perPage": str(size)})


async def _probe_largest_page(session: ProbeSession) -> None:
    """A larger page is made smaller, or refused: then the largest is searched."""
    answers, beyond = session.answers, await _page_of(session, BEYOND)
    size = pagination(beyond).get("per_page")
    if not accepted_or_refused(beyond):
        for field in (MAXIMUM, "paging.above_maximum"):
            miss_undecided(session, field, beyond)
    elif beyond.succeeded and size == BEYOND:
        answers.see(MAXIMUM, None, shown_by=beyond)
        answers.miss("paging.above_maximum", f"pages of {BEYOND} are accepted")
    elif beyond.succeeded and isinstance(size, int) and 0 < size < BEYOND:
        answers.see("paging.above_maximum", "clamp", shown_by=beyond)
        answers.see(MAXIMUM, size, shown_by=beyond)
    elif refused(beyond) and (await _page_of(session, 1)).succeeded:
        answers.see("paging.above_maximum", "refuse", shown_by=beyond)
        see_status(session, "errors.invalid_value", beyond)
        await _search_largest_page(session)


async def _search_largest_page(session: ProbeSession) -> None:
    """By halves, between 1, which is accepted, and what is beyond every page."""
    largest, smallest_refused = 1, BEYOND
    while smallest_refused - largest > 1:
        middle = (largest + smallest_refused) // 2
        page = await _page_of(session, middle)
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
        shown_by=f"{LINKS} accepts perPage={largest} and refuses {smallest_refused}",
    )


async def _probe_bad_parameter(session: ProbeSession) -> None:
    bad = {"perPage": "many", "sort": "sideways", "direction": "up"}
    answers = [
        await session.call(LINKS, f"with {name}={value}", query={name: value})
        for name, value in bad.items()
    ]
    _see_refusal_or_default(session, "paging.bad_parameter", answers)
    lost = await session.call(LINKS, "with a cursor of no page", query={"next_page_cursor": "?"})
    _see_refusal_or_default(session, "paging.bad_cursor", [lost])


def _see_refusal_or_default(session: ProbeSession, field: str, answers: Sequence[Exchange]) -> None:
    for answer in answers:
        if not accepted_or_refused(answer):
            miss_undecided(session, field, answer)
            return
        if refused(answer):
            see_status(session, "errors.invalid_value", answer)
    kinds = ["refuse" if refused(answer) else "default" for answer in answers]
    session.answers.see(field, *dict.fromkeys(kinds), shown_by=answers[0], count=len(answers))


async def _probe_cursor(session: ProbeSession) -> None:
    for operation_id in (LINKS, SOURCES):
        page = await session.call(operation_id, "a page of one", query={"perPage": "1"})
        onward = cursor(page, "next_page_cursor")
        uids = [item.get("uid") for item in items(page)]
        if onward and uids:
            form = "identifier" if onward in uids else "opaque"
            session.answers.see("paging.cursor_form", form, shown_by=page)
            return
    session.answers.miss("paging.cursor_form", "no list has two resources, for a second page")


async def _probe_order(session: ProbeSession) -> None:
    """The field by which a list of different names and times is in order."""
    size = session.answers.value(MAXIMUM) or session.answers.value("paging.default_per_page")
    query = {"sort": "ASC", **({"perPage": str(size)} if size else {})}
    page = await session.call(LINKS, "in ascending order", query=query)
    listed, fitting = items(page), []
    for key in ("created_at", "name"):
        values = [item.get(key) for item in listed]
        texts = [value for value in values if isinstance(value, str)]
        if len(texts) == len(values) and texts == sorted(texts) and len(set(texts)) > 1:
            fitting.append(key)
    if len(fitting) == 1:
        session.answers.see("paging.sort_key", *fitting, shown_by=page, count=len(listed))
    else:
        session.answers.miss(
            "paging.sort_key",
            "the portal links are in order by both names and times, or by neither; several whose"
            " names and times are in different orders would show it",
        )


async def _read_sources(session: ProbeSession) -> None:
    """The words that sources show; a list that shows none tells nothing."""
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
    """The words that were seen; beside them those of the extended dialect, which may come yet."""
    words = list(dict.fromkeys(seen))
    if not words:
        session.answers.miss(field, "no source shows one; sources with it would")
    elif session.answers.may_stay_open(field):
        session.answers.see(field, *words, shown_by=page, count=len(seen))
    else:
        known = session.answers.value(field) or []
        every = list(dict.fromkeys([*known, *words]))
        session.answers.see(field, every, shown_by=page, count=len(seen))


async def probe_filters(session: ProbeSession, links: Sequence[Mapping[str, Any]]) -> None:
    """Learn the names of the filters, and how each is compared."""
    for field, match, member in (
        ("paging.owner_filter", "paging.owner_match", "owner_id"),
        ("paging.name_filter", "paging.name_match", "name"),
    ):
        value = _telling_value(links, member)
        if value is None:
            reason = f"{EMPTY}; a portal link with a {member} of several letters would show it"
            session.answers.miss(field, reason)
            session.answers.miss(match, reason)
        elif (name := await _find_filter(session, field, member, value)) is not None:
            await _probe_match(session, match, member, name, value)


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
        if not page.succeeded:
            return
        finds[about] = value in [item.get(member) for item in items(page)]
    fitting = [
        match.value
        for match in Match
        if finds == {about: match.matches(text, value) for about, text in tried.items()}
    ]
    if fitting:
        session.answers.see(field, *fitting, shown_by=page, count=len(tried))
    else:
        session.answers.miss(field, f"{finds} is what no way to compare would find")
