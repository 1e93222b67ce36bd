"""Walks over pages, of which each request is one that Schemathesis sends."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import pytest

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.schemathesis_plugin.rules import OF_LISTS, Rules, judging_checks
from hookproof.conformance.schemathesis_plugin.walks import AS_GENERATED
from hookproof.conformance.target.definition import Project
from hookproof.spec.dialect.reader import load_dialect
from tests.conformance.canned_evidence import NOW, exchange

LISTED = tuple(
    {
        "uid": f"link-{number}",
        "created_at": f"2026-01-0{9 - number}T00:00:00.000000Z",
        "owner_id": f"owner-{number % 2}",
        "name": f"link {number}",
        "type": "http",
        "provider": "github",
    }
    for number in range(3)
)
Answer = Callable[[Mapping[str, Any], dict[str, Any]], dict[str, Any]]


def page(query: Mapping[str, Any], listed: tuple[dict[str, Any], ...] = LISTED) -> dict[str, Any]:
    """What a list with cursors that are places answers."""
    size = int(query.get("perPage", 20))
    exact = {"ownerId": "owner_id", "type": "type", "provider": "provider"}
    listed = tuple(
        each
        for each in listed
        if all(each[field] == query[name] for name, field in exact.items() if name in query)
        and query.get("q", "").lower() in each["name"].lower()
    )
    ordered = listed[::-1] if query.get("sort") == "ASC" else listed
    first = 0
    if "next_page_cursor" in query:
        first = int(query["next_page_cursor"].removeprefix("at-"))
    if "prev_page_cursor" in query:
        first = int(query["prev_page_cursor"].removeprefix("at-")) - size
    shown, end = ordered[first : first + size], first + size
    return {
        "content": list(shown),
        "pagination": {
            "per_page": size,
            "has_next_page": end < len(listed),
            "has_prev_page": first > 0,
            "next_page_cursor": f"at-{end}" if end < len(listed) else "",
            "prev_page_cursor": f"at-{first}" if first > 0 else "",
        },
    }


def requests(
    rules: Rules, count: int, answer: Answer, operation: str = "listPortalLinks", first: int = 0
) -> set[str]:
    """What is found in so many requests for a list."""
    of_lists = {
        requirement
        for kind, check in judging_checks()
        for requirement in check.requirements
        if check.name in OF_LISTS
    }
    found: set[str] = set()
    for number in range(first, first + count):
        query = rules.walks.query(f"case {number}", operation)
        sent = query or {}
        listed: Exchange = exchange(
            "sweep",
            operation,
            data=answer(sent, page(sent)),
            query=f"?{urlencode(sent)}",
            sent_at=NOW + number,
        )
        found |= set(rules.violations(f"case {number}", listed, is_valid=True))
    return found & of_lists


def right(_query: Mapping[str, Any], shown: dict[str, Any]) -> dict[str, Any]:
    return shown


def wrong(member: str, value: Any, *, on: str = "") -> Answer:
    """Pages of which a member of the pagination is wrong, where the query has this word."""

    def answer(query: Mapping[str, Any], shown: dict[str, Any]) -> dict[str, Any]:
        if on and on not in query:
            return shown
        return {**shown, "pagination": {**shown["pagination"], member: value}}

    return answer


def first_page_always(query: Mapping[str, Any], _shown: dict[str, Any]) -> dict[str, Any]:
    return page({name: value for name, value in query.items() if name in {"perPage", "sort"}})


def without_filters(query: Mapping[str, Any], _shown: dict[str, Any]) -> dict[str, Any]:
    return page({name: value for name, value in query.items() if name not in {"ownerId", "q"}})


def lacking_the_first_match(query: Mapping[str, Any], shown: dict[str, Any]) -> dict[str, Any]:
    is_filtered = not {"ownerId", "q"}.isdisjoint(query)
    return page(query, LISTED[1:]) if is_filtered else shown


def sorted_without_a_filter_alone(
    query: Mapping[str, Any], shown: dict[str, Any]
) -> dict[str, Any]:
    is_filtered = not {"ownerId", "q"}.isdisjoint(query)
    return descending_always(query, shown) if is_filtered else shown


def descending_always(query: Mapping[str, Any], _shown: dict[str, Any]) -> dict[str, Any]:
    return page({name: value for name, value in query.items() if name != "sort"})


def reference() -> Rules:
    return Rules(load_dialect("reference"), Project(id="p1", api_key="key-of-p1"))


@pytest.mark.parametrize(
    ("answer", "violated"),
    [
        (right, set()),
        (wrong("has_prev_page", 0), set()),
        (wrong("has_prev_page", False), {"2.2-12"}),
        (wrong("has_next_page", False, on="perPage"), {"2.2-10"}),
        (wrong("per_page", 7, on="perPage"), {"4.4-6"}),
        (first_page_always, {"2.2-14"}),
        (descending_always, {"4.4-8"}),
        (without_filters, {"4.4-9", "4.4-13"}),
        (lacking_the_first_match, {"4.4-10"}),
        (sorted_without_a_filter_alone, {"4.4-8"}),
    ],
)
def test_the_laws_of_lists_are_judged_over_a_walk(answer: Answer, violated: set[str]) -> None:
    found = requests(reference(), 80, answer)
    assert found >= violated
    assert bool(found) is bool(violated)


def test_a_walk_goes_to_the_end_and_back_from_each_page() -> None:
    rules, asked = reference(), []

    def noting(query: Mapping[str, Any], shown: dict[str, Any]) -> dict[str, Any]:
        asked.append(query)
        return shown

    requests(rules, 13, noting)
    steps = [query for query in asked if query]
    ascending = {"perPage": 2, "sort": "ASC"}
    filtered = {"perPage": 2, "sort": "ASC", "q": "INK"}
    assert steps == [
        {"q": "INK"},
        {"ownerId": "owner-0"},
        ascending,
        {**ascending, "direction": "next", "next_page_cursor": "at-2"},
        {**ascending, "direction": "prev", "prev_page_cursor": "at-2"},
        filtered,
        {**filtered, "direction": "next", "next_page_cursor": "at-2"},
        {**filtered, "direction": "prev", "prev_page_cursor": "at-2"},
    ]
    # The first of four requests stays as it was, and the first walk asks for all.
    assert [number for number, query in enumerate(asked) if not query] == [0, 1, 4, 8, 12]


def test_a_change_begins_again() -> None:
    def without_the_first(query: Mapping[str, Any], _shown: dict[str, Any]) -> dict[str, Any]:
        return page(query, LISTED[1:])

    rules = reference()
    requests(rules, 4, right)
    assert requests(rules, 20, without_the_first, first=4) != set()
    rules = reference()
    requests(rules, 4, right)
    rules.walks.forget_links()
    assert requests(rules, 20, without_the_first, first=4) == set()


def test_a_request_without_an_answer_ends_its_walk() -> None:
    rules = reference()
    for number in range(AS_GENERATED * 2):
        rules.walks.query(f"lost {number}", "listSources")
    assert requests(rules, 40, right, "listSources") == set()
    query = [rules.walks.query(f"later {number}", "listSources") for number in range(AS_GENERATED)]
    assert any(each and "perPage" in each for each in query)
