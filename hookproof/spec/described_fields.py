"""Every field of a dialect with its question, its words and its default, grouped by subject.

All of it is derived: the groups and what they accept from the classes in `dialect/model.py`, the
questions from `gaps.yaml`, the defaults from the shipped dialects.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from hookproof.spec.catalogue import LABELS, Gap, load_catalogue
from hookproof.spec.dialect.file_schema import Schema, dialect_writing
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.dialect.writer import written_dialect
from hookproof.spec.strict_yaml.schema_wording import wanted

# The dialect that those of services extend, and the one of the reference server.
EXTENDED: Final = "undecided"
REFERENCE: Final = "reference"


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedField:
    """A field under its dotted name, which answers `gap`; a label such as `name` answers none.

    `expected` says what it accepts, `words` is its closed list of words, empty if it has none.
    `several` says whether `one_of` and `undecided` are accepted too, `required` whether a file that
    extends no other needs the field. `default` and `reference` are the answers of the dialects of
    these names, as a file has them; a label is never inherited, and has neither.
    """

    name: str
    description: str
    gap: Gap | None
    expected: str
    words: tuple[str, ...]
    several: bool
    required: bool
    default: Any
    reference: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldGroup:
    """The fields about one subject; the group of the fields at the top of a file has no name."""

    name: str
    description: str
    fields: tuple[DescribedField, ...]


@cache
def field_groups() -> tuple[FieldGroup, ...]:
    """All fields in their groups, in the order in which a dialect file has them."""
    return tuple(_groups(dialect_writing().schema, "", "the dialect itself"))


def described_fields() -> Iterator[DescribedField]:
    """All fields, in the order of their groups."""
    for group in field_groups():
        yield from group.fields


def answer_at(answers: Mapping[str, Any], name: str) -> Any:
    """The answer with a dotted name in a written dialect; raises KeyError."""
    value: Any = answers
    for step in name.split("."):
        value = value[step]
    return value


def _groups(schema: Schema, name: str, description: str) -> Iterator[FieldGroup]:
    """The group that a schema describes, if it has fields of its own, and those within it."""
    inner = {key: value for key, value in schema["properties"].items() if "required" in value}
    prefix = f"{name}." if name else ""
    own = tuple(
        _field(f"{prefix}{key}", value, required=key in schema["required"])
        for key, value in schema["properties"].items()
        if key not in inner
    )
    if own:
        yield FieldGroup(name=name, description=description, fields=own)
    for key, value in inner.items():
        yield from _groups(value, f"{prefix}{key}", value["description"])


def _field(name: str, schema: Schema, *, required: bool) -> DescribedField:
    several = "else" in schema
    value = schema["else"] if several else schema
    return DescribedField(
        name=name,
        description=schema["description"],
        gap=_gaps_by_field().get(name),
        expected=_expected(value),
        words=tuple(word for word in value.get("enum", ()) if isinstance(word, str)),
        several=several,
        required=required,
        default=None if name in LABELS else answer_at(_answers(EXTENDED), name),
        reference=None if name in LABELS else answer_at(_answers(REFERENCE), name),
    )


def _expected(schema: Schema) -> str:
    """What a value of a field is, or each item of a list or mapping, in words."""
    parts = [wanted(schema), *(wanted(further) for further in schema.get("allOf", ()))]
    for keyword, name in (("items", "item"), ("additionalProperties", "value")):
        if keyword in schema:
            parts.append(f"each {name} is {wanted(schema[keyword])}")
    return "; ".join(parts)


@cache
def _gaps_by_field() -> Mapping[str, Gap]:
    return {name: gap for gap in load_catalogue().gaps.values() for name in gap.dialect}


@cache
def _answers(dialect: str) -> Mapping[str, Any]:
    return written_dialect(load_dialect(dialect))
