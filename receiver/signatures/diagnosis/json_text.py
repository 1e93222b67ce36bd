"""A body of JSON written anew in other ways: white space, order of keys, escapes, spelling of
numbers.

The text is taken apart into pieces, never into values, so that each way changes one thing and keeps
the rest: a form without white space still spells its numbers as they were sent.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Final

from hookproof.receiver.signatures.diagnosis.deviation import Aspect, Deviation, Variant
from hookproof.receiver.signatures.diagnosis.json_layouts import (
    CLOSING,
    ESCAPES,
    LAYOUTS,
    LIBRARIES,
    NUMBERS,
    OPENING,
    Layout,
    Spelling,
)

PIECE: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
# As how many deviations it counts that a body is written as some library does.
LIBRARIES_AT: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that is done to a text: another layout, sorted keys, or other spellings of pieces."""

    kind: str
    words: str
    layout: Layout | None = None
    spelled: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class JsonText:
    """The pieces of a JSON text, as sent and with sorted keys; `layout` None: it has white space of
    its own.
    """

    text: str
    pieces: list[str]
    sorted: list[str]
    layout: Layout | None

    @classmethod
    def parse(cls, body: bytes) -> "JsonText | None":
        """The text of a body, or None if that is no JSON, or nested too deep."""
        try:
            text = body.decode()
            json.loads(text, parse_int=str, parse_float=str)
            pieces = PIECE.findall(text)
            rest = iter(pieces)
            in_order = _sorted(next(rest), rest)
        except (ValueError, RecursionError):
            return None
        own = next((layout for layout in LAYOUTS if layout.write(pieces) == text), None)
        return cls(text=text, pieces=pieces, sorted=in_order, layout=own)

    def forms(self, distance: int) -> Iterator[Variant[bytes]]:
        """The text in other forms, with so many changes."""
        for chosen in combinations(self._changes, distance):
            if len({change.kind for change in chosen}) == distance and not _far_fetched(chosen):
                yield from self._form(chosen)
        if distance == LIBRARIES_AT:
            yield from self._as_libraries_write()

    def members(self) -> Iterator[tuple[str, bytes]]:
        """The value of each member of an object alone, compact and with spaces, with the member's
        name.
        """
        depth, start, name = 0, 0, ""
        for place, piece in enumerate(self.pieces if self.pieces[0] == "{" else ()):
            if depth == 1 and piece == ":":
                start, name = place + 1, json.loads(self.pieces[place - 1])
            if depth == 1 and piece in {",", "}"} and start:
                for layout in LAYOUTS[:2]:
                    yield name, _encoded(layout.write(self.pieces[start:place]))
            depth += (piece in OPENING) - (piece in CLOSING)

    @cached_property
    def _changes(self) -> Sequence[Change]:
        return (*self._layouts(), *self._orders(), *self._spellings())

    def _layouts(self) -> Iterator[Change]:
        sent = self.layout.sent if self.layout else "with white space of its own"
        for layout in LAYOUTS:
            if layout is not self.layout:
                yield Change(kind="layout", words=f"{layout.signed}, sent it {sent}", layout=layout)

    def _orders(self) -> Iterator[Change]:
        if self.sorted != self.pieces:
            yield Change(
                kind="order", words="the body with its keys sorted, sent them in another order"
            )

    def _spellings(self) -> Iterator[Change]:
        """Only spellings that change something, each change once."""
        seen: list[Mapping[str, str]] = [{}]
        for kind, spellings in (("escapes", ESCAPES), ("numbers", NUMBERS)):
            for words, spelling in spellings.items():
                spelled = self._spelled(spelling)
                if spelled not in seen:
                    seen.append(spelled)
                    yield Change(kind=kind, words=f"the body {words}", spelled=spelled)

    def _spelled(self, *spellings: Spelling) -> dict[str, str]:
        pairs = (
            (piece, spelling(piece))
            for piece in dict.fromkeys(self.pieces)
            for spelling in spellings
        )
        return {old: new for old, new in pairs if old != new}

    def _form(self, chosen: Sequence[Change]) -> Iterator[Variant[bytes]]:
        layout = next((change.layout for change in chosen if change.layout), self.layout)
        spelled = {old: new for change in chosen for old, new in change.spelled.items()}
        words = tuple(
            Deviation(aspect=Aspect.BODY, words=f"signed {change.words}") for change in chosen
        )
        in_order = any(change.kind == "order" for change in chosen)
        if layout is not None:
            value = _written(layout, self.sorted if in_order else self.pieces, spelled)
            yield Variant(value=value, deviations=words)
        elif not in_order:  # white space of one's own has no place among sorted keys
            value = _encoded(PIECE.sub(lambda found: spelled.get(found[0], found[0]), self.text))
            yield Variant(value=value, deviations=words)

    def _as_libraries_write(self) -> Iterator[Variant[bytes]]:
        for name, layout, in_order, spellings in LIBRARIES:
            value = _written(
                layout, self.sorted if in_order else self.pieces, self._spelled(*spellings)
            )
            words = f"signed the body as {name} writes it, sent it otherwise"
            yield Variant(value=value, deviations=(Deviation(aspect=Aspect.BODY, words=words),))


def _far_fetched(chosen: Sequence[Change]) -> bool:
    """Whether an indented form is spelled otherwise too; there are many such forms, and hardly
    anyone signs them.
    """
    return any(change.layout and change.layout.indent for change in chosen) and any(
        one.spelled for one in chosen
    )


def _written(layout: Layout, pieces: list[str], spelled: Mapping[str, str]) -> bytes:
    return _encoded(
        layout.write([spelled.get(piece, piece) for piece in pieces] if spelled else pieces)
    )


def _encoded(text: str) -> bytes:
    # An escaped half of a surrogate pair may stand alone in JSON; resolved, it is no Unicode text.
    return text.encode("utf-8", "surrogatepass")


def _sorted(first: str, rest: Iterator[str]) -> list[str]:
    """The pieces of one value with the keys of all its objects sorted; raises RecursionError."""
    if first == "{":
        return _sorted_object(rest)
    if first != "[":
        return [first]
    pieces = [first]
    for piece in rest:
        if piece == "]":
            break
        pieces += [piece] if piece == "," else _sorted(piece, rest)
    return [*pieces, "]"]


def _sorted_object(rest: Iterator[str]) -> list[str]:
    members: list[tuple[str, list[str]]] = []
    for piece in rest:
        if piece == "}":
            break
        if piece != ",":
            members.append((json.loads(piece), [piece, next(rest), *_sorted(next(rest), rest)]))
    members.sort(key=lambda member: member[0])
    joined = [part for _, pieces in members for part in (",", *pieces)]
    return ["{", *joined[1:], "}"]
