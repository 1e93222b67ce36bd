"""How JSON is written: white space, escapes and numbers, and what common libraries produce."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isinf
from typing import Final

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
    signed: str
    sent: str

    def write(self, pieces: Sequence[str]) -> str:
        if self.indent is None:
            spaced = {",": self.comma, ":": self.colon}
            return "".join([spaced.get(piece, piece) for piece in pieces])
        return "".join(self._indented(pieces, self.indent))

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

ESCAPES: Final[Mapping[str, Spelling]] = {
    "with its characters beyond ASCII escaped, sent them as they are": ASCII,
    "with its escapes resolved, sent them escaped": UNESCAPED,
    "with <, > and & escaped, sent them as they are": HTML_SAFE,
    "with its slashes escaped, sent them bare": SLASHES_ESCAPED,
    "with its slashes and its characters beyond ASCII escaped, sent them as they are": (
        ASCII_SLASHES_ESCAPED
    ),
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
)
