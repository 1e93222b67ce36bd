"""A request is judged beside an ordinary one that was taken, whatever was asked."""

from typing import Any

import pytest

from hookproof.conformance.checks.api.requests.questions import (
    QUESTIONS,
    judge,
)
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.lists.parameters import (
    ORDINARY_BEFORE,
    UnreadableParameter,
)
from hookproof.conformance.observations.requests.endpoint_urls import UnusualUrlTried, UrlKind
from hookproof.conformance.observations.requests.mistakes import (
    ORDINARY,
    NullField,
    UnknownIdentifier,
)
from tests.conformance.canned_evidence import context, exchange, observation, verdicts
from tests.conformance.checks.api.example import (
    UID,
    created,
    page,
    refusal,
    request_tried,
)
from tests.conformance.checks.api.test_answers_of_other_dialects import judged_under


def asked(topic: Any, answer: Any, ordinary: Any) -> Any:
    if isinstance(topic, UrlKind):
        return observation(
            UnusualUrlTried, answer, ordinary, operation_id="createEndpoint", kind=topic
        )
    kind = topic[0] if isinstance(topic, tuple) else topic
    return request_tried(kind, answer, ordinary)


@pytest.mark.parametrize("dialect", ["reference", "contrary"])
@pytest.mark.parametrize("topic", QUESTIONS, ids=str)
def test_who_refuses_the_ordinary_request_too_is_not_accused(topic: Any, dialect: str) -> None:
    operation_id = topic[1] if isinstance(topic, tuple) else "createEndpoint"
    kind = topic[0] if isinstance(topic, tuple) else topic
    role = (
        request_tried(kind, refusal(403), alone=True).role_of_ordinary
        if not isinstance(topic, UrlKind)
        else UnusualUrlTried.role_of_ordinary
    )
    for status in (400, 403, 422, 429):
        tried = refusal(status, operation_id)
        evidence = asked(topic, tried, refusal(403, operation_id, role=role))
        assert list(judge(evidence, context(dialect))) == []
        assert list(judge(asked(topic, tried, tried), context(dialect))) == []


def test_an_identifier_that_is_found_after_all_exists() -> None:
    there = exchange("tried", "getEndpoint", data={"uid": UID}, path={"endpointID": UID})
    another = exchange("tried", "getEndpoint", data={"uid": "e2"}, path={"endpointID": UID})
    assert verdicts("4.2-7 4.3-20 4.5-5 4.6-13", request_tried(UnknownIdentifier, there)) == {}
    evidence = request_tried(UnknownIdentifier, another)
    assert verdicts("4.2-7 4.3-20 4.5-5 4.6-13", evidence) == {"4.2-7": Verdict.FAIL}


@pytest.mark.parametrize(
    ("with_null", "left_out", "verdict"),
    [
        ({"http_timeout": 30}, {"http_timeout": 30}, Verdict.PASS),
        ({"http_timeout": None}, {}, Verdict.PASS),
        ({"http_timeout": None}, {"http_timeout": 30}, Verdict.FAIL),
    ],
)
def test_null_means_what_leaving_out_the_field_means(
    with_null: dict[str, Any], left_out: dict[str, Any], verdict: Verdict
) -> None:
    evidence = request_tried(
        NullField,
        created(with_null, role="tried"),
        created(left_out, role=ORDINARY),
        field="http_timeout",
    )

    assert judged_under(
        {"requests.null_fields": "taken"}, "4.6-16 4.3-21 7-11 4.8-20 4.9-9", evidence
    ) == [verdict]


@pytest.mark.parametrize(
    ("before", "tried", "after", "expected"),
    [
        ("ab", "ab", "ab", [Verdict.PASS]),
        ("ab", "ba", "ab", [Verdict.FAIL]),
        ("ab", "", "ab", [Verdict.FAIL]),
        ("ab", "ba", "abc", []),
        ("", "", "", []),
    ],
)
def test_a_parameter_is_taken_as_absent_where_the_page_is_the_same_without_it(
    before: str, tried: str, after: str, expected: list[Verdict]
) -> None:
    pages = [
        page("listSources", [{"uid": uid} for uid in uids], role)
        for role, uids in ((ORDINARY_BEFORE, before), ("tried", tried), (ORDINARY, after))
    ]
    evidence = observation(
        UnreadableParameter, *pages, operation_id="listSources", query={"sort": "SIDEWAYS"}
    )

    assert judged_under({"paging.bad_parameter": "default"}, "4.4-16 4.7-15", evidence) == expected
    refusing = {"paging.bad_parameter": "refuse"}
    assert judged_under(refusing, "4.4-16 4.7-15", evidence) == [Verdict.FAIL]


def test_a_list_that_is_refused_anyway_shows_nothing_of_a_parameter() -> None:
    denied = [refusal(403, "listSources", role=role) for role in ("tried", ORDINARY)]
    evidence = observation(
        UnreadableParameter, *denied, operation_id="listSources", query={"sort": "SIDEWAYS"}
    )

    assert verdicts("4.4-16 4.7-15", evidence) == {}
