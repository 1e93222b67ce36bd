"""What two dialects answer differently."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hookproof.spec.described_fields import DescribedField, answer_at, described_fields
from hookproof.spec.dialect.file_schema import UNDECIDED

# In place of the answer of a dialect that another version wrote.
NOT_ASKED: Final = "(no such question in its version)"


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferingField:
    """A field and its two answers, written as in a file."""

    field: DescribedField
    first: Any
    second: Any


def differing_fields(
    first: Mapping[str, Any], second: Mapping[str, Any]
) -> Iterator[DifferingField]:
    """The gaps that two written dialects answer differently, in the order of a dialect file.

    Names and summaries are not compared, and neither are the reasons of undecided answers.
    """
    for field in described_fields():
        values = [_answer(answers, field.name) for answers in (first, second)]
        if field.gap is not None and _meaning(field, values[0]) != _meaning(field, values[1]):
            yield DifferingField(field=field, first=values[0], second=values[1])


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


def _answer(answers: Mapping[str, Any], name: str) -> Any:
    try:
        return answer_at(answers, name)
    except (KeyError, TypeError):
        return NOT_ASKED


def _meaning(field: DescribedField, answer: Any) -> Any:
    is_undecided = field.several and isinstance(answer, dict) and UNDECIDED in answer
    return (UNDECIDED,) if is_undecided else (type(answer), answer)
