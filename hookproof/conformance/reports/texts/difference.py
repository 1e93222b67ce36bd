"""What differs between two lines that are much alike: the smallest parts that are marked."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

# Words, numbers and single signs.
_TOKEN: Final = re.compile(r"\w+|\s+|.", re.DOTALL)
# Below this share of equal tokens, marks would tell no more than the two lines.
ALIKE: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a line, and whether it differs from the other line."""

    text: str
    differs: bool


def marked(expected: str, actual: str) -> tuple[list[Part], list[Part]]:
    """Both lines in parts; without any that differs where they are not alike."""
    wanted, found = (_TOKEN.findall(line) for line in (expected, actual))
    matcher = SequenceMatcher(None, wanted, found, autojunk=False)
    if matcher.ratio() < ALIKE:
        return [Part(text=expected, differs=False)], [Part(text=actual, differs=False)]
    codes = matcher.get_opcodes()
    one = [(kind != "equal", wanted[start:end]) for kind, start, end, _, _ in codes]
    other = [(kind != "equal", found[start:end]) for kind, _, _, start, end in codes]
    return list(_parts(one)), list(_parts(other))


def _parts(blocks: Sequence[tuple[bool, list[str]]]) -> Iterator[Part]:
    for differs, tokens in blocks:
        if tokens:
            yield Part(text="".join(tokens), differs=differs)


def marked_in(text: str, wrong: Iterable[str]) -> list[Part]:
    """A text in parts, of which those differ that are among these."""
    pattern = "|".join(map(re.escape, sorted(filter(None, wrong), key=len, reverse=True)))
    if not pattern:
        return [Part(text=text, differs=False)]
    pieces = re.split(f"({pattern})", text)
    return [Part(text=piece, differs=place % 2 == 1) for place, piece in enumerate(pieces) if piece]
