"""Answers that are only assumed: they serve to act, and never to judge.

An answer of a dialect has one of three degrees. It is known if its owner gave it or it was seen,
open if it is undecided, and assumed if it was filled in so that anything can be sent: `assumed` of
a dialect names these. `without_assumed` is the dialect as far as it is known.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, Final, TypeVar

from hookproof.spec.dialect.answer import Answer, Undecided
from hookproof.spec.dialect.answers import answers_of, undecided_fields, with_answer
from hookproof.spec.dialect.file_schema import LABELS, Schema, dialect_writing
from hookproof.spec.dialect.model import Dialect

# Where these have a default and it stands, another field says all: `no_value` beside `no_value_of`.
NOTHING_ADDED: Final[tuple[Any, ...]] = ({}, (), [], False)

# Fields by which a contract restricts responses, and that restrict nothing where they are empty.
OF_CONTRACT: Final = ("representation.identifier_of", "representation.no_value_of")

# The attribute of a class whose fields cannot all be read that holds the one in which they can.
ACTED_ON: Final = "_acted_on"

Group = TypeVar("Group")

_read: Final[ContextVar[dict[str, None] | None]] = ContextVar("assumed_answers_read", default=None)


def assumable_fields(dialect: Dialect) -> tuple[str, ...]:
    """The answers of a dialect that it can be wrong to hold against a service."""
    return tuple(
        name
        for name, answer in answers_of(dialect)
        if name not in LABELS and not (isinstance(answer, Answer) and not answer.decided)
        if not adds_nothing(name, answer)
    )


def adds_nothing(name: str, answer: object) -> bool:
    """Whether a field, which a file need not have, leaves everything to another one."""
    return name in _optional_fields() and any(
        type(answer) is type(nothing) and answer == nothing for nothing in NOTHING_ADDED
    )


def wholly_assumed(dialect: Dialect) -> Dialect:
    """The dialect as it is used for a service of which nobody said that it answers so."""
    return replace(dialect, assumed=assumable_fields(dialect))


def is_wholly_assumed(dialect: Dialect) -> bool:
    return {*dialect.assumed} >= {*assumable_fields(dialect)}


def assumed_fields(dialect: Dialect) -> tuple[str, ...]:
    """The fields whose answers are only assumed; an undecided one is open."""
    undecided = undecided_fields(dialect)
    return tuple(name for name in dialect.assumed if name not in undecided)


def without_assumed(dialect: Dialect) -> Dialect:
    """The dialect in which each assumed answer is undecided, or raises Undecided when it is read if
    its field must have a value. `noted_assumptions` notes the names of both.
    """
    known = opened(dialect)
    names = {name for name in assumed_fields(dialect) if not _is_answer(dialect, name)}
    unread: Dialect = _with_unread(known, names)
    return unread


def opened(dialect: Dialect, reset: Collection[str] = ()) -> Dialect:
    """The dialect in which each assumed answer that may stay open does, and those that are to be
    `reset` are empty; others keep their value.
    """
    for name in assumed_fields(dialect):
        if _is_answer(dialect, name):
            dialect = with_answer(dialect, name.split("."), _Assumed((), reason=name))
        elif name in reset:
            dialect = with_answer(dialect, name.split("."), {})
    return dialect


def as_acted_on(group: Group) -> Group:
    """A group of answers as the service was asked by them, known or not."""
    kind = getattr(type(group), ACTED_ON, None)
    if kind is None:
        return group
    values = {field.name: object.__getattribute__(group, field.name) for field in fields(kind)}
    acted_on: Group = kind(**values)
    return acted_on


@contextmanager
def noted_assumptions() -> Iterator[dict[str, None]]:
    """Note the names of the assumed answers that are missed, in the order in which they are."""
    noted: dict[str, None] = {}
    token = _read.set(noted)
    try:
        yield noted
    finally:
        _read.reset(token)


class _Assumed(Answer[Any]):
    """An assumed answer in place of which there is none; its reason is the field's name."""

    __slots__ = ()

    @property
    def decided(self) -> bool:
        _note(self.reason)
        return False

    @property
    def value(self) -> Any:
        _note(self.reason)
        raise Undecided(self.reason)

    def prefers(self, value: object) -> bool:
        _note(self.reason)
        return False

    def allows(self, actual: object) -> bool:
        _note(self.reason)
        return True


def _note(name: str) -> None:
    noted = _read.get()
    if noted is not None:
        noted[name] = None


def _with_unread(group: Any, names: set[str], prefix: str = "") -> Any:
    """A copy of a group in which the fields of these names cannot be read."""
    inner: dict[str, Any] = {
        field.name: _with_unread(value, names, f"{prefix}{field.name}.")
        for field in fields(group)
        if is_dataclass(value := getattr(group, field.name)) and not isinstance(value, Answer)
    }
    group = replace(group, **inner) if inner else group
    own = frozenset(name for name in (f.name for f in fields(group)) if f"{prefix}{name}" in names)
    if not own:
        return group
    values = {field.name: getattr(group, field.name) for field in fields(group)}
    unread = _unread_kind(type(group), own, prefix)  # type: ignore[arg-type]
    return unread(**values)


@cache
def _unread_kind(kind: type[Any], names: frozenset[str], prefix: str) -> Any:
    """A class of groups, like another one, in which these fields cannot be read."""

    def read(group: object, name: str) -> Any:
        if name in names:
            _note(f"{prefix}{name}")
            raise Undecided(f"{prefix}{name} is assumed")
        return object.__getattribute__(group, name)

    members = {"__slots__": (), "__getattribute__": read, ACTED_ON: kind}
    return type(kind.__name__, (kind,), members)


@cache
def _optional_fields() -> frozenset[str]:
    """The fields that a file which extends no other need not have."""

    def optional(schema: Schema, group: str) -> Iterator[str]:
        for name, value in schema["properties"].items():
            if "required" in value:
                yield from optional(value, f"{group}{name}.")
            elif name not in schema["required"]:
                yield f"{group}{name}"

    return frozenset(optional(dialect_writing().schema, ""))


def _is_answer(dialect: Dialect, name: str) -> bool:
    return any(isinstance(answer, Answer) for each, answer in answers_of(dialect) if each == name)
