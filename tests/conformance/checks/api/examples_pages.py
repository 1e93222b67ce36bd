"""Examples for sections 2.1 and 2.2: the envelope, and single pages of lists."""

from hookproof.conformance.checks.api.lists.pagination import (
    a_cursor_has_the_dialects_form,
    a_cursor_is_a_string_wherever_it_has_a_value,
    a_list_holds_content_and_pagination,
    a_page_holds_no_more_than_its_per_page,
    pages_have_both_flags_and_per_page,
)
from hookproof.conformance.checks.api.responses.envelope import (
    a_json_body_is_declared_as_json,
    a_success_has_message_status_and_data,
    a_success_is_one_json_object,
    the_success_flag_of_a_success_is_true,
)
from tests.conformance.canned_evidence import exchange
from tests.conformance.checks.api.example import Example, created, page
from tests.conformance.checks.api.examples_lists import DESCENDING, ITEMS, LINKS, SOURCES

ENVELOPE = (
    Example(
        check=a_success_is_one_json_object,
        requirement="2.1-1",
        kept=created(),
        broken=exchange("create", "createEndpoint", body=b"created"),
    ),
    *(
        Example(
            check=a_success_has_message_status_and_data,
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
        check=the_success_flag_of_a_success_is_true,
        requirement="2.1-4",
        kept=created(),
        broken=exchange(body={"message": "m", "status": False, "data": {}}),
    ),
    Example(
        check=a_json_body_is_declared_as_json,
        requirement="2.1-6",
        kept=exchange(
            response_headers=[("content-type", "application/problem+json; charset=utf-8")]
        ),
        broken=exchange(response_headers=[("Content-Type", "text/html")]),
    ),
)

PAGINATION = (
    Example(
        check=a_list_holds_content_and_pagination,
        requirement="2.2-1",
        kept=page(LINKS, []),
        broken=exchange("page", LINKS, data={"content": None, "pagination": {}}),
    ),
    Example(
        check=a_list_holds_content_and_pagination,
        requirement="2.2-2",
        kept=page(SOURCES, []),
        broken=exchange("page", SOURCES, data={"content": []}),
    ),
    *(
        Example(
            check=pages_have_both_flags_and_per_page,
            requirement=requirement,
            kept=page(LINKS, []),
            broken=page(LINKS, [], **{member: value}),
        )
        for requirement, member, value in (
            ("2.2-3", "has_next_page", "false"),
            ("2.2-4", "has_prev_page", None),
            ("2.2-5", "per_page", True),
        )
    ),
    *(
        Example(
            check=a_cursor_is_a_string_wherever_it_has_a_value,
            requirement=requirement,
            kept=page(LINKS, [], **{member: "cursor"}),
            broken=page(LINKS, [], **{member: 7}),
        )
        for requirement, member in (("2.2-6", "next_page_cursor"), ("2.2-7", "prev_page_cursor"))
    ),
    Example(
        check=a_page_holds_no_more_than_its_per_page,
        requirement="2.2-8",
        kept=page(LINKS, [ITEMS[letter] for letter in DESCENDING], per_page=3),
        broken=page(LINKS, [ITEMS[letter] for letter in DESCENDING], per_page=2),
    ),
    Example(
        check=a_cursor_has_the_dialects_form,
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
