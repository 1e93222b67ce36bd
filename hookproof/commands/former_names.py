"""The former names of commands, which still work in this release, and are shown nowhere."""

from collections.abc import Mapping, Sequence
from typing import Final

# The words that a call begins with, and those that stand in their place today.
FORMER_NAMES: Final[Mapping[tuple[str, ...], tuple[str, ...]]] = {
    ("list",): ("explain", "--brief"),
    ("trend",): ("compare", "--over-time"),
    ("matrix",): ("compare", "--page"),
    ("load", "compare"): ("compare",),
    ("pack",): ("report", "--format", "pack"),
    ("unpack",): ("report", "--format", "files"),
    ("dialect", "check"): ("validate", "--as", "dialect"),
    ("target", "check"): ("validate", "--as", "target"),
    ("target",): ("validate",),
}


def former_name(words: Sequence[str]) -> tuple[str, ...] | None:
    """The former name that a call begins with, None if it begins with none."""
    return next((name for name in FORMER_NAMES if tuple(words[: len(name)]) == name), None)
