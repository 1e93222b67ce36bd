"""Where a walk through a list ends, and why; what a page that ends it too soon still shows."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hookproof.conformance.experiments.context import Trial
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.answer import cursor, has_numeric_cursor
from hookproof.conformance.observations.succeeding_requests import SucceedingRequests
from hookproof.conformance.subjects.lists.evidence import PageWalk
from hookproof.conformance.subjects.lists.walks import (
    PlannedWalk,
    go_forward,
    is_evidently_last,
    why_ended,
)
from tests.conformance.canned_evidence import all_verdicts, exchange, observation


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


def page(data: object, *, role: str = "page", status: int = 200) -> Exchange:
    return exchange(role, "listPortalLinks", data=data, status=status)


def shown(*uids: str, **pagination: Any) -> dict[str, Any]:
    return {"content": [{"uid": uid} for uid in uids], "pagination": pagination}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (page(shown("a", has_next_page=False)), ""),
        (page({"content": None}), ""),
        (page(shown("a", has_next_page=True, next_page_cursor="c")), None),
        (page(shown("a", has_next_page=True, next_page_cursor=17)), None),
        (page({"content": [{"uid": "a"}]}), "page 1 has no object data.pagination that says"),
        (page(shown("a", has_next_page=True, next_page_cursor=["c"])), "that could be sent"),
        (page(None, status=401), "page 1 was answered 401; a success of it would help"),
    ],
    ids=["last", "no list", "text", "number", "no pagination", "list as cursor", "refused"],
)
def test_a_walk_that_ends_too_soon_has_a_reason(answer: Exchange, reason: str | None) -> None:
    ended = why_ended(answer, "page 1")
    if reason:
        assert ended is not None
        assert reason in ended
        assert ended.endswith("would help")
    else:
        assert ended == reason


def test_a_page_that_was_refused_is_named_with_what_was_asked_of_it() -> None:
    first = page(shown("a", has_next_page=True, next_page_cursor="c"))
    answers = iter([first, page(None, status=400)])

    async def answer(*_arguments: object, **_given: object) -> Exchange:
        return next(answers)

    trial = cast("Trial", SimpleNamespace(call=answer))
    walk = PlannedWalk(operation_id="listPortalLinks", sort="ASC")
    pages, unended = asyncio.run(go_forward(trial, walk, most=3))
    assert len(pages) == 2
    assert unended == (
        "page 2 of listPortalLinks with sort=ASC and direction=next and next_page_cursor was"
        " answered 400; a success of it would help"
    )


@pytest.mark.parametrize(
    ("value", "text", "numeric"),
    [("c", "c", False), (17, "17", True), (True, None, False), (None, None, False)],
    ids=["text", "number", "boolean", "null"],
)
def test_a_number_is_a_cursor_that_can_be_sent(
    value: object, text: str | None, numeric: bool
) -> None:
    answer = page(shown(next_page_cursor=value))
    assert cursor(answer, "next_page_cursor") == text
    assert has_numeric_cursor(answer, "next_page_cursor") is numeric


def walk(*pages: Exchange) -> PageWalk:
    fields = {"sort": None, "per_page": 1, "filter": None, "listed": (), "complete": True}
    return observation(PageWalk, *pages, operation_id="listPortalLinks", **fields)


def test_the_pages_before_one_that_cannot_be_read_are_walked() -> None:
    first = page(shown("a", has_next_page=True))
    walked = walk(first, page(None, status=500), page(shown("c"))).walked()
    assert walked is not None
    assert (walked.uids, walked.complete) == (("a",), False)
    assert walk(page({"content": None}), first).walked() is None


def test_what_a_number_did_not_lead_to_is_no_page_of_a_walk() -> None:
    first = page(shown("a", has_next_page=True))
    walked = walk(first, page(shown("z"), role="by number")).walked()
    assert walked is not None
    assert (walked.uids, walked.stepped_back) == (("a",), ())


def test_a_page_without_pagination_shows_its_resources() -> None:
    walked = walk(page({"content": [{"uid": "a"}]})).walked()
    assert walked is not None
    assert (walked.uids, dict(walked.pages[0].pagination)) == (("a",), {})


@pytest.mark.parametrize(
    ("query", "judged"),
    [
        ("?perPage=2", {"4.4-1": Verdict.FAIL}),
        ("?perPage=2&direction=next&next_page_cursor=c", {}),
        ("?direction=prev&prev_page_cursor=c", {}),
    ],
)
def test_sections_on_paging_answer_for_a_cursor_that_is_refused(
    query: str, judged: dict[str, Verdict]
) -> None:
    page = exchange("page", "listPortalLinks", status=400, query=query)
    assert all_verdicts(observation(SucceedingRequests, page)) == judged


@pytest.mark.parametrize(
    ("query", "verdict"),
    [
        ("?perPage=1", Verdict.FAIL),
        ("?direction=next&next_page_cursor=c", Verdict.FAIL),
        ("?direction=prev&prev_page_cursor=c", None),
        ("?prev_page_cursor=c", None),
    ],
)
def test_before_the_first_page_there_is_a_next_one(query: str, verdict: Verdict | None) -> None:
    empty = exchange("sweep", "listPortalLinks", data=shown(has_next_page=True), query=query)
    assert all_verdicts(empty).get("2.2-18") is verdict
