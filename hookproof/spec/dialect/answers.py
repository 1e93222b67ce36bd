"""The answers of a dialect by their dotted names, and which of them may stay open."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import islice, product
from typing import Any, Final

from hookproof.spec.dialect.answer import NOT_ASKED, Answer, Undecided
from hookproof.spec.dialect.file_schema import ASSUMED
from hookproof.spec.dialect.model import Dialect


def _not_asked(group: Any, prefix: str = "") -> Iterator[str]:
    """The dotted names of the answers that a file need not have."""
    for field in fields(group):
        kind = getattr(field.type, "__origin__", None)  # of its Annotated
        if field.default is NOT_ASKED:
            yield f"{prefix}{field.name}"
        elif is_dataclass(kind):
            yield from _not_asked(kind, f"{prefix}{field.name}.")


# The gaps that a server may leave open: they are about what it sends besides deliveries, or younger
# than the format of the files.
MAY_STAY_UNDECIDED: Final = frozenset(
    {"delivery.notify_on", "delivery.own_events", *_not_asked(Dialect)}
)

# How many ways to understand a dialect are tried before a requirement counts as violated.
MOST_READINGS: Final = 64

# How many missing answers a message names; a dialect may leave all of them open.
MOST_NAMED: Final = 10


def answers_of(dialect: Dialect) -> Iterator[tuple[str, object]]:
    """Every answer under its dotted name, such as `retry.attempts`, in the order of the classes."""
    yield from (pair for pair in _answers(dialect, "") if pair[0] != ASSUMED)


def undecided_fields(dialect: Dialect) -> tuple[str, ...]:
    """The dotted names of the answers that a dialect leaves undecided."""
    return tuple(
        name
        for name, answer in answers_of(dialect)
        if isinstance(answer, Answer) and not answer.decided
    )


def readings(dialect: Dialect, ambiguous: Collection[int]) -> Iterator[Dialect]:
    """The dialect with another value preferred in one or more of its answers, at most MOST_READINGS
    times.

    `ambiguous` holds the `id` of each of these answers; all of them allow several values.
    """
    if not ambiguous:
        return
    orders = [
        [(name, Answer((value, *answer.allowed))) for value in answer.allowed]
        for name, answer in answers_of(dialect)
        if isinstance(answer, Answer) and id(answer) in ambiguous
    ]
    for choice in islice(product(*orders), 1, MOST_READINGS + 1):
        reading = dialect
        for name, answer in choice:
            reading = with_answer(reading, name.split("."), answer)
        yield reading


def require_decided(dialect: Dialect, except_for: Collection[str] = MAY_STAY_UNDECIDED) -> None:
    """Raise Undecided, with the first names, if a dialect leaves an answer open that a server
    needs.
    """
    missing = needed_fields(dialect, except_for)
    if missing:
        raise Undecided(
            f"the dialect {dialect.name} cannot be acted on, since it leaves undecided:"
            f" {first_of(missing)}; give each of them a value"
        )


def needed_fields(
    dialect: Dialect, except_for: Collection[str] = MAY_STAY_UNDECIDED
) -> tuple[str, ...]:
    """The answers that a dialect leaves undecided, and without which a server cannot act."""
    return tuple(name for name in undecided_fields(dialect) if name not in except_for)


def first_of(names: Sequence[str]) -> str:
    """The first of some names of fields, and how many more there are, for one line."""
    others = len(names) - MOST_NAMED
    return f"{', '.join(names[:MOST_NAMED])}{f' and {others} more' if others > 0 else ''}"


def with_answer(record: Any, path: Sequence[str], answer: object) -> Any:
    """A copy of a group of answers in which one has another value."""
    first, *rest = path
    value = with_answer(getattr(record, first), rest, answer) if rest else answer
    return replace(record, **{first: value})


def _answers(record: object, prefix: str) -> Iterator[tuple[str, object]]:
    for field in fields(record) if is_dataclass(record) else ():
        value = getattr(record, field.name)
        if is_dataclass(value) and not isinstance(value, Answer):
            yield from _answers(value, f"{prefix}{field.name}.")
        else:
            yield f"{prefix}{field.name}", value
