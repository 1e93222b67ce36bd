"""A dialect as the text of a YAML file, in which a comment explains each field."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hookproof.spec.described_fields import FieldGroup, answer_at, field_groups
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.writer import answer_text, written_dialect

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
