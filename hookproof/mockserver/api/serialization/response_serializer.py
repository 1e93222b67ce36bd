"""Serializes stored rows to the JSON of responses: envelope (section 2.1) and resources.

A resource's document is stored as the JSON that is shown; members that change on their own are
inserted here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from hookproof.mockserver.store.endpoints import EndpointRow, StoredSecret, decode_secrets
from hookproof.spec.contract.service_contract import Contract
from hookproof.spec.dialect.model import Dialect, Representation
from hookproof.spec.dialect.vocabulary import (
    EventCount,
    EventRaw,
    ExpiredSecrets,
    FailureRate,
    NoValue,
    SecretDisplay,
)
from hookproof.spec.openapi_document import json_type

_EMPTY: Final[Mapping[str, Any]] = {
    "string": "",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "array": [],
    "object": {},
}

Schema = Mapping[str, Any]


class ResourceShape:
    """The members of one object of the contract, which a response shows.

    It turns a record (a plain mapping) into what is encoded as JSON: members that the contract does
    not name are left out, and those without a value are shown as the dialect says (section 2.9).
    """

    def __init__(
        self, contract: Contract, name: str, schema: Schema, forms: Representation
    ) -> None:
        members = _properties(contract, schema)
        self._nested: dict[str, ResourceShape] = {}
        self.blank: dict[str, Any] = {}
        for field, member in members.items():
            if _properties(contract, member):
                self._nested[field] = ResourceShape(contract, _name(member), member, forms)
            kind = json_type(contract.document, dict(member))
            no_value = forms.no_value_in(name, field, kind).value
            if no_value is not NoValue.ABSENT:
                self.blank[field] = None if no_value is NoValue.NULL else _EMPTY[kind]
        self._names = frozenset(members)

    def select(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the record as a response shows it; None in the record means no value."""
        names, nested = self._names, self._nested
        shown = self.blank.copy()
        for name, value in record.items():
            if value is not None and name in names:
                shown[name] = (
                    nested[name].select(value)
                    if name in nested and isinstance(value, dict)
                    else value
                )
        return shown

    def without(self, *names: str) -> "ResourceShape":
        """Return the same shape without some members, which are inserted elsewhere."""
        rest = object.__new__(ResourceShape)
        rest._nested = self._nested
        rest._names = self._names.difference(names)
        rest.blank = {name: value for name, value in self.blank.items() if name in rest._names}
        return rest


def find_resource_shape(contract: Contract, name: str, forms: Representation) -> ResourceShape:
    """Return the shape of a named schema of the contract."""
    return ResourceShape(contract, name, contract.document["components"]["schemas"][name], forms)


def _name(schema: Schema) -> str:
    """Return the name of the schema that a member refers to; empty for one of its own."""
    references = [part["$ref"] for part in (schema, *schema.get("anyOf", ())) if "$ref" in part]
    return str(references[0]).rpartition("/")[2] if references else ""


def _referenced_schemas(contract: Contract, schema: Schema) -> list[Schema]:
    """Return a schema and all that it refers to or is composed of."""
    schemas = [schema]
    if "$ref" in schema:
        target: Any = contract.document
        for step in schema["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        schemas += _referenced_schemas(contract, target)
    for part in (*schema.get("allOf", ()), *schema.get("anyOf", ()), *schema.get("oneOf", ())):
        schemas += _referenced_schemas(contract, part)
    return schemas


def _properties(contract: Contract, schema: Schema) -> dict[str, Schema]:
    properties: dict[str, Schema] = {}
    for part in _referenced_schemas(contract, schema):
        properties |= part.get("properties", {})
    return properties


encode: Final = msgspec.json.encode
_decode: Final = msgspec.json.decode


class ResponseSerializer:
    def __init__(self, contract: Contract, dialect: Dialect, clock: Callable[[], float]) -> None:
        shown = dialect.representation
        self._clock = clock
        self._lists_expired = not shown.expired_secrets.prefers(ExpiredSecrets.LEFT_OUT)
        words = dialect.words
        self.endpoints = find_resource_shape(contract, "Endpoint", shown).without(
            "status", "events", "failure_rate", "updated_at", "secrets"
        )
        self.portal_links = find_resource_shape(contract, "PortalLink", shown).without(
            "endpoints", "endpoint_count", "endpoints_metadata"
        )
        self.sources = find_resource_shape(contract, "Source", shown)
        self._counts_delivered = shown.event_count.prefers(EventCount.DELIVERED)
        rate = shown.failure_rate.value if shown.failure_rate.decided else FailureRate.PERCENT
        self._whole_rate = rate.whole
        self._shows_raw = not shown.event_raw.prefers(EventRaw.NONE)
        inserted = ("data", "endpoint_metadata", *(("raw",) if self._shows_raw else ()))
        self.events = find_resource_shape(contract, "Event", shown).without(*inserted)
        self._blank_secret = find_resource_shape(contract, "Secret", shown).blank
        self._pagination = find_resource_shape(contract, "Pagination", shown)
        self._always_clear = shown.secrets_shown.value is SecretDisplay.ALWAYS
        self._mask = shown.mask
        self._masked_members: dict[str, list[tuple[str, ...]]] = {}
        for path in shown.masked:
            member, *rest = path.split(".")
            self._masked_members.setdefault(member, []).append(tuple(rest))
        self._status = (encode(words.endpoint_disabled.value), encode(words.endpoint_active.value))

    def envelope(self, message: str, data: bytes) -> bytes:
        """Wrap the data of a successful response (section 2.1)."""
        return b'{"status":true,"message":%b,"data":%b}' % (encode(message), data)

    def page(self, items: Iterable[bytes], pagination: Mapping[str, Any]) -> bytes:
        """Serialize the data of a list response (section 2.2)."""
        return b'{"content":[%b],"pagination":%b}' % (
            b",".join(items),
            encode(self._pagination.select(pagination)),
        )

    def endpoint(self, row: EndpointRow, *, clear: bool = False) -> bytes:
        """Serialize an endpoint (section 2.3).

        With `clear`, its secrets were set by the request that is answered, and are shown unmasked.
        """
        return b'%b,"status":%b,"events":%d,"failure_rate":%d,"updated_at":%b,"secrets":%b}' % (
            row.document[:-1],
            self._status[row.active],
            row.delivered if self._counts_delivered else row.events,
            self._failure_rate(row),
            encode(row.updated_at),
            self.secrets(decode_secrets(row.secrets), clear=clear),
        )

    def _failure_rate(self, row: EndpointRow) -> int:
        if self._whole_rate is None:
            return row.failed
        finished = row.delivered + row.failed
        return row.failed * self._whole_rate // finished if finished else 0

    def secrets(self, secrets: Sequence[StoredSecret], *, clear: bool) -> bytes:
        """Serialize the secrets of an endpoint (section 2.4), oldest first."""
        clear = clear or self._always_clear
        shown = []
        now = self._clock()
        for secret in secrets:
            if not self._lists_expired and secret.ends is not None and secret.ends <= now:
                continue
            resource = {
                **self._blank_secret,
                "uid": secret.uid,
                "value": secret.value if clear else self._mask,
                "created_at": secret.created_at,
                "updated_at": secret.updated_at,
            }
            if secret.expires_at is not None:
                resource["expires_at"] = secret.expires_at
            shown.append(resource)
        return encode(shown)

    def mask_credentials(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return a copy of an endpoint's document with its credentials masked."""
        for member, paths in self._masked_members.items():
            for path in paths if document.get(member) else ():
                document = self._mask_at(document, (member, *path))
        return document

    def exposed_endpoints(
        self, endpoints: Sequence[EndpointRow], listed: Sequence[str] | None = None
    ) -> bytes:
        """Serialize the members of a portal link about its endpoints; they end it (section 2.6).

        `listed` is shown as the deprecated list, where that is not of these endpoints.
        """
        return b',"endpoint_count":%d,"endpoints":%b,"endpoints_metadata":[%b]}' % (
            len(endpoints),
            encode([endpoint.uid for endpoint in endpoints] if listed is None else listed),
            b",".join([self.endpoint(endpoint) for endpoint in endpoints]),
        )

    def event(self, document: bytes, payload: bytes, endpoints: Iterable[bytes]) -> bytes:
        """Serialize an event; `data` is an array with the bytes of the payload (section 2.8)."""
        return b'%b,"data":%b%b,"endpoint_metadata":[%b]}' % (
            document[:-1],
            encode(list(payload)),
            b',"raw":%b' % encode(payload.decode()) if self._shows_raw else b"",
            b",".join(endpoints),
        )

    def _mask_at(self, document: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        name, rest = path[0], path[1:]
        value = document.get(name)
        if isinstance(value, dict) and rest:
            return {**document, name: self._mask_at(value, rest)}
        return document if rest or value is None else {**document, name: self.in_place_of(value)}

    def in_place_of(self, _credential: Any) -> str:
        """What is shown in place of a masked credential."""
        return self._mask
