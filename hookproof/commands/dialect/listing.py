"""Dialects for people and as JSON: their fields, all answers of one, what differs between two."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from hookproof.process.terminal_text import counted
from hookproof.spec.described_fields import (
    DescribedField,
    FieldGroup,
    answer_at,
    described_fields,
    field_groups,
)
from hookproof.spec.dialect.file_schema import ONE_OF, UNDECIDED
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.writer import answer_text, written_dialect
from hookproof.spec.differing_fields import DifferingField
from hookproof.spec.strict_yaml.schema_wording import did_you_mean

# In columns.
WIDTH: Final = 80
LABELS_WIDTH: Final = 12


class UnknownSelector(Exception):
    """A selector chooses no field; as text: that, and the nearest name."""


def select_fields(selectors: Sequence[str]) -> tuple[FieldGroup, ...]:
    """The fields that one of the selectors chooses, all without one; raises UnknownSelector.

    A selector is the name of a field or a group, with wildcards, or a section of the document.
    """
    for selector in selectors:
        if not any(_chooses(selector, field) for field in described_fields()):
            raise UnknownSelector(f"{selector!r} is no field, group or section{_nearest(selector)}")
    chosen = [
        (group, [field for field in group.fields if _is_chosen(selectors, field)])
        for group in field_groups()
    ]
    return tuple(
        FieldGroup(name=group.name, description=group.description, fields=tuple(fields))
        for group, fields in chosen
        if fields
    )


def field_lines(groups: Sequence[FieldGroup]) -> Iterator[str]:
    """A heading for each group, and a block for each field."""
    for number, group in enumerate(groups):
        yield from [""] if number else []
        yield from _wrapped(f"{group.name}: {group.description}".removeprefix(": "), "")
        for field in group.fields:
            yield ""
            yield f"  {field.name}"
            for label, text in _members(field):
                yield from _wrapped(text, f"    {label:<{LABELS_WIDTH}}")
    yield ""
    yield counted(sum(len(group.fields) for group in groups), "field")


def field_json(field: DescribedField, group: FieldGroup) -> dict[str, Any]:
    """A field as JSON; a label has no section, question or default."""
    described = {
        "name": field.name,
        "group": group.name,
        "description": field.description,
        "expected": field.expected,
        "words": list(field.words),
        "several": field.several,
        "required": field.required,
    }
    if field.gap is None:
        return described
    return described | {
        "section": field.gap.section,
        "gap": field.gap.id,
        "question": field.gap.question,
        "default": field.default,
        "reference": field.reference,
    }


def _members(field: DescribedField) -> Iterator[tuple[str, str]]:
    if field.gap is not None:
        yield "question", f"{field.gap.question} (section {field.gap.section})"
    yield "meaning", field.description
    several = f"; or {{{ONE_OF}: [...]}}; or {{{UNDECIDED}: why}}" if field.several else ""
    yield "answer", f"{field.expected}{several}"
    if field.gap is None:
        yield "default", "none; each dialect has its own"
    else:
        yield "default", _defaults(field)


def _defaults(field: DescribedField) -> str:
    if isinstance(field.default, Mapping) and field.several:
        return f"undecided; the reference dialect says {answer_text(field.reference)}"
    return answer_text(field.default)


def _is_chosen(selectors: Sequence[str], field: DescribedField) -> bool:
    return not selectors or any(_chooses(selector, field) for selector in selectors)


def _chooses(selector: str, field: DescribedField) -> bool:
    """Whether a selector is the name of a field or of its last part, a group, or a section."""
    steps = field.name.split(".")
    around = [".".join(steps[:length]) for length in range(1, len(steps) + 1)]
    sections = [field.gap.section] if field.gap else []
    names = [*around, steps[-1], *sections]
    return any(fnmatchcase(name, selector) for name in names)


def _nearest(selector: str) -> str:
    fields = [field.name for field in described_fields()]
    last_parts = [name.rpartition(".")[-1] for name in fields]
    groups = [group.name for group in field_groups()]
    return did_you_mean(selector, [*fields, *last_parts, *groups])


def _wrapped(text: str, first: str) -> Iterator[str]:
    yield from textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=" " * len(first))


def difference_lines(difference: DifferingField, first: str, second: str) -> Iterator[str]:
    """A difference for people; `first` and `second` name the dialects."""
    width = max(len(first), len(second))
    yield difference.field.name
    yield f"  {first:<{width}}  {answer_text(difference.first)}"
    yield f"  {second:<{width}}  {answer_text(difference.second)}"


INDENT: Final = 2


def dialect_text(dialect: Dialect) -> str:
    """The text of a file with all answers of a dialect, inherited ones too."""
    answers = written_dialect(dialect)
    lines = [line for group in field_groups() for line in _group_lines(group, answers)]
    return "\n".join(lines) + "\n"


def _group_lines(group: FieldGroup, answers: Mapping[str, Any]) -> Iterator[str]:
    steps = group.name.split(".") if group.name else []
    indent = " " * INDENT * len(steps)
    if steps:
        yield ""
        yield from _opening_lines(steps, group.description, first=not _follows_sibling(group))
    for field in group.fields:
        yield f"{indent}# {field.description}"
        key = field.name.rpartition(".")[-1]
        yield f"{indent}{key}: {answer_text(answer_at(answers, field.name))}"


def _opening_lines(steps: list[str], description: str, *, first: bool) -> Iterator[str]:
    """The keys that lead to a group; those around it are written for the first one in them."""
    for depth, step in enumerate(steps):
        if depth == len(steps) - 1:
            yield f"{' ' * INDENT * depth}# {description}"
        if first or depth == len(steps) - 1:
            yield f"{' ' * INDENT * depth}{step}:"


def _follows_sibling(group: FieldGroup) -> bool:
    """Whether an earlier group stands within the same one."""
    around = group.name.rpartition(".")[0]
    siblings = [each.name for each in field_groups() if each.name.rpartition(".")[0] == around]
    return bool(around) and siblings[0] != group.name
