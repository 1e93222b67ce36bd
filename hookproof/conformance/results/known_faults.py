"""Which requirements one fault breaks at once, as recorded mutants of the reference server show.

A list that repeats its cursor's row breaks five requirements of each list: five findings, and one
cause. The recorded kills say so of each planted fault, so that no rule has to be written for it.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

RECORDED: Final = Path(__file__).parents[1] / "mutants" / "kill_matrix.json"

Requirements = frozenset[str]


@cache
def recorded_patterns() -> frozenset[Requirements]:
    """The requirements that a server with one fault was seen to break, under one dialect."""
    kills = json.loads(RECORDED.read_text(encoding="utf-8"))["kills"]
    return frozenset(
        frozenset(name for names in checks.values() for name in names)
        for by_dialect in kills.values()
        for checks in by_dialect.values()
    )


def rarity(requirement: str, patterns: Collection[Requirements]) -> int:
    """Of how many faults it tells: what few of them break tells more of the cause."""
    return sum(requirement in pattern for pattern in patterns)


def one_cause_each(
    broken: Requirements, held: Collection[str], patterns: Iterable[Requirements]
) -> Iterator[Requirements]:
    """Disjoint groups of at least two of the broken requirements, each broken by one known fault.

    A fault that breaks what holds here explains so much less, so that one that breaks all that is
    left, and nothing else, comes first.
    """
    left = set(broken)
    known = sorted(
        ((pattern & broken, len(pattern.intersection(held))) for pattern in patterns),
        key=lambda each: sorted(each[0]),
    )
    while known := [each for each in known if len(each[0] & left) > max(1, each[1])]:
        group, _ = max(known, key=lambda each: (len(each[0] & left) - each[1], -len(each[0])))
        yield group & left
        left -= group
