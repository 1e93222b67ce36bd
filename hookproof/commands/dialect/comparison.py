"""What two dialects answer differently."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hookproof.commands.dialect.text import answer_text
from hookproof.spec.described_fields import DescribedField, answer_at, described_fields
from hookproof.spec.dialect.file_schema import UNDECIDED
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.writer import written_dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferingField:
    """A field and its two answers, written as in a file."""

    field: DescribedField
    first: Any
    second: Any


def differing_fields(first: Dialect, second: Dialect) -> Iterator[DifferingField]:
    """The gaps that two dialects answer differently, in the order of a dialect file.

    Names and summaries are not compared, and neither are the reasons of undecided answers.
    """
    answers = [written_dialect(dialect) for dialect in (first, second)]
    for field in described_fields():
        values = [answer_at(written, field.name) for written in answers]
        if field.gap is not None and _meaning(field, values[0]) != _meaning(field, values[1]):
            yield DifferingField(field=field, first=values[0], second=values[1])


def difference_lines(difference: DifferingField, first: str, second: str) -> Iterator[str]:
    """A difference for people; `first` and `second` name the dialects."""
    width = max(len(first), len(second))
    yield difference.field.name
    yield f"  {first:<{width}}  {answer_text(difference.first)}"
    yield f"  {second:<{width}}  {answer_text(difference.second)}"


def difference_json(difference: DifferingField) -> dict[str, Any]:
    gap = difference.field.gap
    assert gap is not None
    return {
        "name": difference.field.name,
        "section": gap.section,
        "question": gap.question,
        "first": difference.first,
        "second": difference.second,
    }


def _meaning(field: DescribedField, answer: Any) -> Any:
    is_undecided = field.several and isinstance(answer, dict) and UNDECIDED in answer
    return (UNDECIDED,) if is_undecided else (type(answer), answer)
