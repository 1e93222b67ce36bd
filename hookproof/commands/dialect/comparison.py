"""What two dialects answer differently, for people."""

from collections.abc import Iterator

from hookproof.spec.dialect.writer import answer_text
from hookproof.spec.differing_fields import DifferingField


def difference_lines(difference: DifferingField, first: str, second: str) -> Iterator[str]:
    """A difference for people; `first` and `second` name the dialects."""
    width = max(len(first), len(second))
    yield difference.field.name
    yield f"  {first:<{width}}  {answer_text(difference.first)}"
    yield f"  {second:<{width}}  {answer_text(difference.second)}"
