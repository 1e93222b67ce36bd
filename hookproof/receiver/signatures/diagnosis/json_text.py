"""A JSON body written in other ways: white space, order of keys, escapes, spelling of numbers.

The text is split into pieces, never parsed into values, so that each change affects one thing only:
a form without white space still spells its numbers as they were sent.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import combinations
from math import isinf
from typing import Final

from hookproof.receiver.signatures.diagnosis.deviation import Aspect, Deviation, Variant

OPENING: Final = frozenset("[{")
CLOSING: Final = frozenset("]}")
LARGEST_PLAIN_DOUBLE: Final = 1e21
SMALLEST_PLAIN_DOUBLE: Final = 1e-6

# Writes one piece of a text in another way.
Spelling = Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """White space between pieces; with `indent` None everything is on one line."""

    comma: str = ","
    colon: str = ": "
    indent: str | None = None
    line_end: str = "\n"
    signed: str
    sent: str

    def write(self, pieces: Sequence[str]) -> str:
        if self.indent is None:
            spaced = {",": self.comma, ":": self.colon}
            return "".join([spaced.get(piece, piece) for piece in pieces])
        text = "".join(self._indented(pieces, self.indent))
        return text if self.line_end == "\n" else text.replace("\n", self.line_end)

    def _indented(self, pieces: Sequence[str], indent: str) -> Iterator[str]:
        depth = 0
        for index, piece in enumerate(pieces):
            before = pieces[index - 1] if index else ""
            if piece in CLOSING:
                depth -= 1
                if before not in OPENING:
                    yield "\n" + indent * depth
            elif before in OPENING:
                yield "\n" + indent * depth
            yield ": " if piece == ":" else piece
            if piece in OPENING:
                depth += 1
            elif piece == ",":
                yield "\n" + indent * depth


COMPACT: Final = Layout(colon=":", signed="the compact form of the body", sent="compact")
SPACED: Final = Layout(comma=", ", signed="the body with spaces", sent="with spaces")
LAYOUTS: Final = (
    COMPACT,
    SPACED,
    Layout(indent="  ", signed="the body indented by 2 spaces", sent="indented by 2 spaces"),
    Layout(indent="    ", signed="the body indented by 4 spaces", sent="indented by 4 spaces"),
    Layout(indent="\t", signed="the body indented by tabs", sent="indented by tabs"),
    *(
        Layout(
            indent=" " * width,
            line_end="\r\n",
            signed=f"the body indented by {width} spaces, with CR LF",
            sent=f"indented by {width} spaces, with CR LF",
        )
        for width in (2, 4)
    ),
)


def _string(write: Callable[[str], str]) -> Spelling:
    """A spelling that changes only strings."""
    return lambda piece: write(json.loads(piece)) if piece.startswith('"') else piece


def _number(write: Callable[[str], str]) -> Spelling:
    """A spelling that changes only numbers."""
    return lambda piece: write(piece) if piece[0] in "-0123456789" else piece


def _unescaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _escaped(text: str, characters: str) -> str:
    return "".join(
        f"\\u{ord(character):04x}" if character in characters else character for character in text
    )


def _as_double(piece: str) -> str:
    """A number as ECMAScript writes the double nearest to it."""
    number = float(piece)
    if number == 0:
        return "0"
    if isinf(number):
        return "null"
    if not SMALLEST_PLAIN_DOUBLE <= abs(number) < LARGEST_PLAIN_DOUBLE:
        return re.sub(r"e([+-])0", r"e\1", repr(number)).replace(".0e", "e")
    plain = format(Decimal(repr(number)), "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _as_python(piece: str) -> str:
    return repr(float(piece)) if re.search(r"[.eE]", piece) else piece


ASCII: Final = _string(json.dumps)
UNESCAPED: Final = _string(_unescaped)
HTML_SAFE: Final = _string(lambda text: _escaped(_unescaped(text), "<>&\u2028\u2029"))
SLASHES_ESCAPED: Final = _string(lambda text: _unescaped(text).replace("/", r"\/"))
ASCII_SLASHES_ESCAPED: Final = _string(lambda text: json.dumps(text).replace("/", r"\/"))
AS_DOUBLES: Final = _number(_as_double)
AS_PYTHON_NUMBERS: Final = _number(_as_python)


def _escaping(*, ascii_only: bool, html: bool, slashes: bool, upper: bool = False) -> Spelling:
    """A spelling with several kinds of escapes at once."""

    def write(text: str) -> str:
        written = json.dumps(text, ensure_ascii=ascii_only)
        if html:
            written = _escaped(written, "<>&\u2028\u2029")
        if slashes:
            written = written.replace("/", r"\/")
        return (
            UNICODE_ESCAPE.sub(lambda match: match[0].upper().replace("U", "u", 1), written)
            if (upper)
            else written
        )

    return _string(write)


def _dot_net(text: str) -> str:
    r"""As System.Text.Json writes a text: \u0022 for a quotation mark, and capital digits."""
    inner = json.dumps(text)[1:-1].replace(r"\"", r"\u0022")
    written = _escaped(inner, "<>&'+`")
    return f'"{UNICODE_ESCAPE.sub(lambda match: chr(92) + "u" + match[0][2:].upper(), written)}"'


UNICODE_ESCAPE: Final = re.compile(r"\\u[0-9a-f]{4}")
ESCAPES: Final[Mapping[str, Spelling]] = {
    # First, so that what only resolves escapes is not told as if it escaped something.
    "with its escapes resolved, sent them escaped": UNESCAPED,
    "with its characters beyond ASCII escaped, sent them as they are": ASCII,
    "with <, > and & escaped, sent them as they are": HTML_SAFE,
    "with its slashes escaped, sent them bare": SLASHES_ESCAPED,
    "with its slashes and its characters beyond ASCII escaped, sent them as they are": (
        ASCII_SLASHES_ESCAPED
    ),
    "with its slashes and <, > and & escaped, sent them as they are": _escaping(
        ascii_only=False, html=True, slashes=True
    ),
    "with <, > and & and its characters beyond ASCII escaped, sent them as they are": _escaping(
        ascii_only=True, html=True, slashes=False
    ),
    "with its slashes, <, > and & and its characters beyond ASCII escaped, sent them as they are": (
        _escaping(ascii_only=True, html=True, slashes=True)
    ),
    "with its characters beyond ASCII escaped in capital digits, sent them as they are": _escaping(
        ascii_only=True, html=False, slashes=False, upper=True
    ),
    "with its slashes and its characters beyond ASCII escaped, in capital digits, sent them as they"
    " are": _escaping(ascii_only=True, html=False, slashes=True, upper=True),
    "with the escapes of System.Text.Json of .NET, sent them as they are": _string(_dot_net),
}
NUMBERS: Final[Mapping[str, Spelling]] = {
    "with its numbers read as doubles, sent them in another spelling": AS_DOUBLES,
    "with its numbers read and written by Python, sent them in another spelling": (
        AS_PYTHON_NUMBERS
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """How a common library writes a parsed body."""

    name: str
    layout: Layout
    sorts_keys: bool = False
    spellings: tuple[Spelling, ...]


LIBRARIES: Final = (
    Library(name="json.dumps of Python", layout=SPACED, spellings=(ASCII, AS_PYTHON_NUMBERS)),
    Library(
        name="json.dumps of Python with sort_keys",
        layout=SPACED,
        sorts_keys=True,
        spellings=(ASCII, AS_PYTHON_NUMBERS),
    ),
    Library(name="JSON.stringify of JavaScript", layout=COMPACT, spellings=(UNESCAPED, AS_DOUBLES)),
    Library(
        name="json.Marshal of Go",
        layout=COMPACT,
        sorts_keys=True,
        spellings=(HTML_SAFE, AS_DOUBLES),
    ),
    Library(
        name="json_encode of PHP",
        layout=COMPACT,
        spellings=(ASCII_SLASHES_ESCAPED, AS_PYTHON_NUMBERS),
    ),
    Library(
        name="json_encode of PHP with JSON_PRETTY_PRINT",
        layout=LAYOUTS[3],
        spellings=(ASCII_SLASHES_ESCAPED, AS_PYTHON_NUMBERS),
    ),
    *(
        Library(
            name=f"json.dumps of Python with indent={len(layout.indent or '')}",
            layout=layout,
            spellings=(ASCII, AS_PYTHON_NUMBERS),
        )
        for layout in LAYOUTS[2:4]
    ),
)


PIECE: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
# How many deviations it counts as when a body is written as a library does.
LIBRARIES_AT: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChange:
    """One change of a text: another layout, sorted keys, or other spellings of pieces."""

    kind: str
    words: str
    layout: Layout | None = None
    respelled: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class JsonText:
    """The pieces of a JSON text, as sent and with sorted keys.

    `layout` is None if the text's white space follows none of LAYOUTS.
    """

    text: str
    pieces: list[str]
    sorted: list[str]
    layout: Layout | None

    @classmethod
    def parse(cls, body: bytes) -> "JsonText | None":
        """Split a body; None if it is not JSON, or nested too deeply."""
        try:
            text = body.decode()
            json.loads(text, parse_int=str, parse_float=str)
            pieces = PIECE.findall(text)
            rest = iter(pieces)
            in_order = _sorted(next(rest), rest)
        except (ValueError, RecursionError):
            return None
        layout = next((layout for layout in LAYOUTS if layout.write(pieces) == text), None)
        return cls(text=text, pieces=pieces, sorted=in_order, layout=layout)

    def forms(self, distance: int) -> Iterator[Variant[bytes]]:
        """The text in other forms, with this many changes."""
        for changes in combinations(self._changes, distance):
            if len({change.kind for change in changes}) == distance and not _is_far_fetched(
                changes
            ):
                yield from self._variants_of(changes)
        if distance == LIBRARIES_AT:
            yield from self._library_forms()

    def unescaped(self) -> list[str]:
        """The pieces with the escapes of their strings resolved."""
        respelled = self._respell(UNESCAPED)
        return [respelled.get(piece, piece) for piece in self.pieces]

    def members(self) -> Iterator[tuple[str, bytes]]:
        """Each member's value alone, compact and with spaces, with the member's name."""
        depth, start, name = 0, 0, ""
        for index, piece in enumerate(self.pieces if self.pieces[0] == "{" else ()):
            if depth == 1 and piece == ":":
                start, name = index + 1, json.loads(self.pieces[index - 1])
            if depth == 1 and piece in {",", "}"} and start:
                for layout in (COMPACT, SPACED):
                    yield name, _encoded(layout.write(self.pieces[start:index]))
            if piece in OPENING:
                depth += 1
            elif piece in CLOSING:
                depth -= 1

    @cached_property
    def _changes(self) -> Sequence[TextChange]:
        return (*self._layouts(), *self._orders(), *self._spellings())

    def _layouts(self) -> Iterator[TextChange]:
        for layout in LAYOUTS:
            if layout is not self.layout:
                sent = self.layout.sent if self.layout else "with white space of its own"
                if layout.indent and layout.write(self.pieces).replace("\n", "") == self.text:
                    sent = "without its line breaks"
                yield TextChange(
                    kind="layout", words=f"{layout.signed}, sent it {sent}", layout=layout
                )

    def _orders(self) -> Iterator[TextChange]:
        if self.sorted != self.pieces:
            yield TextChange(
                kind="order", words="the body with its keys sorted, sent them in another order"
            )

    def _spellings(self) -> Iterator[TextChange]:
        """Only spellings that change something, each change once."""
        seen: list[Mapping[str, str]] = [{}]
        for kind, spellings in (("escapes", ESCAPES), ("numbers", NUMBERS)):
            for words, spelling in spellings.items():
                respelled = self._respell(spelling)
                if respelled not in seen:
                    seen.append(respelled)
                    yield TextChange(kind=kind, words=f"the body {words}", respelled=respelled)

    def _respell(self, *spellings: Spelling) -> dict[str, str]:
        pairs = (
            (piece, spelling(piece))
            for piece in dict.fromkeys(self.pieces)
            for spelling in spellings
        )
        return {old: new for old, new in pairs if old != new}

    def _variants_of(self, changes: Sequence[TextChange]) -> Iterator[Variant[bytes]]:
        layout = next((change.layout for change in changes if change.layout), self.layout)
        respelled = {old: new for change in changes for old, new in change.respelled.items()}
        deviations = tuple(
            Deviation(aspect=Aspect.BODY, words=f"signed {change.words}") for change in changes
        )
        in_order = any(change.kind == "order" for change in changes)
        if layout is not None:
            value = _written(layout, self.sorted if in_order else self.pieces, respelled)
            yield Variant(value=value, deviations=deviations)
        elif not in_order:  # irregular white space cannot be kept when keys are sorted
            value = _encoded(PIECE.sub(lambda match: respelled.get(match[0], match[0]), self.text))
            yield Variant(value=value, deviations=deviations)

    def _library_forms(self) -> Iterator[Variant[bytes]]:
        for library in LIBRARIES:
            pieces = self.sorted if library.sorts_keys else self.pieces
            value = _written(library.layout, pieces, self._respell(*library.spellings))
            words = f"signed the body as {library.name} writes it, sent it otherwise"
            yield Variant(value=value, deviations=(Deviation(aspect=Aspect.BODY, words=words),))


def _is_far_fetched(changes: Sequence[TextChange]) -> bool:
    """Whether an indented form also has other spellings: many forms, hardly ever signed."""
    return any(change.layout and change.layout.indent for change in changes) and any(
        change.respelled for change in changes
    )


def _written(layout: Layout, pieces: list[str], respelled: Mapping[str, str]) -> bytes:
    return _encoded(
        layout.write([respelled.get(piece, piece) for piece in pieces] if respelled else pieces)
    )


def _encoded(text: str) -> bytes:
    # JSON may hold an unpaired surrogate as an escape; resolved, it is not valid Unicode.
    return text.encode("utf-8", "surrogatepass")


def _sorted(first: str, rest: Iterator[str]) -> list[str]:
    """The pieces of one value with the keys of all its objects sorted.

    Raises RecursionError.
    """
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
