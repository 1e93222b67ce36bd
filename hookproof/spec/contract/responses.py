"""Specialises responses for a dialect: statuses, forms of values, the error body.

Every function changes the OpenAPI document in place.
"""

import copy
import re
from collections.abc import Mapping
from typing import Any, Final

from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.groups.errors import KEY_REFUSALS, REFUSALS, WITHOUT_OPERATION
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import TIMESTAMP_PATTERNS, HeaderValues, NoValue
from hookproof.spec.openapi_document import (
    SCHEMAS,
    Document,
    json_type,
    openapi_document,
    operations_of,
    reachable_schemas,
    schema_named,
    without_null,
)

ANY_SUCCESS: Final = "2XX"
ANY_REFUSAL: Final = "4XX"
ERROR_BODY: Final = "ErrorBody"

# The refusals of requests that have a body.
_OF_BODIES: Final = ("malformed_body", "body_too_large", "unsupported_media_type", "slow_request")
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
        _forbid_null(document, name, dialect)
    _specialise_event_headers(document, dialect)
    _specialise_refusals(document, dialect)
    for path, _method, operation in operations_of(document):
        _specialise_statuses(operation, dialect)
        _name_refusals(path, operation, dialect)


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
    # Generators of clients know null as a type, and not as a constant.
    return {"type": "null"} if template is None else {"const": template}


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


def _forbid_null(document: Document, resource: str, dialect: Dialect) -> None:
    """Forbid null in fields without value that the dialect shows otherwise (section 2.9)."""
    forms = dialect.representation
    properties = schema_named(document, resource)["properties"]
    for name, value in properties.items():
        answer = forms.no_value_in(resource, name, json_type(document, value))
        if not answer.allows(NoValue.NULL):
            properties[name] = without_null(value)


def _specialise_event_headers(document: Document, dialect: Dialect) -> None:
    """Restrict what headers of an event hold (section 2.8)."""
    form = dialect.representation.event_header_values
    if len(form.allowed) == 1:
        text: Document = {"type": "string"}
        is_list = form.value is HeaderValues.LIST
        headers = schema_named(document, "Event")["properties"]["headers"]
        headers["additionalProperties"] = {"type": "array", "items": text} if is_list else text


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


def _name_refusals(path: str, operation: Document, dialect: Dialect) -> None:
    """Add the statuses of its refusals to an operation, for clients that know no ranges."""
    responses = operation["responses"]
    any_refusal = responses.pop(ANY_REFUSAL)
    impossible = {
        *WITHOUT_OPERATION,
        *(() if "requestBody" in operation else _OF_BODIES),
        *(() if path.count("{") > 1 else ("unknown_resource",)),
    }
    answers = [
        *(getattr(dialect.authentication, field) for field in KEY_REFUSALS.values()),
        *(
            dialect.errors.status(refusal, operation["operationId"])
            for refusal in REFUSALS
            if refusal not in impossible
        ),
    ]
    statuses = {str(status) for answer in answers for status in answer.allowed}
    responses.update(dict.fromkeys(sorted(statuses - responses.keys()), any_refusal))
    responses[ANY_REFUSAL] = any_refusal
