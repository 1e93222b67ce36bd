"""All-pairs testing: few rows that together hold every pair of values of different fields."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

Value = TypeVar("Value")


class _Absent:
    """The value of a field that is left out."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


def all_pairs(values: Mapping[str, Sequence[Value]]) -> list[dict[str, Value]]:
    """Rows with one value for each of two or more fields; equal values make equal rows."""
    from covertable import make  # it is in the extra `check`; whoever explains needs no rows

    # Rows of numbers: values need not be hashable, and no two of them are taken for one.
    rows = make([range(len(each)) for each in values.values()], strength=2)
    return [
        {name: values[name][number] for name, number in zip(values, row, strict=True)}
        for row in rows
    ]
