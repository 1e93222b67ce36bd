"""Responses as Schemathesis has them, judged by the checks that are registered for its users."""

import json
from typing import Any

import pytest
import requests
import schemathesis
from schemathesis import Case, HookContext, Response
from schemathesis.checks import CHECKS

from hookproof.conformance.schemathesis_plugin import registration
from hookproof.conformance.schemathesis_plugin.exchanges import (
    exchange_of,
    is_of_this_api,
    operation_of,
    resource_parameter,
)
from hookproof.conformance.schemathesis_plugin.registration import (
    before_call,
    before_load_schema,
    check_name,
    register,
    use_rules,
)
from hookproof.conformance.schemathesis_plugin.rules import Rules, judged_requirements
from hookproof.conformance.target.definition import Project
from hookproof.spec.contract.published import document_of
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.openapi_document import openapi_document

URL = "http://target.invalid/base/api/v1/projects/p1/endpoints"
ENDPOINT = {"uid": "u", "project_id": "p1", "url": "https://receiver.invalid/"}
OTHER_API = {
    "openapi": "3.1.0",
    "info": {"title": "Another API", "version": "1"},
    "paths": {"/pets": {"post": {"responses": {"200": {"description": "OK"}}}}},
}


@pytest.fixture
def schema() -> schemathesis.BaseSchema:
    """The contract of the reference dialect, judged by it."""
    register()
    dialect = load_dialect("reference")
    loaded = schemathesis.openapi.from_dict(document_of(dialect))
    use_rules(loaded, Rules(dialect, Project(id="p1", api_key="key-1")))
    return loaded


def response(
    body: Any, *, status: int = 201, url: str = URL, method: str = "POST", **headers: str
) -> Response:
    request = requests.Request(method, url, headers=headers, json={"url": "https://a.invalid/"})
    return Response(
        status_code=status,
        headers={"Content-Type": ["application/json"]},
        content=json.dumps(body).encode(),
        request=request.prepare(),
        elapsed=0.1,
        verify=True,
    )


def create(schema: schemathesis.BaseSchema, body: Any = None) -> Case[Any]:
    operation = schema["/api/v1/projects/{projectID}/endpoints"]["POST"]
    return operation.Case(path_parameters={"projectID": "p1"}, body=body or {})


def failure(requirement: str, answer: Response, case: Case[Any]) -> str:
    """What the check of a requirement says of an answer; empty if it holds."""
    check: Any = CHECKS.get_one(check_name(requirement))
    try:
        check(None, answer, case)
    except AssertionError as error:
        return str(error)
    return ""


def test_each_requirement_has_a_check() -> None:
    register()
    names = {check_name(each.id) for each in judged_requirements()}
    assert len(names) == len(judged_requirements())
    assert names <= set(CHECKS.get_all_names())


def test_a_failure_says_which_requirement_is_violated_and_how(
    schema: schemathesis.BaseSchema,
) -> None:
    body = {"status": True, "message": "done", "data": {**ENDPOINT, "project_id": "p2"}}
    said = failure("1-3", response(body), create(schema))
    assert said.startswith("1-3 (stated): ")
    assert "Expected: p1\nActual:   p2\n" in said
    assert "hookproof explain 1-3" in said
    right = {**body, "data": ENDPOINT}
    assert failure("1-3", response(right), create(schema)) == ""


def test_every_second_endpoint_is_another_one_and_the_case_stays(
    schema: schemathesis.BaseSchema,
) -> None:
    asked = []
    for _ in range(4):
        arguments: dict[str, Any] = {}
        case = create(schema, {"url": "https://a.invalid/"})
        before_call(HookContext(), case, arguments)
        asked.append("json" in arguments)
        assert case.body == {"url": "https://a.invalid/"}
    assert asked == [False, True] * 2


def test_a_body_that_was_kept_in_part_is_not_judged(schema: schemathesis.BaseSchema) -> None:
    cut = response({"status": True})
    assert failure("2.1-5", cut, create(schema))
    cut = response({"status": True})
    cut.content_size += 1
    assert failure("2.1-5", cut, create(schema)) == ""


def test_another_api_is_left_alone() -> None:
    register()
    other = schemathesis.openapi.from_dict({**OTHER_API})
    pet = {"url": "https://pets.example/"}
    case = other["/pets"]["POST"].Case(body=pet, media_type="application/json")
    wrong = response("not an envelope", url="http://target.invalid/pets")
    names = [each.id for each in judged_requirements()]
    assert not any(failure(name, wrong, case) for name in names)
    before_call(HookContext(), case, {})
    assert case.body == {"url": "https://pets.example/"}
    before_load_schema(HookContext(), document := {**OTHER_API})
    assert document == OTHER_API


def test_endpoints_lead_to_nobody(schema: schemathesis.BaseSchema) -> None:
    case = create(schema, {"url": "https://somebody.example/path", "name": "orders"})
    before_call(HookContext(), case, {})
    assert case.body["url"].startswith("https://host.invalid/")
    assert case.body["name"] == "orders"


@pytest.mark.parametrize(
    ("path", "method", "operation", "parameter"),
    [
        ("/api/v1/projects/{projectID}/endpoints", "POST", "createEndpoint", None),
        ("/api/v1/projects/{p}/endpoints/{e}", "GET", "getEndpoint", "e"),
        ("/base/api/v1/projects/{p}/portal-links/{l}", "PUT", "updatePortalLink", "l"),
        ("/api/v1/projects/{p}/endpoints/{e}/expire_secret", "PUT", "expireEndpointSecret", "e"),
        ("/api/v1/projects/{projectID}/endpoints", "TRACE", None, None),
    ],
)
def test_an_operation_is_known_by_its_path_whatever_its_parameters_are_called(
    path: str, method: str, operation: str | None, parameter: str | None
) -> None:
    assert is_of_this_api(path)
    assert operation_of(path, method) == operation
    assert resource_parameter(path) == parameter


@pytest.mark.parametrize(
    ("headers", "key"),
    [({}, "none"), ({"Authorization": "Bearer k"}, "own"), ({"Authorization": "k"}, "wrong")],
)
def test_an_exchange_is_what_was_sent_and_came(headers: dict[str, str], key: str) -> None:
    answer = response({"data": None}, url=URL.replace("p1", "p%2F1"), **headers)
    seen = exchange_of(answer, project="p", authorization="Bearer k", sent_at=None)
    assert (seen.operation_id, seen.project, seen.status) == ("createEndpoint", "p/1", 201)
    assert (seen.key, seen.request_json) == (key, {"url": "https://a.invalid/"})
    assert seen.response_header("content-type") == "application/json"
    odd = exchange_of(response({}, method="TRACE"), project="p", authorization=None, sent_at=None)
    assert (odd.operation_id, odd.project, odd.role) == (None, "p", "odd")


def test_the_document_for_any_dialect_becomes_that_of_the_one_in_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registration._rules_of_environment.cache_clear()
    monkeypatch.delenv("HOOKPROOF_DIALECT", raising=False)
    general = {**openapi_document()}
    before_load_schema(HookContext(), general)
    assert general == openapi_document()
    monkeypatch.setenv("HOOKPROOF_DIALECT", "contrary")
    before_load_schema(HookContext(), general)
    specialised = document_of(load_dialect("contrary"))
    assert general == {**specialised, "servers": openapi_document()["servers"]}
    registration._rules_of_environment.cache_clear()
