"""A success has a 2xx, an envelope that is not flagged as a failure, and what was asked for."""

from typing import Any

import pytest

from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.succeeding_requests import SucceedingRequests
from hookproof.conformance.subjects.isolation.evidence import ListsOfTwoProjects
from hookproof.conformance.subjects.questions.evidence import RequiredFieldsAlone
from tests.conformance.canned_evidence import exchange, observation, verdict, verdicts
from tests.conformance.checks.api.example import request_tried
from tests.conformance.subjects.endpoints.examples import shown_with
from tests.conformance.subjects.keys.examples import listing
from tests.conformance.subjects.lists.examples import LINKS, SOURCES

FLAGGED = {"message": "failed", "status": False, "data": {}}
BODY = {"appID": "app", "is_disabled": True}
PAGE_FOR_PEOPLE = b"<html>Welcome</html>"


def flagged(role: str = "create") -> Exchange:
    """A success by its status that its envelope flags as a failure."""
    return exchange(role, body=FLAGGED, request=BODY)


@pytest.mark.parametrize(
    ("requirements", "evidence"),
    [
        ("4.1-1", observation(SucceedingRequests, flagged())),
        ("3-1 3-2 3-4", shown_with(flagged(), fields=("is_disabled",))),
        ("9-1 9-3", shown_with(flagged())),
        ("4.9-2", request_tried(RequiredFieldsAlone, flagged("tried"))),
        ("4.1-2", flagged()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_that_is_flagged_as_a_failure_is_no_success(
    requirements: str, evidence: Observation | Exchange
) -> None:
    assert verdicts(requirements, evidence) == {}


def test_the_flag_of_an_answer_that_denies_its_own_success_is_judged() -> None:
    assert verdict("2.1-4", flagged()) is Verdict.FAIL


def test_a_page_for_people_has_no_status_of_a_success() -> None:
    page = exchange(status=201, body=PAGE_FOR_PEOPLE)
    assert verdict("4.1-2", page) is None
    assert verdict("4.1-2", exchange(data=None)) is Verdict.PASS


@pytest.mark.parametrize("operation_id", [LINKS, SOURCES])
@pytest.mark.parametrize(
    "body",
    [
        PAGE_FOR_PEOPLE,
        FLAGGED,
        {"message": "done", "status": True, "data": None},
        {"message": "done", "status": True, "data": {"content": None}},
        {"message": "done", "status": False, "data": {"content": [{"uid": "b"}]}},
    ],
    ids=["page", "failure", "null", "no array", "flagged"],
)
def test_a_page_without_a_list_keeps_no_projects_apart(operation_id: str, body: Any) -> None:
    here, _ = listing(operation_id, "a", "b").pages
    elsewhere = exchange("inventory", operation_id, project="p2", body=body)
    lists = observation(
        ListsOfTwoProjects, here, elsewhere, operation_id=operation_id, projects=("p1", "p2")
    )
    assert verdicts("1-8 1-9", lists) == {}


@pytest.mark.parametrize("operation_id", [LINKS, SOURCES])
def test_what_two_projects_list_is_seen_whatever_the_flag_says(operation_id: str) -> None:
    leaking = {"message": "done", "status": False, "data": {"content": [{"uid": "a"}]}}
    here, _ = listing(operation_id, "a", "b").pages
    elsewhere = exchange("inventory", operation_id, project="p2", body=leaking)
    lists = observation(
        ListsOfTwoProjects, here, elsewhere, operation_id=operation_id, projects=("p1", "p2")
    )
    requirement = "1-8" if operation_id == LINKS else "1-9"
    assert verdicts("1-8 1-9", lists) == {requirement: Verdict.FAIL}
