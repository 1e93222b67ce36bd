"""All-pairs testing: few rows that together hold every pair of values of different fields."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final, TypeVar

Value = TypeVar("Value")

# A field and the place of one of its values.
Choice = tuple[str, int]


class _Absent:
    """The value of a field that is left out."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


def all_pairs(values: Mapping[str, Sequence[Value]]) -> list[dict[str, Value]]:
    """Rows with one value for each field, chosen greedily and deterministically."""
    choices_of = {
        name: [(name, place) for place in range(len(choices))] for name, choices in values.items()
    }
    uncovered = {
        frozenset((choice, other))
        for first, second in combinations(values, 2)
        for choice in choices_of[first]
        for other in choices_of[second]
    }
    rows: list[dict[str, Value]] = []
    while uncovered:
        row = _row(choices_of, uncovered)
        uncovered.difference_update(frozenset(pair) for pair in combinations(row, 2))
        chosen = dict(row)
        rows.append({name: values[name][chosen[name]] for name in values})
    return rows


def _row(
    choices_of: Mapping[str, Sequence[Choice]], uncovered: set[frozenset[Choice]]
) -> list[Choice]:
    """Begin with the smallest uncovered pair; for each field add the value that covers most."""
    row = sorted(min(uncovered, key=sorted))
    for name in choices_of:
        if name not in dict(row):
            row.append(max(choices_of[name], key=lambda choice: _covered(choice, row, uncovered)))
    return row


def _covered(choice: Choice, row: Sequence[Choice], uncovered: set[frozenset[Choice]]) -> int:
    return sum(frozenset((choice, other)) in uncovered for other in row)
