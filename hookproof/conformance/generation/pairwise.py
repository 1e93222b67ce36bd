"""All-pairs testing: few rows that together hold every pair of values of different fields."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from allpairspy import AllPairs

Value = TypeVar("Value")


class _Absent:
    """The value of a field that is left out."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


def all_pairs(values: Mapping[str, Sequence[Value]]) -> list[dict[str, Value]]:
    """Rows with one value for each of two or more fields; equal values make equal rows."""
    return [dict(zip(values, row, strict=True)) for row in AllPairs([*values.values()])]
