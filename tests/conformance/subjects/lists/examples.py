"""Examples for sections 2.2, 4.4, 4.7 and 8: walks through lists, and their parameters."""

from dataclasses import fields, replace
from typing import Any, TypeVar

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.mistakes import ORDINARY
from hookproof.conformance.subjects.lists.evidence import (
    ORDINARY_BEFORE,
    BackFromNowhere,
    ComparedPage,
    DefaultPageSize,
    ListRequest,
    PageSizeAboveMaximum,
    PageWalk,
    UnreadableParameter,
    WalkWithInserts,
)
from tests.conformance.canned_evidence import observation
from tests.conformance.checks.api.example import Example, page, refusal

LINKS, SOURCES = "listPortalLinks", "listSources"


def back_from_nowhere(answer: Exchange) -> BackFromNowhere:
    """Direction prev without a cursor, in a list of two."""
    return observation(
        BackFromNowhere,
        answer,
        operation_id=answer.operation_id,
        query={"direction": "prev"},
        first="first",
        last="last",
    )


Requested = TypeVar("Requested", bound=ListRequest)

ITEMS = {
    uid: {
        "uid": uid,
        "name": f"Link {uid}",
        "owner_id": owner,
        "type": kind,
        "provider": provider,
        "created_at": f"2024-01-0{day}T00:00:00.000001Z",
    }
    for uid, owner, kind, provider, day in (
        ("d", "o3", "http", None, 4),
        ("c", "o1", "http", None, 3),
        ("b", "o2", "pub_sub", None, 2),
        ("a", "o1", "http", "github", 1),
    )
}
DESCENDING = ("c", "b", "a")


def walk(
    *pages: str,
    operation_id: str = LINKS,
    sort: str | None = None,
    per_page: int | None = None,
    filtered: dict[str, str] | None = None,
    back: dict[int, str] | None = None,
    complete: bool = True,
    last: dict[str, Any] | None = None,
) -> PageWalk:
    """A walk whose pages hold the resources of these letters; `back` is what stepping back from a
    page showed.
    """
    exchanges: list[Exchange] = []
    for position, letters in enumerate(pages):
        pagination: dict[str, Any] = {"has_prev_page": position > 0, "per_page": per_page or 20}
        if position < len(pages) - 1:
            pagination |= {"has_next_page": True, "next_page_cursor": "onward"}
        elif last is not None:
            pagination |= last
        exchanges.append(page(operation_id, [ITEMS[letter] for letter in letters], **pagination))
        if back and position in back:
            exchanges.append(
                page(operation_id, [ITEMS[letter] for letter in back[position]], "back")
            )
    return observation(
        PageWalk,
        *exchanges,
        operation_id=operation_id,
        sort=sort,
        per_page=per_page,
        filter=filtered,
        listed=tuple(ITEMS[letter] for letter in DESCENDING),
        complete=complete,
    )


def stepped_back(**pagination: Any) -> PageWalk:
    """A walk over two pages, and a step back to the first that shows this pagination."""
    whole = walk("cb", "a")
    back = page(LINKS, [ITEMS["c"], ITEMS["b"]], "back", **{"has_next_page": True, **pagination})
    return replace(whole, exchanges=(*whole.exchanges, back))


def with_additions(*pages: str) -> WalkWithInserts:
    """A walk during which d was added to a, b and c."""
    whole = walk(*pages)
    shared = {field.name: getattr(whole, field.name) for field in fields(whole)}
    return WalkWithInserts(**shared, before=tuple("abc"), still=tuple("cba"), made=("d",))


def first_page_that_claims_one_before() -> PageWalk:
    only_page = page(LINKS, list(ITEMS.values()), has_prev_page=True)
    return replace(walk("cba"), exchanges=(only_page,))


def list_request(kind: type[Requested], answer: Exchange, **query: str) -> Requested:
    """A request for a list, its answer, and the ordinary requests beside it where it has some."""
    operation_id = answer.operation_id or LINKS
    roles = (ORDINARY_BEFORE, ORDINARY) if issubclass(kind, ComparedPage) else ()
    beside = [page(operation_id, [{"uid": "a"}], role, per_page=20) for role in roles]
    return observation(kind, answer, *beside, operation_id=operation_id, query=query)


def with_refused_step(role: str, operation_id: str) -> PageWalk:
    """A walk over two pages, and a request with a cursor of the second one that was refused."""
    whole = walk("cb", "a", operation_id=operation_id)
    return replace(whole, exchanges=(*whole.exchanges, refusal(400, operation_id, role=role)))


WALKS = (
    *(
        Example(
            requirement=requirement,
            kept=walk("cb", "a", operation_id=operation_id, back={1: "cb"}),
            broken=with_refused_step(role, operation_id),
        )
        for requirement, role, operation_id in (
            ("4.4-4", "page", LINKS),
            ("4.4-5", "back", LINKS),
            ("4.7-4", "page", SOURCES),
            ("4.7-5", "back", SOURCES),
        )
    ),
    Example(requirement="2.2-9", kept=walk("c", "", "ba"), broken=walk("cba", "")),
    Example(
        requirement="2.2-9",
        kept=walk("c", "", "", "ba"),
        broken=walk("cba", "", "", last={"has_next_page": True, "next_page_cursor": "on"}),
    ),
    Example(
        requirement="2.2-9",
        kept=walk("c", "ba"),
        broken=walk("c", last={"has_next_page": True, "next_page_cursor": None}),
    ),
    *(
        Example(
            requirement=requirement,
            kept=walk("c", "b", "a", operation_id=operation_id),
            broken=walk("c", "c", "a", operation_id=operation_id),
        )
        for requirement, operation_id in (("4.4-4", LINKS), ("4.7-4", SOURCES))
    ),
    Example(requirement="2.2-10", kept=walk("cb", "a"), broken=walk("cb")),
    Example(requirement="2.2-11", kept=walk("cba"), broken=first_page_that_claims_one_before()),
    Example(
        requirement="2.2-12",
        kept=walk("cb", "a"),
        broken=walk("cb", "a", last={"has_prev_page": False}),
    ),
    Example(
        requirement="2.2-10",
        kept=stepped_back(has_next_page=True),
        broken=stepped_back(has_next_page=False),
    ),
    Example(
        requirement="2.2-11",
        kept=stepped_back(has_prev_page=False),
        broken=stepped_back(has_prev_page=True),
    ),
    Example(
        requirement="2.2-17",
        kept=with_additions("cb", "da"),
        broken=with_additions("dc", "cb", "a"),
    ),
    Example(requirement="2.2-17", kept=with_additions("cb", "a"), broken=with_additions("cb", "d")),
    *(
        Example(
            requirement=requirement,
            kept=walk("c", "b", "a", operation_id=operation_id, back={1: "c", 2: "b"}),
            broken=walk("c", "b", "a", operation_id=operation_id, back={1: "c", 2: "c"}),
        )
        for requirement, operation_id in (("2.2-13", LINKS), ("4.4-5", LINKS), ("4.7-5", SOURCES))
    ),
    Example(requirement="2.2-14", kept=walk("cb", "a"), broken=walk("cb", "ba")),
    Example(
        requirement="2.2-15", kept=walk("cb", "a", per_page=2), broken=walk("bc", "a", per_page=2)
    ),
    *(
        Example(
            requirement=requirement,
            kept=walk("cb", "a", operation_id=operation_id, per_page=2),
            broken=walk("cba", operation_id=operation_id, per_page=2),
        )
        for requirement, operation_id in (("4.4-6", LINKS), ("4.7-6", SOURCES))
    ),
)

ORDER = (
    *(
        Example(
            requirement=requirement,
            kept=walk(kept, operation_id=operation_id, sort=sort),
            broken=walk(broken, operation_id=operation_id, sort=sort),
        )
        for requirement, operation_id, sort, kept, broken in (
            ("4.4-7", LINKS, "DESC", "cba", "abc"),
            ("4.7-7", SOURCES, "DESC", "cba", "abc"),
            ("4.4-8", LINKS, "ASC", "abc", "cba"),
            ("4.7-8", SOURCES, "ASC", "abc", "acb"),
        )
    ),
    *(
        Example(
            requirement=requirement,
            kept=walk("a", "c", operation_id=operation_id, sort="ASC", filtered=filtered),
            broken=walk("c", "a", operation_id=operation_id, sort="ASC", filtered=filtered),
        )
        for requirement, operation_id, filtered in (
            ("4.4-8", LINKS, {"ownerId": "o1"}),
            ("4.7-8", SOURCES, {"type": "http"}),
        )
    ),
    *(
        Example(
            requirement=requirement,
            kept=walk(kept, operation_id=operation_id, sort=sort),
            broken=walk(broken, operation_id=operation_id, sort=sort),
        )
        for requirement, operation_id, sort, kept, broken in (
            ("4.4-15", LINKS, None, "cba", "bca"),
            ("4.7-14", SOURCES, "ASC", "abc", "bac"),
        )
    ),
)

FILTERS = tuple(
    Example(
        requirement=requirement,
        kept=walk(*kept, operation_id=operation_id, filtered=filtered),
        broken=walk(*broken, operation_id=operation_id, filtered=filtered),
    )
    for requirement, operation_id, filtered, kept, broken in (
        ("4.4-9", LINKS, {"ownerId": "o1"}, ("c", "a"), ("cba",)),
        ("4.4-10", LINKS, {"ownerId": "o1"}, ("c", "a"), ("c",)),
        ("4.4-11", LINKS, {"q": "LINK A"}, ("a",), ("ab",)),
        ("4.4-12", LINKS, {"q": "LINK A"}, ("a",), ("",)),
        ("4.4-13", LINKS, {"ownerId": "o1"}, ("c", "a"), ("c", "ba")),
        ("4.7-9", SOURCES, {"provider": "github"}, ("a",), ("ac",)),
        ("4.7-10", SOURCES, {"provider": "github"}, ("a",), ("",)),
        ("4.7-11", SOURCES, {"type": "http"}, ("c", "a"), ("cba",)),
        ("4.7-12", SOURCES, {"type": "http"}, ("c", "a"), ("c",)),
        ("4.7-13", SOURCES, {"type": "http"}, ("c", "a"), ("c", "ba")),
        ("4.4-9", LINKS, {"ownerId": "o2", "q": "link c"}, ("",), ("c",)),
        ("4.4-11", LINKS, {"ownerId": "o2", "q": "link c"}, ("",), ("b",)),
        ("4.7-9", SOURCES, {"provider": "github", "type": "pub_sub"}, ("",), ("b",)),
        ("4.7-11", SOURCES, {"provider": "github", "type": "pub_sub"}, ("",), ("a",)),
    )
)

PARAMETERS = (
    Example(
        requirement="8-12",
        kept=list_request(DefaultPageSize, page(LINKS, [], "tried", per_page=20)),
        broken=list_request(DefaultPageSize, page(LINKS, [], "tried", per_page=25)),
    ),
    Example(
        requirement="8-13",
        kept=list_request(PageSizeAboveMaximum, refusal(400, LINKS)),
        broken=list_request(PageSizeAboveMaximum, page(LINKS, [], "tried", per_page=101)),
    ),
    Example(
        requirement="8-13",
        kept=list_request(
            PageSizeAboveMaximum,
            page(LINKS, [{"uid": "a"}], "tried", per_page=50),
        ),
        broken=list_request(PageSizeAboveMaximum, refusal(422, LINKS)),
        dialect="contrary",
    ),
    *(
        Example(
            requirement=requirement,
            kept=list_request(UnreadableParameter, refusal(400, operation_id), sort="SIDEWAYS"),
            broken=list_request(
                UnreadableParameter, page(operation_id, [], "tried"), sort="SIDEWAYS"
            ),
        )
        for requirement, operation_id in (("4.4-16", LINKS), ("4.7-15", SOURCES))
    ),
    *(
        Example(
            requirement=requirement,
            kept=back_from_nowhere(page(operation_id, [{"uid": kept}], "tried")),
            broken=back_from_nowhere(broken),
            dialect=dialect,
        )
        for operation_id, requirement in ((LINKS, "4.4-17"), (SOURCES, "4.7-16"))
        for dialect, kept, other in (
            ("reference", "first", "last"),
            ("contrary", "last", "first"),
        )
        for broken in (
            page(operation_id, [{"uid": other}], "tried"),
            page(operation_id, [], "tried"),
            refusal(400, operation_id),
        )
    ),
)


EXAMPLES = (
    *WALKS,
    *ORDER,
    *FILTERS,
    *PARAMETERS,
)
