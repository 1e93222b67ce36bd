"""Examples for sections 2.1 and 2.2: the envelope, and single pages of lists."""

from tests.conformance.canned_evidence import exchange
from tests.conformance.checks.api.example import Example, created, page
from tests.conformance.subjects.lists.examples import DESCENDING, ITEMS, LINKS, SOURCES

ENVELOPE = (
    Example(
        requirement="2.1-1",
        kept=created(),
        broken=exchange("create", "createEndpoint", body=b"created"),
    ),
    *(
        Example(
            requirement=requirement,
            kept=created(),
            broken=exchange(body={"message": "m", "status": True, "data": {}, member: value}),
        )
        for requirement, member, value in (
            ("2.1-2", "message", 1),
            ("2.1-3", "status", "ok"),
            ("2.1-5", "data", []),
        )
    ),
    Example(
        requirement="2.1-4",
        kept=created(),
        broken=exchange(body={"message": "m", "status": False, "data": {}}),
    ),
    Example(
        requirement="2.1-6",
        kept=exchange(
            response_headers=[("content-type", "application/problem+json; charset=utf-8")]
        ),
        broken=exchange(response_headers=[("Content-Type", "text/html")]),
    ),
)

PAGINATION = (
    Example(
        requirement="2.2-1",
        kept=page(LINKS, []),
        broken=exchange("page", LINKS, data={"content": None, "pagination": {}}),
    ),
    Example(
        requirement="2.2-2",
        kept=page(SOURCES, []),
        broken=exchange("page", SOURCES, data={"content": []}),
    ),
    *(
        Example(
            requirement=requirement, kept=page(LINKS, []), broken=page(LINKS, [], **{member: value})
        )
        for requirement, member, value in (
            ("2.2-3", "has_next_page", "false"),
            ("2.2-4", "has_prev_page", None),
            ("2.2-5", "per_page", True),
        )
    ),
    *(
        Example(
            requirement=requirement,
            kept=page(LINKS, [], **{member: "cursor"}),
            broken=page(LINKS, [], **{member: 7}),
        )
        for requirement, member in (("2.2-6", "next_page_cursor"), ("2.2-7", "prev_page_cursor"))
    ),
    Example(
        requirement="2.2-8",
        kept=page(LINKS, [ITEMS[letter] for letter in DESCENDING], per_page=3),
        broken=page(LINKS, [ITEMS[letter] for letter in DESCENDING], per_page=2),
    ),
    Example(
        requirement="2.2-16",
        kept=exchange(
            "page",
            LINKS,
            dialect="contrary",
            data={
                "content": [],
                "pagination": {"next_page_cursor": "018bcfe5-7277-788c-997d-b9334054aff9"},
            },
        ),
        broken=exchange(
            "page",
            LINKS,
            dialect="contrary",
            data={"content": [], "pagination": {"next_page_cursor": "b3BhcXVl"}},
        ),
        dialect="contrary",
    ),
)


EXAMPLES = (
    *ENVELOPE,
    *PAGINATION,
)
