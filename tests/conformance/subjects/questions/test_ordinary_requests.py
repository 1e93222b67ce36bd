"""A request is judged beside an ordinary one that was taken, whatever was asked."""

from typing import Any

import pytest

from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.mistakes import ORDINARY
from hookproof.conformance.subjects.lists.evidence import ORDINARY_BEFORE, UnreadableParameter
from hookproof.conformance.subjects.questions.evidence import (
    NullField,
    RequiredFieldLeftOut,
    RequiredFieldsAlone,
    UnknownIdentifier,
)
from tests.conformance.canned_evidence import exchange, observation, verdict
from tests.conformance.checks.api.example import UID, Topic, created, page, refusal, request_tried
from tests.conformance.checks.api.test_answers_of_other_dialects import judged_under
from tests.conformance.subjects.questions.examples import (
    ALONE,
    LEFT_OUT,
    MISTAKES,
    QUESTIONS,
    UNKNOWN,
)

CREATE = "createEndpoint"


@pytest.mark.parametrize("dialect", ["reference", "contrary"])
@pytest.mark.parametrize(
    ("topic", "operation_id", "requirement"),
    [
        *((topic, CREATE, requirement) for topic, requirement in QUESTIONS.items()),
        *((topic, CREATE, requirement) for topic, (requirement, _) in MISTAKES.items()),
        *((UnknownIdentifier, *each) for each in UNKNOWN.items()),
        *((RequiredFieldLeftOut, *each) for each in LEFT_OUT.items()),
        *((RequiredFieldsAlone, *each) for each in ALONE.items()),
    ],
)
def test_who_refuses_the_ordinary_request_too_is_not_accused(
    topic: Topic, operation_id: str, requirement: str, dialect: str
) -> None:
    role = request_tried(topic, refusal(403), alone=True).role_of_ordinary
    for status in (400, 403, 422, 429):
        tried = refusal(status, operation_id)
        for ordinary in (refusal(403, operation_id, role=role), tried):
            said = verdict(requirement, request_tried(topic, tried, ordinary), dialect)
            assert said in (None, Verdict.NOT_APPLICABLE)


def test_an_identifier_that_is_found_after_all_exists() -> None:
    there = exchange("tried", "getEndpoint", data={"uid": UID}, path={"endpointID": UID})
    another = exchange("tried", "getEndpoint", data={"uid": "e2"}, path={"endpointID": UID})
    assert verdict("4.2-7", request_tried(UnknownIdentifier, there)) is None
    evidence = request_tried(UnknownIdentifier, another)
    assert verdict("4.2-7", evidence) is Verdict.FAIL


@pytest.mark.parametrize(
    ("with_null", "left_out", "expected"),
    [
        ({"http_timeout": 30}, {"http_timeout": 30}, Verdict.PASS),
        ({"http_timeout": None}, {}, Verdict.PASS),
        ({"http_timeout": None}, {"http_timeout": 30}, Verdict.FAIL),
    ],
)
def test_null_means_what_leaving_out_the_field_means(
    with_null: dict[str, Any], left_out: dict[str, Any], expected: Verdict
) -> None:
    evidence = request_tried(
        NullField,
        created(with_null, role="tried"),
        created(left_out, role=ORDINARY),
        field="http_timeout",
    )

    assert judged_under({"requests.null_fields": "taken"}, "4.9-9", evidence) == [expected]


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

    assert judged_under({"paging.bad_parameter": "default"}, "4.7-15", evidence) == expected
    refusing = {"paging.bad_parameter": "refuse"}
    assert judged_under(refusing, "4.7-15", evidence) == [Verdict.FAIL]


def test_a_list_that_is_refused_anyway_shows_nothing_of_a_parameter() -> None:
    denied = [refusal(403, "listSources", role=role) for role in ("tried", ORDINARY)]
    evidence = observation(
        UnreadableParameter, *denied, operation_id="listSources", query={"sort": "SIDEWAYS"}
    )

    assert verdict("4.7-15", evidence) is None
