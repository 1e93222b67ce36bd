"""Identifiers that no resource has, of the form of one that is known (sections 2.9, 4.2 to 4.6).

    unknown_identifier("pl_000200", random)                             # pl_999999
    unknown_identifier("200", random)                                   # 999999999
    unknown_identifier("01ARZ3NDEKTSV4RRFFQ69G5FAV", random)            # 01ARZ3NDEKTSV8C2E5B40D71FA

To change a character of a known one is not enough: where identifiers are counted, that is another
resource of the same project.
"""

import re
from collections.abc import Collection
from random import Random
from typing import Final

# A number, perhaps behind a word that all identifiers of the kind have.
COUNTED: Final = re.compile(
    r"(?P<word>[A-Za-z]{1,12}[_:.-]?|[A-Za-z_:.-]*[_:.-])?(?P<number>[0-9]+)"
)
# What the types of integers hold that services keep numbers in.
LARGEST: Final = (2**31 - 1, 2**53 - 1, 2**63 - 1)
# In digits. A shorter number that is not filled up with zeros may grow to this.
SHORT: Final = 9
# In characters. The last ones of a long text are drawn: as many as the last group of a UUID has, so
# that what says its version stays.
LEAST_DRAWN, DRAWN = 10, 12
SEPARATORS: Final = re.compile(r"[_:./]")
HEXADECIMAL: Final = re.compile(r"[0-9a-f-]+|[0-9A-F-]+")
# Of each class of characters those that hexadecimal numbers, base 32 and base 64 all have.
ALPHABETS: Final = {"0": "0123456789", "a": "abcdef", "A": "ABCDEF"}
LAST: Final = {"0": "9", "a": "z", "A": "Z"}


def unknown_identifier(known: str, random: Random, seen: Collection[str] = ()) -> str:
    """An identifier of the same form that no resource has, and none of those that were `seen`.

    Where resources are counted it is beyond the largest by far; elsewhere its end is drawn.
    """
    taken = {*seen, known}
    for _ in range(len(taken) + 1):
        counted = COUNTED.fullmatch(known)
        made = _beyond(counted, taken) if counted else _drawn(known, random)
        if made not in taken:
            return made
    return f"{known}-{random.getrandbits(40):010x}"  # of a form in which there is room for no more


def _beyond(counted: re.Match[str], taken: Collection[str]) -> str:
    """The largest number of as many digits, or of more where short ones are not filled up."""
    word, digits = counted["word"] or "", counted["number"]
    is_filled = digits.startswith("0") and len(digits) > 1
    length = len(digits) if is_filled else max(SHORT, len(digits))
    largest = 10**length - 1
    for held in LARGEST:
        if len(str(held)) == length and int(digits) <= held:
            largest = held
            break
    while (made := f"{word}{largest:0{length}d}") in taken:
        largest -= 1
    return made


def _drawn(known: str, random: Random) -> str:
    """With other characters of the same classes at its end; a short one has the last of each."""
    start = max((match.end() for match in SEPARATORS.finditer(known)), default=0)
    tail = known[start:]
    if len(tail) < LEAST_DRAWN:
        last = {name: each[-1] for name, each in ALPHABETS.items()}
        letters = last if HEXADECIMAL.fullmatch(tail) else LAST
        return known[:start] + "".join(letters.get(_class(each), each) for each in tail)
    kept = max(start, len(known) - DRAWN)
    return known[:kept] + "".join(
        random.choice(ALPHABETS.get(_class(each), each)) for each in known[kept:]
    )


def _class(character: str) -> str:
    """The first character of its class; empty for what is no letter and no digit of ASCII."""
    if not character.isascii() or not character.isalnum():
        return ""
    return "0" if character.isdigit() else "a" if character.islower() else "A"
