"""A success has a 2xx, an envelope that is not flagged as a failure, and what was asked for."""

from typing import Any

import pytest

from hookproof.conformance.checks.api.access.project_isolation import (
    a_list_holds_nothing_of_another_project,
)
from hookproof.conformance.checks.api.requests.deprecated_fields import (
    app_id_is_taken_and_means_what_the_dialect_says,
)
from hookproof.conformance.checks.api.requests.questions import (
    required_fields_are_enough_and_none_may_be_left_out,
)
from hookproof.conformance.checks.api.resources.endpoint import status_follows_is_disabled
from hookproof.conformance.checks.api.responses.envelope import (
    the_success_flag_of_a_success_is_true,
)
from hookproof.conformance.checks.api.responses.success import (
    a_success_has_the_dialects_status,
    a_valid_request_succeeds,
)
from hookproof.conformance.model.evidence import Exchange, Observation
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.observations.requests.isolation import ListsOfTwoProjects
from hookproof.conformance.observations.requests.mistakes import RequiredFieldsAlone
from hookproof.conformance.observations.succeeding_requests import SucceedingRequests
from tests.conformance.canned_evidence import exchange, observation, verdicts
from tests.conformance.checks.api.example import Judge, request_tried
from tests.conformance.checks.api.examples_access import listing
from tests.conformance.checks.api.examples_endpoints import shown_with
from tests.conformance.checks.api.examples_lists import LINKS, SOURCES

FLAGGED = {"message": "failed", "status": False, "data": {}}
BODY = {"appID": "app", "is_disabled": True}
PAGE_FOR_PEOPLE = b"<html>Welcome</html>"


def flagged(role: str = "create") -> Exchange:
    """A success by its status that its envelope flags as a failure."""
    return exchange(role, body=FLAGGED, request=BODY)


@pytest.mark.parametrize(
    ("check", "evidence"),
    [
        (a_valid_request_succeeds, observation(SucceedingRequests, flagged())),
        (status_follows_is_disabled, shown_with(flagged(), fields=("is_disabled",))),
        (app_id_is_taken_and_means_what_the_dialect_says, shown_with(flagged())),
        (
            required_fields_are_enough_and_none_may_be_left_out,
            request_tried(RequiredFieldsAlone, flagged("tried")),
        ),
        (a_success_has_the_dialects_status, flagged()),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_an_answer_that_is_flagged_as_a_failure_is_no_success(
    check: Judge, evidence: Observation | Exchange
) -> None:
    assert verdicts(check, evidence) == {}


def test_the_flag_of_an_answer_that_denies_its_own_success_is_judged() -> None:
    assert verdicts(the_success_flag_of_a_success_is_true, flagged()) == {"2.1-4": Verdict.FAIL}


def test_a_page_for_people_has_no_status_of_a_success() -> None:
    page = exchange(status=201, body=PAGE_FOR_PEOPLE)
    assert verdicts(a_success_has_the_dialects_status, page) == {}
    without_data = exchange(data=None)
    assert verdicts(a_success_has_the_dialects_status, without_data) == {"4.1-2": Verdict.PASS}


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
    assert verdicts(a_list_holds_nothing_of_another_project, lists) == {}


@pytest.mark.parametrize("operation_id", [LINKS, SOURCES])
def test_what_two_projects_list_is_seen_whatever_the_flag_says(operation_id: str) -> None:
    leaking = {"message": "done", "status": False, "data": {"content": [{"uid": "a"}]}}
    here, _ = listing(operation_id, "a", "b").pages
    elsewhere = exchange("inventory", operation_id, project="p2", body=leaking)
    lists = observation(
        ListsOfTwoProjects, here, elsewhere, operation_id=operation_id, projects=("p1", "p2")
    )
    requirement = "1-8" if operation_id == LINKS else "1-9"
    assert verdicts(a_list_holds_nothing_of_another_project, lists) == {requirement: Verdict.FAIL}
