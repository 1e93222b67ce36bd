"""Specialises responses for a dialect: statuses, forms of values, the error body.

Every function changes the OpenAPI document in place.
"""

import copy
import re
from collections.abc import Mapping
from typing import Any, Final

from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import TIMESTAMP_PATTERNS, NoValue
from hookproof.spec.openapi_document import (
    SCHEMAS,
    Document,
    json_type,
    openapi_document,
    operations_of,
    reachable_schemas,
    schema_named,
)

ANY_SUCCESS: Final = "2XX"
ERROR_BODY: Final = "ErrorBody"

# Every resource has a value for these (sections 2.2 to 2.8).
_ALWAYS_VALUED: Final[Mapping[str, frozenset[str]]] = {
    "Pagination": frozenset({"has_next_page", "has_prev_page", "per_page"}),
    "Endpoint": frozenset(
        {"uid", "project_id", "url", "advanced_signatures", "content_type", "status", "created_at"}
    ),
    "Secret": frozenset({"uid", "created_at"}),
    "PortalLink": frozenset({"uid", "project_id", "endpoint_count", "created_at"}),
    "Source": frozenset({"uid", "project_id", "type", "created_at"}),
    "Event": frozenset({"uid", "project_id", "status", "is_duplicate_event", "created_at"}),
}
_PLACEHOLDERS: Final = {
    "{message}": r"[\s\S]*",
    "{status}": r"\d{3}",
    "{any}": r"[\s\S]*",
}


def specialise_responses(document: Document, dialect: Dialect) -> None:
    """Specialise everything that the service answers."""
    request_fields = _request_fields(openapi_document())
    schemas = _resource_schemas(document)
    for name in schemas:
        _restrict_forms(document, name, dialect, request_fields)
    for name in schemas:
        _allow_null(document, name, dialect)
    _specialise_refusals(document, dialect)
    for _path, _method, operation in operations_of(document):
        _specialise_statuses(operation, dialect)


def template_schema(template: object) -> Document:
    """The schema of all bodies that an error body template stands for (section 7)."""
    if isinstance(template, Mapping):
        properties = {name: template_schema(value) for name, value in template.items()}
        return {"type": "object", "properties": properties, "required": list(properties)}
    if isinstance(template, list):
        items = [template_schema(value) for value in template]
        return {"type": "array", "prefixItems": items, "minItems": len(items)}
    if isinstance(template, str) and any(name in template for name in _PLACEHOLDERS):
        parts = re.split("({message}|{status}|{any})", template)
        return {
            "type": "string",
            "pattern": f"^{''.join(_PLACEHOLDERS.get(part, re.escape(part)) for part in parts)}$",
        }
    return {"const": template}


def _request_fields(document: Document) -> set[str]:
    """The names of the fields that a client may set; their form is up to the client."""
    bodies = [operation.get("requestBody") for _path, _method, operation in operations_of(document)]
    return {
        field
        for name in reachable_schemas(document, bodies)
        for field in schema_named(document, name)["properties"]
    }


def _resource_schemas(document: Document) -> list[str]:
    """The schemas of the resources inside envelopes."""
    responses = [operation["responses"] for _path, _method, operation in operations_of(document)]
    names = reachable_schemas(document, responses)
    return sorted(name for name in names if "properties" in schema_named(document, name))


def _restrict_forms(
    document: Document, resource: str, dialect: Dialect, request_fields: set[str]
) -> None:
    """Restrict identifiers and timestamps (section 2.9); values from a client stay as sent."""
    schema, forms = schema_named(document, resource), dialect.representation
    identifiers = forms.identifier_patterns(resource)
    empty = ("^$",) if forms.may_be_empty else ()
    for name, value in schema["properties"].items():
        if name == "uid" and identifiers:
            value["pattern"] = "|".join(identifiers)
        elif name.endswith("_at") and name not in request_fields and forms.timestamp.decided:
            value["pattern"] = "|".join((_either(forms.timestamp, TIMESTAMP_PATTERNS), *empty))


def _either(answer: Answer[Any], patterns: Mapping[Any, str]) -> str:
    return "|".join(patterns[form] for form in answer.allowed)


def _allow_null(document: Document, resource: str, dialect: Dialect) -> None:
    """Allow null in a field that may have no value; fields that the document requires have one."""
    schema, forms = schema_named(document, resource), dialect.representation
    valued = _ALWAYS_VALUED.get(resource, frozenset()) | set(schema.get("required", ()))
    properties = schema["properties"]
    properties.update(
        {
            name: _nullable(value)
            for name, value in properties.items()
            if name not in valued
            and forms.no_value_in(resource, name, json_type(document, value)).allows(NoValue.NULL)
        }
    )


def _nullable(schema: Document) -> Document:
    if "$ref" in schema:
        rest = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
        return {"anyOf": [{"$ref": schema["$ref"]}, {"type": "null"}], **rest}
    return {**schema, "type": [schema["type"], "null"]} if "type" in schema else schema


def _specialise_refusals(document: Document, dialect: Dialect) -> None:
    """Restrict error responses (section 7); the error body may have further fields."""
    usual = template_schema(dialect.errors.body)
    own = [template_schema(body) for body in dialect.errors.bodies.values() if body is not None]
    document["components"]["schemas"][ERROR_BODY] = {
        **({"anyOf": [usual, *own]} if own else usual),
        "description": "What a refusal says.",
    }
    refusal = document["components"]["responses"]["Error"]
    refusal["content"] = {
        dialect.errors.content_type: {"schema": {"$ref": f"{SCHEMAS}{ERROR_BODY}"}}
    }


def _specialise_statuses(operation: Document, dialect: Dialect) -> None:
    """Replace a status label by the statuses that the dialect allows (sections 4 and 7)."""
    operation_id, responses = operation["operationId"], operation["responses"]
    (label_status,) = (status for status in responses if status.startswith(ANY_SUCCESS[0]))
    success = responses.pop(label_status)
    refusals = dict(responses)
    responses.clear()
    responses.update(
        {status: copy.deepcopy(success) for status in _statuses(operation_id, dialect)}
    )
    responses.update(refusals)


def _statuses(operation_id: str, dialect: Dialect) -> list[str]:
    """The success statuses of an operation, with that of a duplicate broadcast (section 4.8)."""
    answers = [dialect.success.of(operation_id)]
    if operation_id == "createBroadcastEvent":
        answers.append(dialect.idempotency.duplicate_status)
    statuses = [str(status) for answer in answers for status in answer.allowed or (ANY_SUCCESS,)]
    return [status for status in dict.fromkeys(statuses) if status.startswith(ANY_SUCCESS[0])]
