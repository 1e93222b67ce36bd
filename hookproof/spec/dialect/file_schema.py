"""How each type of a dialect's fields is written in a file: its JSON Schema, and its reader.

Both are derived from the dataclass `Dialect`, so that a field is defined in one place. A
field typed `Answer` accepts a value, `{one_of: [...]}` with the preferred value first, or
`{undecided: why}`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.constraints import Placeholder, Range, Shape
from hookproof.spec.dialect.model import Dialect

Schema = dict[str, Any]

ONE_OF: Final = "one_of"
UNDECIDED: Final = "undecided"
ASSUMED: Final = "assumed"
# What a dialect says about itself, and answers nothing that can be seen.
LABELS: Final = ("name", "summary", "policy", ASSUMED)

_SCALARS: Final[Mapping[Any, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """How a type is written in a file: its schema, and the function that reads it."""

    schema: Schema
    read: Callable[[Any], Any]


@cache
def dialect_writing() -> Writing:
    """How a whole dialect is written."""
    writing = writing_of(Dialect)
    writing.schema["properties"][ASSUMED]["items"] = {
        "enum": [name for name in field_names(writing.schema) if name not in LABELS],
        "x-expected": "the name of a field, such as retry.attempts",
    }
    return writing


def field_names(schema: Schema, written: object = None, group: str = "") -> Iterator[str]:
    """The dotted names of the fields of a group, or of those that are `written` in a file."""
    for name, value in schema["properties"].items():
        inner = written.get(name) if isinstance(written, dict) else None
        if isinstance(written, dict) and name not in written:
            continue
        if "required" in value:
            yield from field_names(value, inner, f"{group}{name}.")
        else:
            yield f"{group}{name}"


def writing_of(annotation: Any) -> Writing:
    """How the type of a field is written; raises TypeError if no file can express it."""
    generic = _GENERICS.get(get_origin(annotation))
    if generic is not None:
        return generic(*get_args(annotation))
    if is_dataclass(annotation):
        return _record(annotation)
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return Writing(schema={"enum": [member.value for member in annotation]}, read=annotation)
    if annotation in _SCALARS:
        return Writing(schema={"type": _SCALARS[annotation]}, read=annotation)
    raise TypeError(f"a dialect file cannot express {annotation}")


def _record(kind: Any) -> Writing:
    writings = {
        name: writing_of(hint)
        for name, hint in get_type_hints(kind, include_extras=True).items()
        if name in {field.name for field in fields(kind)}
    }
    schema = {
        "type": "object",
        "properties": {name: writing.schema for name, writing in writings.items()},
        "required": [
            field.name
            for field in fields(kind)
            if field.default is MISSING and field.default_factory is MISSING
        ],
        "additionalProperties": False,
    }
    return Writing(
        schema=schema,
        read=lambda value: kind(**{name: writings[name].read(value[name]) for name in value}),
    )


def _annotated(annotation: Any, description: str, *constraints: object) -> Writing:
    writing = writing_of(annotation)
    for constraint in constraints:
        _constrain(writing.schema, constraint)
    if "else" in writing.schema:
        writing.schema["else"]["description"] = description
    return Writing(schema={**writing.schema, "description": description}, read=writing.read)


def _constrain(schema: Schema, constraint: object) -> None:
    """Add a constraint to a schema in place; it applies inside an answer, a list or a mapping."""
    if "else" in schema:
        _constrain(schema["else"], constraint)
        _constrain(schema["then"]["properties"][ONE_OF]["items"], constraint)
    elif "items" in schema:
        _constrain(schema["items"], constraint)
    elif schema.get("additionalProperties"):
        _constrain(schema["additionalProperties"], constraint)
    elif isinstance(constraint, Range):
        bounds = {"minimum": constraint.minimum, "maximum": constraint.maximum}
        schema.update({keyword: bound for keyword, bound in bounds.items() if bound is not None})
    elif isinstance(constraint, Placeholder):
        placeholder = f"{{{constraint.name}}}"
        schema.setdefault("allOf", []).append(
            {"pattern": re.escape(placeholder), "x-expected": f"a text with {placeholder} in it"}
        )
    elif isinstance(constraint, Shape):
        null = " or null" if "null" in schema["type"] else ""
        schema.update({"pattern": constraint.pattern, "x-expected": f"{constraint.words}{null}"})
    else:
        raise TypeError(f"a dialect file cannot express {constraint}")


def _answer(kind: Any) -> Writing:
    value = writing_of(kind)
    several = {
        "type": "object",
        "properties": {
            ONE_OF: {
                "type": "array",
                "items": dict(value.schema),
                "minItems": 1,
                "uniqueItems": True,
            },
            UNDECIDED: {"type": "string", "minLength": 1, "x-expected": "the reason, in words"},
        },
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
        "x-expected": f"a value, {{{ONE_OF}: [...]}} or {{{UNDECIDED}: why}}",
    }
    return Writing(
        schema={
            "if": {"type": "object"},
            "then": several,
            "else": {**value.schema, "x-several": ONE_OF},
        },
        read=lambda written: _read_answer(written, value.read),
    )


def _read_answer(written: Any, read: Callable[[Any], Any]) -> Answer[Any]:
    if not isinstance(written, dict):
        return Answer((read(written),))
    if UNDECIDED in written:
        return Answer((), written[UNDECIDED])
    return Answer(tuple(read(value) for value in written[ONE_OF]))


def _optional(kind: Any, _none: Any) -> Writing:
    writing = writing_of(kind)
    schema = {**writing.schema, "type": [writing.schema["type"], "null"]}
    return Writing(schema=schema, read=lambda value: None if value is None else writing.read(value))


def _list(kind: Any, _ellipsis: Any) -> Writing:
    item = writing_of(kind)
    schema = {"type": "array", "items": item.schema, "uniqueItems": True}
    return Writing(schema=schema, read=lambda values: tuple(item.read(value) for value in values))


def _mapping(_key: Any, kind: Any) -> Writing:
    if kind is object:
        return Writing(schema={"type": "object"}, read=dict)
    value = writing_of(kind)
    schema = {"type": "object", "additionalProperties": value.schema}
    return Writing(
        schema=schema, read=lambda values: {key: value.read(item) for key, item in values.items()}
    )


# The writer for each generic type, called with the arguments of the type.
_GENERICS: Final[Mapping[Any, Callable[..., Writing]]] = {
    Annotated: _annotated,
    Answer: _answer,
    UnionType: _optional,
    tuple: _list,
    Mapping: _mapping,
}
