"""Where a walk through a list ends, although the page claims that another one follows."""

from typing import Any

import pytest

from hookproof.conformance.experiments.api.paging import is_evidently_last
from tests.conformance.canned_evidence import exchange


@pytest.mark.parametrize(
    ("items", "pagination", "is_last"),
    [
        (1, {"per_page": 2, "next_page_cursor": None}, True),
        (1, {"per_page": 2, "next_page_cursor": ""}, True),
        (0, {"per_page": 2}, True),
        (2, {"per_page": 2, "next_page_cursor": ""}, False),
        (1, {"per_page": 2, "next_page_cursor": "c"}, False),
        (1, {"per_page": "2", "next_page_cursor": ""}, False),
    ],
    ids=["null", "empty", "absent", "full page", "a cursor", "no size"],
)
def test_a_page_that_is_not_full_and_gives_no_cursor_is_the_last(
    items: int, pagination: dict[str, Any], is_last: bool
) -> None:
    content = [{"uid": f"l{number}"} for number in range(items)]
    shown = {"content": content, "pagination": {"has_next_page": True, **pagination}}
    assert is_evidently_last(exchange("page", "listPortalLinks", data=shown)) is is_last
