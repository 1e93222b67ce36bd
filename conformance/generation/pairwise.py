"""All pairs: few rows in which every two values of different fields stand together at least once."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final, TypeVar

T = TypeVar("T")

# A field and the place of one of its values.
Choice = tuple[str, int]


class _Absent:
    """The value of a field that is left out."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


def all_pairs(values: Mapping[str, Sequence[T]]) -> list[dict[str, T]]:
    """Rows with one value for each field, greedily chosen; the same for the same values in the same
    order.
    """
    every = {name: [(name, place) for place in range(len(given))] for name, given in values.items()}
    left = {
        frozenset((one, other))
        for first, second in combinations(values, 2)
        for one in every[first]
        for other in every[second]
    }
    rows: list[dict[str, T]] = []
    while left:
        row = _row(every, left)
        left.difference_update(frozenset(pair) for pair in combinations(row, 2))
        chosen = dict(row)
        rows.append({name: values[name][chosen[name]] for name in values})
    return rows


def _row(every: Mapping[str, Sequence[Choice]], left: set[frozenset[Choice]]) -> list[Choice]:
    """Begin with the smallest pair that is left, then take for each field the value that covers
    most.
    """
    row = sorted(min(left, key=sorted))
    for name in every:
        if name not in dict(row):
            row.append(max(every[name], key=lambda choice: _covered(choice, row, left)))
    return row


def _covered(choice: Choice, row: Sequence[Choice], left: set[frozenset[Choice]]) -> int:
    return sum(frozenset((choice, other)) in left for other in row)
