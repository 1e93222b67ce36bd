"""A dialect misread: the same answers but for one, for a collaborator that acts on what the dialect
does not say.
"""

from dataclasses import replace
from typing import Any, TypeVar

from hookproof.spec.dialect.model import Answer, Dialect

_Record = TypeVar("_Record")


def mistaken(dialect: Dialect, path: str, value: object) -> Dialect:
    """The dialect with another answer at a dotted path."""
    group, name = path.split(".")
    changed: dict[str, Any] = {group: otherwise(getattr(dialect, group), name, value)}
    return replace(dialect, **changed)


def otherwise(record: _Record, name: str, value: object) -> _Record:
    """A group of a dialect with another answer for one of its fields."""
    answer = Answer((value,)) if isinstance(getattr(record, name), Answer) else value
    return replace(record, **{name: answer})  # type: ignore[type-var]
