"""What JavaScript may have been given, by what it made of it: a search among few candidates.

When it parses a body and writes it again, numbers lose the zeros at their ends, whole ones beyond
2^53 are rounded, and keys that look like whole numbers come first. What was there is lost, but
Content-Length says how many characters are missing, so that few ways are left.
"""

import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import combinations, islice, permutations, product
from typing import Final

from hookproof.receiver.signatures.diagnosis.deviation import Aspect, Deviation, Variant
from hookproof.receiver.signatures.diagnosis.json_text import JsonText

MOST_FORMS: Final = 400
# In characters, of all forms together.
MOST_WRITTEN: Final = 512 * 1024
# JavaScript reads larger whole numbers with another value; from 22 digits on with an exponent.
LARGEST_EXACT: Final = 2**53
LARGE_NUMBER: Final = re.compile("[1-9][0-9]{15,19}")
MOST_TRIED: Final = 4000
NUMBER: Final = re.compile(r"-?[0-9.]+")
MOST_KEYS: Final = 4
MOST_NUMBERS: Final = 24
# What the end of a number may have lost; of a whole one with the point.
WHOLE_ENDS: Final = (".0", ".00")
FRACTION_ENDS: Final = ("0", "00")
INTEGER_KEY: Final = re.compile('"(0|[1-9][0-9]{0,9})"')


def read_by_javascript(text: JsonText, length: int | None) -> Iterator[Variant[bytes]]:
    """Bodies that JSON.parse and JSON.stringify make this one of; `length` is that of the body."""
    if text.layout is None:
        return
    missing = None if length is None else length - len(text.text.encode())
    most = min(MOST_FORMS, 1 + MOST_WRITTEN // len(text.text))
    orders = islice(_orders(text.pieces), most)
    numbers = islice(_longer_numbers(text.pieces, missing), most)
    for (pieces, moved), (respelled, longer) in islice(product(orders, numbers), most):
        if not moved and not longer:
            continue
        what = " and ".join(filter(None, (moved, longer)))
        words = (
            f"signed the body with {what}, as it was before JavaScript parsed it and wrote it again"
        )
        ends = dict(respelled)
        written = text.layout.write([ends.get(index, piece) for index, piece in pieces])
        yield Variant(
            value=written.encode("utf-8", "surrogatepass"),
            deviations=(Deviation(aspect=Aspect.BODY, words=words),),
            rare=True,
        )


def _longer_numbers(
    pieces: Sequence[str], missing: int | None
) -> Iterator[tuple[tuple[tuple[int, str], ...], str]]:
    """Spellings of the numbers by the indices of their pieces, and what that says."""
    yield (), ""
    yield from _rounded_numbers(pieces)
    if missing is not None and not 0 < missing <= MOST_NUMBERS:
        return
    for chosen, added in islice(_lost_ends(pieces, missing), MOST_TRIED):
        if missing is None or sum(map(len, added)) == missing:
            spelled = tuple(
                (index, pieces[index] + end) for index, end in zip(chosen, added, strict=True)
            )
            shown = ", ".join(
                f"{text} where {pieces[index]} is here" for index, text in spelled[:3]
            )
            yield spelled, f"the number{'s' if len(chosen) > 1 else ''} {shown}"


def _rounded_numbers(
    pieces: Sequence[str],
) -> Iterator[tuple[tuple[tuple[int, str], ...], str]]:
    """What a number beyond 2^53 may have been: the whole numbers that are read as the same one."""
    for index, piece in enumerate(pieces):
        if is_rounded(piece):
            shown, span = int(piece), math.ceil(math.ulp(float(piece)))
            for number in sorted(
                range(shown - span, shown + span + 1), key=lambda n: abs(n - shown)
            ):
                if number != shown and float(number) == float(shown):
                    yield (
                        ((index, str(number)),),
                        f"the number {number} where {piece} is here, rounded as beyond 2^53",
                    )


def is_rounded(number: str) -> bool:
    """Whether JavaScript would write a whole number beyond 2^53 so, whatever it was."""
    return (
        LARGE_NUMBER.fullmatch(number) is not None
        and int(number) > LARGEST_EXACT
        and format(Decimal(repr(float(number))), "f").removesuffix(".0") == number
    )


def _lost_ends(
    pieces: Sequence[str], missing: int | None
) -> Iterator[tuple[tuple[int, ...], tuple[str, ...]]]:
    """Which numbers may have lost which ends, by the indices of their pieces; few of them first."""
    numbers = [index for index, piece in enumerate(pieces) if NUMBER.fullmatch(piece)]
    for count in range(1, min(len(numbers), missing or 1) + 1):
        for chosen in combinations(numbers[:MOST_NUMBERS], count):
            ends = (FRACTION_ENDS if "." in pieces[index] else WHOLE_ENDS for index in chosen)
            for added in product(*ends):
                yield chosen, added


def _orders(pieces: Sequence[str]) -> Iterator[tuple[list[tuple[int, str]], str]]:
    """The pieces with their indices, in the orders that the keys of an object may have had."""
    numbered = list(enumerate(pieces))
    yield numbered, ""
    for start, members in _objects(pieces):
        integers = [each for each in members if INTEGER_KEY.fullmatch(pieces[each[0]])]
        others = [each for each in members if each not in integers]
        if not 0 < len(integers) <= MOST_KEYS or not others:
            continue
        for order in _merged(integers, others):
            if order == members:
                continue
            inside = [
                numbered[index]
                for position, (first, last) in enumerate(order)
                for index in ((members[0][1],) if position else ()) + tuple(range(first, last))
            ]
            end = members[-1][1]
            yield (
                [*numbered[:start], *inside, *numbered[end:]],
                "its keys that look like whole numbers elsewhere than first",
            )


def _merged(
    integers: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]
) -> Iterator[list[tuple[int, int]]]:
    """All orders in which `others` keep theirs; those with the integers together come first."""
    for integer_order in permutations(integers):
        for place in range(len(others), -1, -1):
            yield [*others[:place], *integer_order, *others[place:]]
    total = len(integers) + len(others)
    for places in combinations(range(total), len(integers)):
        for integer_order in permutations(integers):
            at = dict(zip(places, integer_order, strict=True))
            rest = iter(others)
            yield [at[index] if index in at else next(rest) for index in range(total)]


def _objects(pieces: Sequence[str]) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Each object with members: where its first begins, and the spans of all in pieces."""
    stack: list[tuple[str, int, list[tuple[int, int]]]] = []
    for index, piece in enumerate(pieces):
        if piece in "{[":
            stack.append((piece, index + 1, []))
        elif piece in ",}]" and stack:
            kind, start, spans = stack.pop()
            if index > start:
                spans.append((start, index))
            if piece == ",":
                stack.append((kind, index + 1, spans))
            elif kind == "{" and spans:
                yield spans[0][0], spans
