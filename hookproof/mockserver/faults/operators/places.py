"""Finds the places of a service in its contract: operations, their fields, lists and filters."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from hookproof.mockserver.faults.operators.place import (
    ENVELOPE,
    PAGINATION,
    Content,
    Field,
    Place,
    PlaceKind,
    ValueKind,
)
from hookproof.spec.contract.service_contract import Contract
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import EventEcho, EventQuery, EventRaw
from hookproof.spec.openapi_document import content_schema, operation_named, resolved

Schema = Mapping[str, Any]

_TYPES: Final = {
    "string": ValueKind.TEXT,
    "integer": ValueKind.NUMBER,
    "number": ValueKind.NUMBER,
    "boolean": ValueKind.BOOLEAN,
    "object": ValueKind.OBJECT,
    "array": ValueKind.ARRAY,
}
_CREDENTIALS: Final = ("authentication", "mtls_client_cert")
# What the service makes of letters and digits (sections 2.3 to 2.8).
_PLAIN: Final = frozenset({"project_id", "source_id", "app_id", "mask_id", "token", "auth_key"})
# The reference server has no operation that deletes, and nothing that sets metadata.
_NEVER: Final = frozenset({"deleted_at", "metadata"})
_WORDS: Final = frozenset(
    {"type", "provider", "status", "auth_type", "authentication_type", "expiry_time_unit"}
    | {"encoding", "signing_algorithm"}
)
_URLS: Final = frozenset({"url", "slack_webhook_url"})
_HEADER_OBJECTS: Final = (("custom_headers",), ("headers",))
_CERTIFICATES: Final = ("client_cert", "client_key")
_HEADERS: Final = frozenset({"content_type", "header_name", "header_value"})
# The operations that store what a request holds, and the fields that are found again.
STORED_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "createEndpoint": (
        *("advanced_signatures", "authentication", "content_type", "description", "http_timeout"),
        *("is_disabled", "mtls_client_cert", "name", "owner_id", "rate_limit"),
        *("rate_limit_duration", "secret", "slack_webhook_url", "support_email", "url"),
    ),
    "expireEndpointSecret": ("secret",),
    "updatePortalLink": ("auth_type", "can_manage_endpoint", "endpoints", "name", "owner_id"),
    "createBroadcastEvent": ("custom_headers", "data", "event_type", "idempotency_key"),
}


def places_of(contract: Contract, dialect: Dialect) -> tuple[Place, ...]:
    """Every place of a service with this contract, in the order of its operations."""
    return tuple(
        place for name in contract.operations for place in _places(name, contract, dialect)
    )


def _places(operation: str, contract: Contract, dialect: Dialect) -> Iterator[Place]:
    body = contract.operations[operation].body_schema
    if body is not None:
        for path, field in _fields(contract, body, dialect, operation):
            yield Place(operation=operation, kind=PlaceKind.TAKEN, path=path, field=field)
            if path[0] in STORED_FIELDS[operation]:
                yield Place(operation=operation, kind=PlaceKind.STORED, path=path, field=field)
        yield Place(operation=operation, kind=PlaceKind.WRITTEN)
    data = _data_schema(contract, operation)
    content = _members(contract, data).get("content")
    for path, field in _shown_fields(contract, operation, data, dialect):
        yield Place(operation=operation, kind=PlaceKind.SHOWN, path=path, field=field)
    yield Place(operation=operation, kind=PlaceKind.ANSWER)
    if content is not None:
        yield Place(operation=operation, kind=PlaceKind.LIST)
        for name in filter_columns(operation, dialect):
            yield Place(operation=operation, kind=PlaceKind.FILTER, path=(name,))
    yield Place(operation=operation, kind=PlaceKind.ACCESS)


def filter_columns(operation: str, dialect: Dialect) -> Mapping[str, str]:
    """The columns that a list is filtered by, by the names of their parameters (4.4 and 4.7)."""
    if operation == "listSources":
        return {"provider": "provider", "type": "type"}
    filters = dialect.paging.portal_link_filters
    return {parameter: field for parameter, (field, _) in filters.items()}


def _shown_fields(
    contract: Contract, operation: str, data: Schema, dialect: Dialect
) -> Iterator[tuple[tuple[str, ...], Field]]:
    """The fields of the envelope, of the pagination of a list, and of its resources."""
    members = _members(contract, data)
    envelope = _envelope_schema(contract, operation)
    for path, field in _fields(contract, envelope, dialect, "", (ENVELOPE,)):
        if path in ((ENVELOPE, "message"), (ENVELOPE, "status")):
            yield path, replace(field, content=Content.FREE, required=True, neighbour="")
    if "content" in members:
        pagination = {"properties": {PAGINATION: members[PAGINATION]}}
        yield from _fields(contract, pagination, dialect, "")
        data = members["content"]["items"]
    yield from _fields(contract, data, dialect, "")


def _fields(
    contract: Contract, schema: Schema, dialect: Dialect, operation: str, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Field]]:
    """The fields of a resource, or of the body of `operation`, at any depth; untyped ones not."""
    required = _required(contract, schema)
    members = {
        name: member
        for name, member in _members(contract, schema).items()
        if _types(contract, member)
    }
    level = {
        name: _field(contract, (*path, name), member, dialect, operation)
        for name, member in members.items()
    }
    for name, field in level.items():
        yield (
            (*path, name),
            replace(
                field,
                neighbour=_neighbour(name, level),
                required=name in required if operation else field.required,
            ),
        )
        inner = members[name]
        if field.value is ValueKind.ARRAY:
            inner = _items(contract, inner)
        if field.members and (*path, name) != (ENVELOPE, "data"):
            yield from _fields(contract, inner, dialect, operation, (*path, name))


def _field(
    contract: Contract, path: tuple[str, ...], schema: Schema, dialect: Dialect, operation: str
) -> Field:
    types = _types(contract, schema)
    kind = next(_TYPES[word] for word in types if word in _TYPES)
    inner = _items(contract, schema) if kind is ValueKind.ARRAY else schema
    return Field(
        value=kind,
        content=_content(path, schema, kind, dialect, operation),
        required="null" not in types,
        default=_keyword(contract, schema, "default"),
        maximum=_keyword(contract, schema, "maximum"),
        pattern=_keyword(contract, schema, "pattern") or "",
        members=tuple(_members(contract, inner)),
        element=_element(contract, inner) if kind is ValueKind.ARRAY else None,
    )


def _neighbour(name: str, level: Mapping[str, Field]) -> str:
    """The next field of the same object that has values of the same kind."""
    field, names = level[name], list(level)
    for other in names[names.index(name) + 1 :]:
        if (level[other].value, level[other].content) == (field.value, field.content):
            return other
    return ""


def _content(
    path: tuple[str, ...], schema: Schema, kind: ValueKind, dialect: Dialect, operation: str
) -> Content:
    name = path[-1]
    found = {
        Content.MASKED: not operation and _is_masked(path, dialect),
        Content.NEVER: name in _NEVER or (not operation and name in _hidden(dialect)),
        Content.IDENTIFIER: name == "uid" or (name == "endpoints" and kind is ValueKind.ARRAY),
        Content.KEY: path[-2:-1] == ("signing_key",) and name != "kid",
        Content.TIMESTAMP: name.endswith("_at"),
        Content.CURSOR: path[0] == PAGINATION and name.endswith("_cursor"),
        Content.QUERY: name == "url_query_params",
        Content.PLAIN: name in _PLAIN and "google" not in path,
        Content.WORD: name in _WORDS or "enum" in schema,
        Content.HEADER: name in _HEADERS or path in _HEADER_OBJECTS,
        Content.URL: name in _URLS,
        Content.CERTIFICATE: name in _CERTIFICATES,
        Content.SECRET: path == ("secret",) or path[-2:] == ("secrets", "value"),
    }
    return next((content for content, is_it in found.items() if is_it), Content.FREE)


def _is_masked(path: tuple[str, ...], dialect: Dialect) -> bool:
    for start, name in enumerate(path):
        if name in _CREDENTIALS and "source_metadata" not in path:
            return ".".join(path[start:]) in dialect.representation.masked
    return False


def _hidden(dialect: Dialect) -> frozenset[str]:
    """The fields of events that the dialect does not show (section 2.8)."""
    shown = dialect.representation
    hidden = {
        "raw": shown.event_raw.prefers(EventRaw.NONE),
        "headers": shown.event_headers.prefers(EventEcho.NONE),
        "acknowledged_at": shown.event_acknowledged_at.prefers(EventEcho.NONE),
        "url_query_params": not shown.event_query.prefers(EventQuery.REQUEST),
    }
    return frozenset(name for name, is_hidden in hidden.items() if is_hidden)


def _data_schema(contract: Contract, operation: str) -> Schema:
    return _members(contract, _envelope_schema(contract, operation))["data"]


def _envelope_schema(contract: Contract, operation: str) -> Schema:
    responses = operation_named(contract.document, operation)["responses"]
    status = str(contract.operations[operation].success.value)
    return content_schema(resolved(contract.document, responses[status]))


def _parts(contract: Contract, schema: Schema) -> Iterator[Schema]:
    schema = resolved(contract.document, dict(schema))
    yield schema
    for keyword in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(keyword, ()):
            yield from _parts(contract, part)


def _members(contract: Contract, schema: Schema) -> dict[str, Schema]:
    found: dict[str, Schema] = {}
    for part in _parts(contract, schema):
        found |= part.get("properties", {})
    return found


def _required(contract: Contract, schema: Schema) -> frozenset[str]:
    return frozenset(name for part in _parts(contract, schema) for name in part.get("required", ()))


def _types(contract: Contract, schema: Schema) -> tuple[str, ...]:
    words: list[str] = []
    for part in _parts(contract, schema):
        types = part.get("type", ())
        words.extend([types] if isinstance(types, str) else types)
    return tuple(words)


def _keyword(contract: Contract, schema: Schema, keyword: str) -> Any:
    return next((part[keyword] for part in _parts(contract, schema) if keyword in part), None)


def _items(contract: Contract, schema: Schema) -> Schema:
    items: Schema = _keyword(contract, schema, "items") or {}
    return items


def _element(contract: Contract, items: Schema) -> ValueKind | None:
    return next((_TYPES[word] for word in _types(contract, items) if word in _TYPES), None)
