"""The JSON Schema of target.yaml for editors, which see the file before variables are replaced."""

from collections.abc import Mapping
from typing import Any, Final

from hookproof.spec.dialect_schema import dialect_schema
from hookproof.target.file_schema import SCHEMA
from hookproof.target.target_file import VARIABLE

_VARIABLE: Final = {
    "type": "string",
    "pattern": VARIABLE.pattern,
    "description": "a text from the environment",
}


def target_schema() -> dict[str, Any]:
    """The schema that the reader uses, with that of a dialect in the file."""
    properties: Mapping[str, Any] = SCHEMA["properties"]  # type: ignore[assignment]
    dialect = {
        **properties["dialect"],
        "if": {"type": "object"},
        "then": dialect_schema(),
    }
    schema: dict[str, Any] = _with_variables(
        {**SCHEMA, "properties": {**properties, "dialect": dialect}}
    )
    return schema


def _with_variables(schema: Any) -> Any:
    """A schema that accepts ${NAME} too wherever it says which texts it accepts.

    A variable stands within a text alone, so it is not accepted in place of a number.
    """
    if isinstance(schema, list):
        return [_with_variables(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    inner = {key: _with_variables(value) for key, value in schema.items()}
    if not _limits_texts(schema):
        return inner
    told = {key: inner.pop(key) for key in ("description", "title") if key in inner}
    return {**told, "anyOf": [inner, _VARIABLE]}


def _limits_texts(schema: Mapping[str, Any]) -> bool:
    words = schema.get("enum")
    return isinstance(schema.get("pattern"), str) or (
        isinstance(words, list) and any(isinstance(word, str) for word in words)
    )
