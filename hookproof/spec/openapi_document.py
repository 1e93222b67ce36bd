"""The OpenAPI document of `openapi.yaml`, read once, and functions to look things up in it."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from hookproof.spec.strict_yaml.reader import read_yaml

Document = dict[str, Any]

# What a reference to a named schema begins with.
SCHEMAS: Final = "#/components/schemas/"

_PATH: Final = Path(__file__).parent / "openapi.yaml"
_METHODS: Final = ("get", "put", "post", "delete", "patch", "head", "options", "trace")


@cache
def openapi_document() -> Document:
    """The document, not specialised. It is shared: copy it before changing it."""
    document: Document = read_yaml(
        _PATH, {"type": "object", "required": ["openapi", "paths", "components"]}
    )
    return document


def openapi_text() -> str:
    """The file as it is, with its comments."""
    return _PATH.read_text(encoding="utf-8")


def operations_of(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Document]]:
    """Path, method in capitals, and operation object of each operation for clients."""
    for path, item in document["paths"].items():
        for method in _METHODS:
            if method in item:
                yield path, method.upper(), item[method]


def operation_named(document: Mapping[str, Any], operation_id: str) -> Document:
    """The operation object with this operationId; raises KeyError for an unknown one."""
    for _path, _method, operation in operations_of(document):
        if operation["operationId"] == operation_id:
            return operation
    raise KeyError(operation_id)


def request_bodies(document: Mapping[str, Any]) -> Iterator[tuple[str, Document]]:
    """The operationId and request body object of each operation that has a body."""
    for _path, _method, operation in operations_of(document):
        if "requestBody" in operation:
            yield operation["operationId"], operation["requestBody"]


def content_schema(holder: Mapping[str, Any]) -> Document:
    """The schema of a request body or response with one media type; it may be a reference."""
    (media_type,) = holder["content"].values()
    schema: Document = media_type["schema"]
    return schema


def query_parameters(
    document: Mapping[str, Any], operation: Mapping[str, Any]
) -> dict[str, Document]:
    """The schemas of an operation's query parameters, by name."""
    parameters = (resolved(document, parameter) for parameter in operation.get("parameters", ()))
    return {
        parameter["name"]: parameter["schema"]
        for parameter in parameters
        if parameter["in"] == "query"
    }


# The types of fields, other than null.
JSON_TYPES: Final = ("string", "integer", "number", "boolean", "array", "object")


def resolved(document: Mapping[str, Any], value: Document) -> Document:
    """The value that a `$ref` points at within the document; other values stay as they are."""
    while "$ref" in value:
        part: Any = document
        for step in value["$ref"].removeprefix("#/").split("/"):
            part = part[step]
        value = part
    return value


NULL: Final = {"type": "null"}


def nullable(schema: Document) -> Document:
    """The schema with null allowed beside the rest; one without a type allows it anyway."""
    if "$ref" in schema:
        rest = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
        return {"anyOf": [{"$ref": schema["$ref"]}, NULL], **rest}
    return {**schema, "type": [schema["type"], "null"]} if "type" in schema else schema


def without_null(schema: Document) -> Document:
    """The schema without the null that `nullable` allows; any other as it is."""
    if NULL in schema.get("anyOf", ()):
        (other,) = (part for part in schema["anyOf"] if part != NULL)
        return {**other, **{word: value for word, value in schema.items() if word != "anyOf"}}
    if "null" in schema.get("type", ()):
        (kind,) = (word for word in schema["type"] if word != "null")
        return {**schema, "type": kind}
    return schema


def field_at(document: Mapping[str, Any], schema_name: str, path: Sequence[str]) -> Document | None:
    """The schema of the field at a path of names within a named schema; None if there is none."""
    schema = schema_named(document, schema_name)
    for step in path:
        properties = resolved(document, without_null(schema)).get("properties", {})
        if step not in properties:
            return None
        schema = properties[step]
    return schema


def schema_named(document: Mapping[str, Any], name: str) -> Document:
    schema: Document = document["components"]["schemas"][name]
    return schema


def reachable_schemas(document: Mapping[str, Any], start: object) -> set[str]:
    """The names of all schemas that a part of the document refers to, directly or not."""
    names: set[str] = set()
    pending = [start]
    while pending:
        part = pending.pop()
        if isinstance(part, list):
            pending.extend(part)
        elif isinstance(part, dict):
            name = _schema_name(part.get("$ref"))
            if name is not None and name not in names:
                names.add(name)
                pending.append(schema_named(document, name))
            pending.extend(part.values())
    return names


def _schema_name(reference: object) -> str | None:
    if not isinstance(reference, str) or not reference.startswith(SCHEMAS):
        return None
    return reference.removeprefix(SCHEMAS)


def json_type(document: Document, schema: Document) -> str:
    """The type of the values that a schema describes, other than null."""
    for part in (schema, *schema.get("anyOf", ())):
        types = resolved(document, part).get("type", ())
        for name in (types,) if isinstance(types, str) else types:
            if name != "null":
                return str(name)
    return "string"
