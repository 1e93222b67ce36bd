"""The shapes of resources, read from the contract: the members that a response shows.

A shape turns a record (a plain mapping) into what is encoded as JSON: members that the contract
does not name are left out, and those without a value are shown as the dialect says (section 2.9).
"""

from collections.abc import Mapping
from typing import Any, Final

from hookproof.spec.contract.service_contract import Contract
from hookproof.spec.dialect.model import Representation
from hookproof.spec.dialect.vocabulary import NoValue
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
    """The members of one object of the contract."""

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
