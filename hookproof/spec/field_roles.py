"""Who sets each field, and where it is shown: the `x-` keys of `openapi.yaml`, which explains them.

Fields are in the order in which a resource has them, or those of a body in the order of the body.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Any, Final

from hookproof.spec.openapi_document import (
    content_schema,
    json_type,
    openapi_document,
    operation_named,
    operations_of,
    resolved,
    schema_named,
)

ROLE: Final = "x-role"
SHOWN_IN: Final = "x-shown-in"
SHOWN_AS_SENT: Final = "x-shown-as-sent"
_PARAMETER: Final = re.compile(r"{(\w+)}")


class Role(StrEnum):
    """Who sets a field of an answer."""

    GIVEN = "given"
    ASSIGNED = "assigned"
    CHANGING = "changing"
    UNSET = "unset"
    ANSWER = "answer"


def role_of(schema: str, field: str) -> Role | None:
    """The role of a field of a named schema; None for one of a request."""
    node = schema_named(openapi_document(), schema)
    word = node["properties"][field].get(ROLE, node.get(ROLE))
    return None if word is None else Role(word)


@cache
def fields_with(schema: str, *roles: Role) -> tuple[str, ...]:
    """The fields of a named schema that have one of these roles."""
    names = schema_named(openapi_document(), schema)["properties"]
    return tuple(name for name in names if role_of(schema, name) in roles)


def body_fields(operation_id: str) -> Mapping[str, Mapping[str, Any]]:
    """The schemas of the fields of a request; none for an operation without a body."""
    document = openapi_document()
    body = operation_named(document, operation_id).get("requestBody")
    fields: Mapping[str, Mapping[str, Any]] = (
        {} if body is None else resolved(document, content_schema(body))["properties"]
    )
    return fields


@cache
def plain_body_fields(operation_id: str) -> tuple[str, ...]:
    """The fields of a request whose value is not an object."""
    document = openapi_document()
    return tuple(
        name
        for name, schema in body_fields(operation_id).items()
        if json_type(document, resolved(document, dict(schema))) != "object"
    )


@cache
def resource_shown_by(operation_id: str) -> str:
    """The name of the schema of what an operation shows: the items of a list, else its data."""
    document = openapi_document()
    responses = operation_named(document, operation_id)["responses"]
    success = next(response for status, response in responses.items() if status.startswith("2"))
    data = resolved(document, content_schema(success))["properties"]["data"]
    content = resolved(document, data)["properties"].get("content")
    reference: str = (data if content is None else content["items"])["$ref"]
    return reference.rpartition("/")[2]


@cache
def resource_parameter(operation_id: str) -> str:
    """The path parameter that names the resource; empty for an operation about a whole project."""
    for path, _method, operation in operations_of(openapi_document()):
        if operation["operationId"] == operation_id:
            return "".join(_PARAMETER.findall(path)[1:])
    raise KeyError(operation_id)


def shown_in(operation_id: str, field: str) -> str:
    """The dotted name under which the resource shows what a field of a request gives."""
    name: str = body_fields(operation_id)[field].get(SHOWN_IN, field)
    return name


@cache
def shown_as_sent(operation_id: str) -> Mapping[str, str]:
    """The fields that an answer shows as they were sent, each with the requirement that says so."""
    sent = body_fields(operation_id)
    names = schema_named(openapi_document(), resource_shown_by(operation_id))["properties"]
    return {
        name: sent[name][SHOWN_AS_SENT]
        for name in names
        if name in sent and SHOWN_AS_SENT in sent[name]
    }
