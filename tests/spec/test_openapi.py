"""spec/openapi.yaml has every row of the API document's tables, and nothing else.

Most comparisons are of two equal mappings, so they find what is missing, what is too much and what
has another type.
"""

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from hookproof.spec.openapi_document import without_null
from tests.source_tree import ROOT
from tests.spec.document_operations import OPERATIONS, DocumentedOperation
from tests.spec.document_tables import NOT_SHOWN, SECTIONS, TABLES, Fields

CONTRACT: dict[str, Any] = yaml.safe_load(
    (ROOT / "hookproof" / "spec" / "openapi.yaml").read_text("utf-8")
)
SCHEMAS: dict[str, Any] = CONTRACT["components"]["schemas"]

CODE_OF_LABEL = {"Created": "201", "Accepted": "202", "OK": "200", None: "200"}

# Keywords that shape or describe a schema. Every other keyword refuses something, and needs a line
# in CONSTRAINTS.
SHAPE = frozenset(
    {"$ref", "anyOf", "default", "deprecated", "description", "items", "properties", "type"}
    | {"x-role", "x-shown-as-sent", "x-shown-in"}
)
CONSTRAINTS = {
    "EndpointEnvelope.required": ["message", "status", "data"],  # section 2.1
    "PortalLinkEnvelope.required": ["message", "status", "data"],  # section 2.1
    "PortalLinkPageEnvelope.required": ["message", "status", "data"],  # section 2.1
    "SourcePageEnvelope.required": ["message", "status", "data"],  # section 2.1
    "EventEnvelope.required": ["message", "status", "data"],  # section 2.1
    "PortalLinkPage.required": ["content", "pagination"],  # section 2.2
    "SourcePage.required": ["content", "pagination"],  # section 2.2
    "CreateEndpoint.url.pattern": "^[Hh][Tt][Tt][Pp][Ss]://",  # sections 2.3 and 8
    "direction.enum": ["next", "prev"],  # sections 4.4 and 4.7
    "sort.enum": ["ASC", "DESC"],  # sections 4.4 and 4.7
    # What generators of clients have to be told of objects with any members (sections 2.8 and 4.8).
    "Event.headers.additionalProperties": True,
    "CreateBroadcastEvent.custom_headers.additionalProperties": {"type": "string"},
    "CreateBroadcastEvent.data.additionalProperties": True,
}
DEFAULTS = {
    "Endpoint.content_type": "application/json",  # section 2.3
    "Endpoint.advanced_signatures": False,  # section 2.3
    "CreateEndpoint.content_type": "application/json",  # section 2.3
    "CreateEndpoint.advanced_signatures": False,  # section 2.3
    "sort": "DESC",  # sections 4.4 and 4.7
}
DEPRECATED = {
    "CreateEndpoint.appID",
    "PortalLink.endpoints",
    "UpdatePortalLink.endpoints",
}  # section 9

LINKS = {
    "createEndpoint": {"getEndpoint", "expireEndpointSecret"},
    "getEndpoint": {"expireEndpointSecret"},
    "expireEndpointSecret": {"getEndpoint"},
    "listPortalLinks": {"getPortalLink", "updatePortalLink"},
    "getPortalLink": {"updatePortalLink"},
    "updatePortalLink": {"getPortalLink"},
    "listSources": set(),
    "createBroadcastEvent": set(),
}


def resolved(node: dict[str, Any]) -> dict[str, Any]:
    """The node that a reference within the contract names; any other node as it is."""
    while "$ref" in node:
        part: Any = CONTRACT
        for step in node["$ref"].removeprefix("#/").split("/"):
            part = part[step]
        node = part
    return dict(node)


def may_be_null(schema: dict[str, Any]) -> bool:
    return {"type": "null"} in schema.get("anyOf", []) or "null" in schema.get("type", "")


def expression(schema: dict[str, Any]) -> str:
    """The type expression that document_tables would give to this schema."""
    schema = without_null(schema)
    if "$ref" in schema:
        further = {word for word in schema if not word.startswith("x-")}
        further -= {"$ref", "description", "deprecated"}
        return " and ".join([schema["$ref"].rpartition("/")[2], *sorted(further)])
    if "properties" in schema:
        return "an object without a name"
    if schema.get("type") == "array":
        return f"array of {expression(schema.get('items', {}))}"
    return str(schema.get("type", NOT_SHOWN))


def fields_of(schema: dict[str, Any]) -> Fields:
    return {name: expression(node) for name, node in schema.get("properties", {}).items()}


def subschemas(name: str, schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """This schema and every one written inside it, each with a dotted name."""
    yield name, schema
    for field, node in schema.get("properties", {}).items():
        yield from subschemas(f"{name}.{field}", node)
    if "items" in schema:
        yield from subschemas(f"{name}[]", schema["items"])


def schemas_outside_components(name: str, node: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Schemas of parameters, bodies and responses, under the nearest name around them."""
    if isinstance(node, list):
        for item in node:
            yield from schemas_outside_components(name, item)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key == "schema":
                yield from subschemas(name, value)
            elif key not in ("schemas", "examples"):
                yield from schemas_outside_components(key, value)


def all_schemas() -> list[tuple[str, dict[str, Any]]]:
    named = [pair for name, schema in SCHEMAS.items() for pair in subschemas(name, schema)]
    return named + list(schemas_outside_components("contract", CONTRACT))


def operation_node(operation: DocumentedOperation) -> dict[str, Any]:
    return dict(CONTRACT["paths"][operation.path][operation.method])


def parameters_of(operation: DocumentedOperation) -> list[dict[str, Any]]:
    shared = CONTRACT["paths"][operation.path].get("parameters", [])
    return [
        resolved(parameter)
        for parameter in [*shared, *operation_node(operation).get("parameters", [])]
    ]


def success_of(operation: DocumentedOperation) -> dict[str, Any]:
    return dict(operation_node(operation)["responses"][CODE_OF_LABEL[operation.label]])


def json_content(node: dict[str, Any]) -> dict[str, Any]:
    assert list(node["content"]) == ["application/json"]
    return dict(node["content"]["application/json"])


def example_values(content: dict[str, Any]) -> list[Any]:
    return [resolved(example)["value"] for example in content["examples"].values()]


def value_at(source: str, answer: Any) -> Any:
    """What the runtime expression of a link yields for this answer."""
    if source == "$request.path.projectID":
        return "the project of the request"
    for step in source.removeprefix("$response.body#/").split("/"):
        answer = answer[int(step)] if isinstance(answer, list) else answer[step]
    return answer


def closed_validator(name: str) -> Draft202012Validator:
    """A validator for a named schema that refuses fields unknown to the contract, such as typos."""
    components = deepcopy(CONTRACT["components"])
    for schema in components["schemas"].values():
        schema["additionalProperties"] = False
    return Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": components})


def cited_sections(text: str) -> set[str]:
    """Every number in brackets, and every one after `section`."""
    cited = re.findall(r"\(([^)]*)\)", text) + re.findall(r"as in ([\d.]*\d)", text)
    return {number for group in cited for number in re.findall(r"\d+(?:\.\d+)?", group)}


def descriptions(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for item in node:
            yield from descriptions(item)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key == "description" and isinstance(value, str):
                yield value
            elif key != "examples":
                yield from descriptions(value)


every_operation = pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
every_schema = pytest.mark.parametrize("name", TABLES)


def test_the_contract_is_valid_openapi() -> None:
    assert CONTRACT["openapi"] == "3.1.0"
    assert [error.message for error in OpenAPIV31SpecValidator(CONTRACT).iter_errors()] == []


def test_every_schema_has_a_table_and_every_table_a_schema() -> None:
    assert set(SCHEMAS) == set(TABLES)


@every_schema
def test_a_schema_has_the_fields_of_its_table_with_their_types_and_no_others(name: str) -> None:
    assert fields_of(SCHEMAS[name]) == TABLES[name].fields


@every_schema
def test_a_schema_is_of_objects(name: str) -> None:
    assert SCHEMAS[name]["type"] == "object"


def test_no_schema_demands_more_than_the_document() -> None:
    demands = {
        f"{name}.{keyword}": value
        for name, schema in all_schemas()
        for keyword, value in schema.items()
        if keyword not in SHAPE
    }
    assert demands == CONSTRAINTS


def test_a_url_may_write_its_scheme_in_capitals_but_not_leave_https() -> None:
    validator = closed_validator("CreateEndpoint")
    verdicts = {
        url: validator.is_valid({"url": url})
        for url in ("https://a.invalid", "HTTPS://a.invalid", "http://a")
    }
    assert verdicts == {"https://a.invalid": True, "HTTPS://a.invalid": True, "http://a": False}


def test_the_defaults_are_those_of_the_document() -> None:
    assert {
        name: schema["default"] for name, schema in all_schemas() if "default" in schema
    } == DEFAULTS


def test_deprecated_is_what_the_document_deprecates() -> None:
    assert {name for name, schema in all_schemas() if "deprecated" in schema} == DEPRECATED
    assert all(schema.get("deprecated", True) is True for _, schema in all_schemas())


def test_the_contract_has_the_eight_operations_and_no_others() -> None:
    operations = {
        (path, method): node["operationId"]
        for path, item in CONTRACT["paths"].items()
        for method, node in item.items()
        if method != "parameters"
    }
    assert operations == {
        (operation.path, operation.method): name for name, operation in OPERATIONS.items()
    }


@every_operation
def test_an_operation_has_the_parameters_of_its_table_and_no_others(
    operation: DocumentedOperation,
) -> None:
    parameters = {
        (node["in"], node["name"]): expression(node["schema"]) for node in parameters_of(operation)
    }
    in_path = {("path", name): "string" for name in operation.path_parameters}
    assert parameters == in_path | {
        ("query", name): kind for name, kind in operation.query_parameters.items()
    }


@every_operation
def test_only_path_parameters_are_required(operation: DocumentedOperation) -> None:
    required = [node["name"] for node in parameters_of(operation) if node.get("required")]
    assert sorted(required) == sorted(operation.path_parameters)
    assert "required" not in operation_node(operation).get("requestBody", {})  # section 4.9


@every_operation
def test_a_parameter_without_a_name_is_listed_apart(operation: DocumentedOperation) -> None:
    unnamed = operation_node(operation).get("x-unnamed-parameters", [])
    assert {
        node["gap"]: expression(node["schema"]) for node in unnamed
    } == operation.unnamed_parameters


@every_operation
def test_an_operation_accepts_the_body_of_its_table(operation: DocumentedOperation) -> None:
    body = operation_node(operation).get("requestBody")
    assert (body and expression(json_content(body)["schema"])) == operation.body


@every_operation
def test_an_operation_answers_its_label_with_its_resource_or_refuses(
    operation: DocumentedOperation,
) -> None:
    responses = operation_node(operation)["responses"]
    assert set(responses) == {CODE_OF_LABEL[operation.label], "4XX"}
    assert expression(json_content(success_of(operation))["schema"]) == f"{operation.data}Envelope"
    assert responses["4XX"] == {"$ref": "#/components/responses/Error"}
    if operation.label:
        assert f"label {operation.label}," in success_of(operation)["description"]


def test_a_refusal_may_carry_any_json() -> None:
    assert json_content(CONTRACT["components"]["responses"]["Error"])["schema"] == {}  # section 7


def test_every_operation_requires_the_authorization_header() -> None:
    (name,) = CONTRACT["components"]["securitySchemes"]
    scheme = CONTRACT["components"]["securitySchemes"][name]
    assert (scheme["type"], scheme["in"], scheme["name"]) == (
        "apiKey",
        "header",
        "Authorization",
    )  # section 5
    assert CONTRACT["security"] == [{name: []}]
    assert [
        name for name, operation in OPERATIONS.items() if "security" in operation_node(operation)
    ] == []


def test_the_target_is_what_base_url_says() -> None:
    (server,) = CONTRACT["servers"]
    assert server["url"] == "{base_url}"
    assert list(server["variables"]) == ["base_url"]


@every_operation
def test_an_operation_is_described_with_its_section(operation: DocumentedOperation) -> None:
    node = operation_node(operation)
    known_tags = {tag["name"] for tag in CONTRACT["tags"]}
    (tag,) = node["tags"]
    assert tag in known_tags
    assert node["summary"]
    assert operation.section in cited_sections(node["description"])
    assert operation.section in cited_sections(success_of(operation)["description"])


@every_schema
def test_a_schema_is_described_with_its_section_and_so_is_each_field(name: str) -> None:
    schema = SCHEMAS[name]
    undescribed = [
        field for field, node in schema.get("properties", {}).items() if not node.get("description")
    ]
    assert undescribed == []
    # An envelope names the operations that answer with it; the shape that envelopes share names its
    # own section.
    answers = {
        operation.section
        for operation in OPERATIONS.values()
        if name == f"{operation.data}Envelope"
    }
    assert (answers or {TABLES[name].section}) <= cited_sections(schema["description"])


def test_every_cited_section_exists() -> None:
    assert {
        section for text in descriptions(CONTRACT) for section in cited_sections(text)
    } <= SECTIONS


@every_operation
def test_an_operation_has_examples_that_its_schemas_accept(operation: DocumentedOperation) -> None:
    answers = example_values(json_content(success_of(operation)))
    assert answers
    for answer in answers:
        closed_validator(f"{operation.data}Envelope").validate(answer)
    if operation.body:
        bodies = example_values(json_content(operation_node(operation)["requestBody"]))
        assert bodies
        for body in bodies:
            closed_validator(operation.body).validate(body)


@every_operation
def test_an_operation_links_to_what_its_answer_can_be_used_for(
    operation: DocumentedOperation,
) -> None:
    links = {name: resolved(link) for name, link in success_of(operation).get("links", {}).items()}
    assert set(links) == LINKS[operation_node(operation)["operationId"]]
    (answer,) = example_values(json_content(success_of(operation)))
    resource = answer["data"]["content"][0] if "content" in answer["data"] else answer["data"]
    for name, link in links.items():
        assert link["operationId"] == name
        values = {
            parameter: value_at(source, answer) for parameter, source in link["parameters"].items()
        }
        project, identifier = OPERATIONS[name].path_parameters
        assert values == {project: "the project of the request", identifier: resource["uid"]}


def test_a_delivery_is_a_post_of_any_json_without_a_literal_that_is_a_gap() -> None:
    assert list(CONTRACT["webhooks"]) == ["delivery"]
    assert list(CONTRACT["webhooks"]["delivery"]) == ["post"]
    delivery = CONTRACT["webhooks"]["delivery"]["post"]
    assert json_content(delivery["requestBody"])["schema"] == {}  # section 4.8
    assert list(delivery["responses"]) == ["default"]
    assert "parameters" not in delivery  # section 6: the signature headers have no names
    assert delivery["security"] == []  # section 5: the API key is for calls to the API
