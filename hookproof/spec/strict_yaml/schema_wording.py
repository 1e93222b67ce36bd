"""Messages for a file that disagrees with a JSON Schema: what was expected, and what was found.

A schema may have `description` (what the value is for), `x-expected` (what is expected, if the
keywords alone would not say) and `x-several` (the key under which several values are accepted);
all of them are used in the messages.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from hookproof.spec.strict_yaml.file_problem import Location

if TYPE_CHECKING:  # the library takes long to import, and is needed for what is wrong only
    from jsonschema import ValidationError

# In characters, of a value that was found.
LONGEST_SHOWN: Final = 60

# How the message about a key begins that is like none of the known ones.
UNKNOWN_KEY: Final = "unknown key; expected one of"

_WORD: Final = re.compile(r"[A-Za-z_][\w-]*")
_NUMBER: Final = re.compile(r"-?\d+(\.\d+)?")
_TEXTS_OF_CONSTANTS: Final = ("null", "true", "false")

_TYPES: Final = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "a mapping",
    "array": "a list",
    "null": "null",
}


def wordings(error: "ValidationError") -> Iterator[tuple[Location, str]]:
    """The problems that one error of a validator stands for: a location and a message for each."""
    location = tuple(error.absolute_path)
    value: Any = error.instance
    schema: Mapping[str, Any] = error.schema if isinstance(error.schema, Mapping) else {}
    if "propertyNames" in list(error.absolute_schema_path)[-2:-1]:
        location = (*location, value)
    if error.validator == "additionalProperties" and error.validator_value is False:
        yield from _unknown_keys(location, schema, value)
    elif error.validator == "required":
        yield from _missing_keys(location, schema, value)
    elif error.validator in ("anyOf", "oneOf") and (branch := _intended_branch(error)):
        for nested in branch:
            yield from wordings(nested)
    elif error.validator == "uniqueItems":
        yield location, "expected each item once"
    else:
        yield location, f"expected {expected(schema)}; found {shown(value)}{_hint(schema, value)}"


def expected(schema: Mapping[str, Any]) -> str:
    """What a schema expects, and what for."""
    purpose = f" ({schema['description']})" if "description" in schema else ""
    return f"{wanted(schema)}{purpose}"


def shown(value: object) -> str:
    """A value in at most a line."""
    if value is None:
        return "null"
    if isinstance(value, dict | list):
        kind = "mapping" if isinstance(value, dict) else "list"
        return f"a {kind}" if value else f"an empty {kind}"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question to append to a message about `word`, empty if no known word is similar."""
    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def wanted(schema: Mapping[str, Any]) -> str:
    """What a schema expects, without what for: `one of: get, head`."""
    if "x-expected" in schema:
        return str(schema["x-expected"])
    if "else" in schema:
        return wanted(schema["else"])
    if "enum" in schema:
        words = (word if isinstance(word, str) else shown(word) for word in schema["enum"])
        return f"one of: {', '.join(words)}"
    if "const" in schema:
        return shown(schema["const"])
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            return " or ".join(wanted(branch) for branch in schema[keyword])
    types = schema.get("type", [])
    names = [types] if isinstance(types, str) else types
    return (" or ".join(_TYPES[name] for name in names) or "something else") + _bounds(schema)


def _bounds(schema: Mapping[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if low is not None or high is not None:
        return f" of at least {low}" if high is None else f" of at most {high}"
    if schema.get("minLength") or schema.get("minItems") or schema.get("minProperties"):
        return " that is not empty"
    return f" like {schema['pattern']}" if "pattern" in schema else ""


def _hint(schema: Mapping[str, Any], value: object) -> str:
    words = schema.get("enum", [])
    if isinstance(value, str):
        without_quotes = "; without quotes it is a number" if _is_quoted(schema, value) else ""
        known = (word for word in words if isinstance(word, str))
        return without_quotes or did_you_mean(value, known)
    if isinstance(value, list) and value and "x-several" in schema:
        items = ", ".join(_as_written(item, words) for item in value)
        return _several(schema["x-several"], items)
    if isinstance(value, dict | list):
        return ""
    if shown(value) in words or (schema.get("type") == "string" and value is not None):
        return f'; as a text it is written "{shown(value)}"'
    return ""


def _is_quoted(schema: Mapping[str, Any], value: str) -> bool:
    """Whether a text is a number in quotes, where a number is expected."""
    return schema.get("type") in ("integer", "number") and _NUMBER.fullmatch(value) is not None


def _several(key: str, items: str) -> str:
    shortened = items if len(items) <= LONGEST_SHOWN else "..."
    return f"; several values are written {{{key}: [{shortened}]}}"


def _as_written(item: object, words: Collection[object]) -> str:
    """An item of a list in YAML; null in quotes where it is one of the words."""
    text = shown(item)
    if isinstance(item, str):
        is_plain = _WORD.fullmatch(item) and item not in _TEXTS_OF_CONSTANTS
        return item if is_plain else text
    return f'"{text}"' if text in words else text


def _unknown_keys(
    location: Location, schema: Mapping[str, Any], value: Mapping[str, Any]
) -> Iterator[tuple[Location, str]]:
    known = schema.get("properties", {})
    for key in value:
        if key not in known:
            yield (*location, key), f"unknown key{did_you_mean(key, known) or _known(known)}"


def _known(keys: Mapping[str, Any]) -> str:
    return f"; expected one of: {', '.join(keys)}" if keys else ""


def _missing_keys(
    location: Location, schema: Mapping[str, Any], value: Mapping[str, Any]
) -> Iterator[tuple[Location, str]]:
    """All missing keys: a library error is about one of them, and names it in its message only."""
    properties = schema.get("properties", {})
    for key in schema["required"]:
        if key not in value:
            wanted = f"; expected {expected(properties[key])}" if key in properties else ""
            yield (*location, key), f"is missing{wanted}"


def _intended_branch(error: "ValidationError") -> "list[ValidationError]":
    """The errors of the only branch whose type matches the value; none if that is not clear."""
    branches: dict[Any, list[ValidationError]] = {}
    for nested in error.context or ():
        branches.setdefault(nested.schema_path[0], []).append(nested)
    intended = [
        errors
        for errors in branches.values()
        if not any(_of_type(error, nested) for nested in errors)
    ]
    return intended[0] if len(intended) == 1 else []


def _of_type(error: "ValidationError", nested: "ValidationError") -> bool:
    """Whether `nested` says that the value itself, not a part of it, has the wrong type."""
    return (
        nested.validator in ("type", "enum", "const")
        and nested.absolute_path == error.absolute_path
    )
