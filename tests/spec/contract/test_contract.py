"""The OpenAPI document specialised for a dialect says what the dialect answers."""

import json
import re
from copy import deepcopy
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from hookproof.spec.contract.service_contract import OPERATION_IDS, Contract, contract_for
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.answers import answers_of
from hookproof.spec.dialect.reader import load_dialect, shipped_dialects
from hookproof.spec.openapi_document import openapi_document, operation_named, operations_of
from tests.spec.dialect_variants import UNDECIDED, contract
from tests.spec.document_operations import OPERATIONS

REFERENCE = contract({})


def all_undecided() -> dict[str, Any]:
    answers = answers_of(load_dialect("reference"))
    return {path: UNDECIDED for path, answer in answers if isinstance(answer, Answer)}


def statuses(answers: dict[str, Any], operation_id: str) -> list[str]:
    """Those that are no single refusal; a range is for any other."""
    responses = operation_named(contract(answers).document, operation_id)["responses"]
    return [status for status in responses if not re.fullmatch(r"4\d\d", status)]


@pytest.mark.parametrize("name", shipped_dialects())
def test_the_specialised_document_of_a_shipped_dialect_is_openapi(name: str) -> None:
    assert (
        list(OpenAPIV31SpecValidator(contract_for(load_dialect(name)).document).iter_errors()) == []
    )


def test_the_specialised_document_of_an_undecided_dialect_is_openapi() -> None:
    assert list(OpenAPIV31SpecValidator(contract(all_undecided()).document).iter_errors()) == []


def test_the_document_itself_stays_as_it_is() -> None:
    before = deepcopy(openapi_document())
    for name in shipped_dialects():
        contract_for(load_dialect(name))
    assert openapi_document() == before


def test_the_specialised_document_can_be_written_as_json_and_names_its_dialect() -> None:
    document = contract_for(load_dialect("contrary")).document
    assert json.loads(json.dumps(document)) == document
    assert document["info"]["title"].endswith("(contrary)")


def test_the_operations_are_those_of_the_document() -> None:
    assert set(OPERATION_IDS) == OPERATIONS.keys() == REFERENCE.operations.keys()
    for operation_id, operation in REFERENCE.operations.items():
        documented = OPERATIONS[operation_id]
        assert (operation.operation_id, operation.method.lower()) == (
            operation_id,
            documented.method,
        )
        assert operation.path == documented.path
        assert (operation.body_schema is not None) == (documented.body is not None)


@pytest.mark.parametrize(
    ("answers", "operation_id", "expected"),
    [
        ({}, "createEndpoint", ["201", "4XX"]),
        ({}, "updatePortalLink", ["202", "4XX"]),
        ({}, "getPortalLink", ["200", "4XX"]),
        ({"success.created": 200}, "createEndpoint", ["200", "4XX"]),
        ({"success.created": {"one_of": [200, 201]}}, "createEndpoint", ["200", "201", "4XX"]),
        ({"success.created": UNDECIDED}, "createEndpoint", ["2XX", "4XX"]),
        ({"success.accepted": 204}, "updatePortalLink", ["204", "4XX"]),
        ({"success.ok": 206}, "expireEndpointSecret", ["206", "4XX"]),
        ({"success.ok": 206}, "getPortalLink", ["206", "4XX"]),
        ({"success.ok": 206}, "listSources", ["206", "4XX"]),
        ({"success.ok": 206}, "getEndpoint", ["200", "4XX"]),
        ({"success.get_endpoint": 203}, "getEndpoint", ["203", "4XX"]),
        ({"success.list_portal_links": 203}, "listPortalLinks", ["203", "4XX"]),
        ({}, "createBroadcastEvent", ["201", "4XX"]),
        ({"idempotency.duplicate_status": 200}, "createBroadcastEvent", ["201", "200", "4XX"]),
        ({"idempotency.duplicate_status": 200}, "createEndpoint", ["201", "4XX"]),
        ({"idempotency.duplicate_status": 409}, "createBroadcastEvent", ["201", "4XX"]),
        (
            {"idempotency.duplicate_status": UNDECIDED},
            "createBroadcastEvent",
            ["201", "2XX", "4XX"],
        ),
    ],
)
def test_success_has_the_statuses_of_the_dialect(
    answers: dict[str, Any], operation_id: str, expected: list[str]
) -> None:
    assert statuses(answers, operation_id) == expected


def test_an_operation_knows_the_statuses_of_its_label() -> None:
    operations = contract({"success.accepted": {"one_of": [200, 202]}}).operations
    assert operations["updatePortalLink"].success == Answer((200, 202))
    assert operations["createBroadcastEvent"].success == Answer((201,))


def test_the_filters_have_the_names_of_the_dialect() -> None:
    service = contract_for(load_dialect("contrary"))
    names = [parameter.name for parameter in service.operations["listPortalLinks"].query]
    assert names == [*OPERATIONS["listPortalLinks"].query_parameters, "belongs_to", "called"]
    assert not any(
        "x-unnamed-parameters" in operation
        for _path, _method, operation in operations_of(service.document)
    )
    owner = operation_named(service.document, "listPortalLinks")["parameters"][-2]
    assert (owner["in"], owner["schema"]) == ("query", {"type": "string"})
    assert owner["description"].endswith("Compared: prefix.")


def test_lists_without_unnamed_filters_keep_their_parameters() -> None:
    names = [parameter.name for parameter in REFERENCE.operations["listSources"].query]
    assert names == list(OPERATIONS["listSources"].query_parameters)


@pytest.mark.parametrize(
    ("answers", "bounds"),
    [
        ({}, {"minimum": 1, "maximum": 100, "default": 20}),
        ({"paging.above_maximum": "clamp"}, {"minimum": 1, "default": 20}),
        ({"paging.above_maximum": {"one_of": ["refuse", "clamp"]}}, {"minimum": 1, "default": 20}),
        ({"paging.bad_parameter": "default"}, {"maximum": 100, "default": 20}),
        (
            {"paging.maximum_per_page": {"one_of": [50, 200]}},
            {"minimum": 1, "maximum": 200, "default": 20},
        ),
        ({"paging.maximum_per_page": UNDECIDED}, {"minimum": 1, "default": 20}),
        ({"paging.default_per_page": UNDECIDED}, {"minimum": 1, "maximum": 100}),
    ],
)
def test_a_page_size_is_bounded_where_others_are_refused(
    answers: dict[str, Any], bounds: dict[str, int]
) -> None:
    service = contract(answers)
    for operation_id in ("listPortalLinks", "listSources"):
        schemas = {
            parameter.name: parameter.schema for parameter in service.operations[operation_id].query
        }
        assert schemas["perPage"] == {"type": "integer", **bounds}


@pytest.mark.parametrize(
    ("answers", "operation_id", "expected"),
    [
        ({}, "getEndpoint", ["400", "401", "404"]),
        ({}, "listSources", ["400", "401"]),
        ({}, "createEndpoint", ["400", "401", "408", "413", "415"]),
        ({}, "updatePortalLink", ["400", "401", "404", "408", "413", "415"]),
        ({"errors.unknown_resource": 410}, "getEndpoint", ["400", "401", "410"]),
        (
            {"errors.by_operation": {"getEndpoint": {"unknown_resource": 400}}},
            "getEndpoint",
            ["400", "401"],
        ),
        ({"errors.unknown_resource": UNDECIDED}, "getEndpoint", ["400", "401"]),
    ],
)
def test_an_operation_names_the_statuses_of_its_refusals(
    answers: dict[str, Any], operation_id: str, expected: list[str]
) -> None:
    responses = operation_named(contract(answers).document, operation_id)["responses"]
    assert [status for status in responses if re.fullmatch(r"4\d\d", status)] == expected


@pytest.mark.parametrize(
    ("key_format", "expected"),
    [
        ("Bearer {key}", {"type": "http", "scheme": "bearer"}),
        ("bearer {key}", {"type": "http", "scheme": "bearer"}),
        ("Key {key}", {"type": "apiKey", "in": "header", "name": "Authorization"}),
        ("Bearer key={key}", {"type": "apiKey", "in": "header", "name": "Authorization"}),
        ("{key}", {"type": "apiKey", "in": "header", "name": "Authorization"}),
    ],
)
def test_a_bearer_key_is_of_a_scheme_that_clients_know(
    key_format: str, expected: dict[str, str]
) -> None:
    document = contract({"authentication.key_format": key_format}).document
    (scheme,) = document["components"]["securitySchemes"].values()
    assert {name: value for name, value in scheme.items() if name != "description"} == expected


def test_the_key_is_described_as_the_dialect_writes_it() -> None:
    scheme = contract({"authentication.key_format": "Key {key}"}).document["components"][
        "securitySchemes"
    ]["apiKey"]
    assert "`Key {key}`" in scheme["description"]


def test_units_are_described_where_the_document_leaves_them_open() -> None:
    schemas = contract_for(load_dialect("contrary")).document["components"]["schemas"]
    assert schemas["ExpireSecret"]["properties"]["expiration"]["description"].endswith(
        "Here: milliseconds."
    )
    assert schemas["CreateEndpoint"]["properties"]["rate_limit_duration"]["description"].endswith(
        "milliseconds."
    )


def test_a_refusal_has_the_content_type_of_the_dialect() -> None:
    document = contract({"errors.content_type": "application/problem+json"}).document
    assert list(document["components"]["responses"]["Error"]["content"]) == [
        "application/problem+json"
    ]


def delivery_headers(service: Contract) -> dict[str, bool]:
    parameters = service.document["webhooks"]["delivery"]["post"]["parameters"]
    assert {parameter["in"] for parameter in parameters} == {"header"}
    return {parameter["name"]: parameter["required"] for parameter in parameters}


def test_a_delivery_carries_the_headers_of_the_dialect() -> None:
    assert delivery_headers(REFERENCE) == {
        "X-Webhook-Event-Id": True,
        "X-Webhook-Attempt": True,
        "X-Webhook-Signature": True,
    }
    assert delivery_headers(contract_for(load_dialect("contrary"))) == {
        "Hook-Event": True,
        "Hook-Try": True,
        "Hook-Event-Type": False,
        "Hook-Sent-At": True,
        "Hook-Signature": False,
        "Hook-Signatures": False,
    }
    assert delivery_headers(contract_for(load_dialect("standard-webhooks"))) == {
        "webhook-id": True,
        "X-Webhook-Attempt": True,
        "webhook-timestamp": True,
        "webhook-signature": True,
    }


@pytest.mark.parametrize("name", shipped_dialects())
def test_every_example_that_is_left_is_one_of_the_dialect(name: str) -> None:
    service = contract_for(load_dialect(name))
    for _path, _method, operation in operations_of(service.document):
        bodies = [(operation.get("requestBody", {}), service.request_problems)]
        bodies += [
            (response, service.response_problems) for response in operation["responses"].values()
        ]
        for holder, problems in bodies:
            for media_type in holder.get("content", {}).values():
                for example in media_type.get("examples", {}).values():
                    assert problems(operation["operationId"], example["value"]) == ()


def test_examples_that_fit_are_kept_and_others_are_dropped() -> None:
    loose = {"representation.identifier": "opaque", "representation.timestamp": "rfc3339"}
    create = operation_named(contract(loose).document, "createEndpoint")
    assert create["requestBody"]["content"]["application/json"]["examples"]
    assert create["responses"]["201"]["content"]["application/json"]["examples"]["endpoint"][
        "value"
    ]["status"]
    strict = operation_named(REFERENCE.document, "createEndpoint")
    assert strict["requestBody"]["content"]["application/json"]["examples"]
    assert "examples" not in strict["responses"]["201"]["content"]["application/json"]
