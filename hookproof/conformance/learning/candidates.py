"""The answers that are tried where a question has no closed list of them."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.answers import answers_of
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect, shipped_dialects

FILE: Final = Path(__file__).with_name("candidates.yaml")


def candidates(field: str, extended: Dialect) -> tuple[Any, ...]:
    """The values to try for a field: those of the extended dialect, the usual ones, and those of
    the shipped dialects. A field that holds several words has each of them tried.
    """
    values = [*_values(extended, field), *_usual()[field]]
    for name in shipped_dialects():
        values += _values(_shipped(name), field)
    return tuple(dict.fromkeys(values))


def units(extended: Dialect) -> Mapping[str, str]:
    """The words to try for expiry_time_unit, each with the unit that it stands for."""
    known: dict[str, str] = dict(_usual()["words.oauth2_expiry_units"])
    for dialect in (*map(_shipped, shipped_dialects()), extended):
        known |= {word: unit.value for word, unit in dialect.words.oauth2_expiry_units.items()}
    return known


@cache
def _usual() -> Mapping[str, Any]:
    content: Mapping[str, Any] = yaml.safe_load(FILE.read_text("utf-8"))
    return content


@cache
def _shipped(name: str) -> Dialect:
    return load_dialect(name)


def _values(dialect: Dialect, field: str) -> list[Any]:
    answer = next(value for name, value in answers_of(dialect) if name == field)
    if isinstance(answer, Answer):
        return list(answer.allowed)
    return list(answer) if isinstance(answer, tuple | Mapping) else [answer]
