"""Finds credentials that are already known wherever they stand, in any encoding.

Servers show what they store in more ways than one: the payload of an event as an array of bytes, a
header as base64, a body as JSON within JSON. A text is searched for all encodings of all known
credentials at once: of each encoding a few windows side by side are known, and every fourth window
of the text is looked up, so that an encoding cannot lie between two of them.
"""

import base64
import json
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from struct import Struct
from typing import Any, Final
from urllib.parse import quote, quote_plus

# In bytes. Every STEPth window of a text is looked up, so a pattern of SHORTEST bytes is never
# missed.
WINDOW: Final = 8
STEP: Final = 4
SHORTEST: Final = WINDOW + STEP - 1
# Windows of a pattern begin in so many bytes at its ends.
MARGIN: Final = 64
# Once in their pattern, in no other one, and of so many different bytes.
GOOD_ENOUGH: Final = (False, 0, -7)

# A credential is looked for everywhere if it is so long and has so many different characters that
# nothing else can be equal to it by chance, such as a time or a text of zeros.
LONG: Final = 12
VARIED: Final = 8

# In characters. A text that is shorter may be part of any word; so is one without a digit that is
# shorter than DISTINCTIVE, and one of fewer different characters may be part of any filled text.
SHORTEST_PART: Final = 8
DISTINCTIVE: Final = 20
DIFFERENT: Final = 5

# What is spelled like the name of a field or of an operation, and is no longer, may be one:
# generated requests have such secrets too. In characters.
LONGEST_WORD: Final = 23
_WORD: Final = re.compile(r"[A-Za-z]?[a-z]+(?:[A-Z][a-z]+|_[a-z]+)*")
_TIME: Final = re.compile(r"[-\d\s:.,TZ+/]*")

# How many times JSON may be within JSON.
DEPTH: Final = 4

# What is spelled alike in JSON and in a URL (RFC 8259, section 7; RFC 3986, section 2.3).
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.~-]*")
_SIGNS_OF_HTML: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}
_ESCAPE: Final = re.compile(r"%[0-9A-F]{2}")
# An array of numbers below a thousand, at least a few of them. What was matched is not given back:
# to remember where that began took hundreds of megabytes for an array of a million.
NUMBERS: Final = re.compile(rb"\[\s*+\d{1,3}+(?:\s*+,\s*+\d{1,3}+){7,}+\s*+\]")
Part = tuple[int, int, bytes]
_SEPARATOR: Final = re.compile(rb"\d(\s*,\s*)\d")
# Bits: of a byte, of a character of base64 (RFC 4648, section 4).
_number_at: Final = Struct("=Q").unpack_from
_BYTE: Final = 8
_SEXTET: Final = 6


def is_unmistakable(text: str) -> bool:
    """Whether whatever equals this credential is this credential."""
    return len(text) >= LONG and len(set(text)) >= VARIED and not may_be_word(text)


def is_distinctive(text: str) -> bool:
    """Whether a credential is unlikely to be part of a word, so that it is masked where it is a
    word of a text.
    """
    has_digit = any(map(str.isdigit, text))
    is_rare = len(text) >= DISTINCTIVE or (len(text) >= SHORTEST_PART and has_digit)
    return is_rare and len(set(text)) >= DIFFERENT and not may_be_word(text) and not is_time(text)


def is_found_encoded(text: str) -> bool:
    """Whether hexadecimal digits or base64 of this credential are nothing else, even if the
    credential as it is may be a word.
    """
    return (len(text) >= LONG and len(set(text)) >= VARIED) or is_distinctive(text)


def is_time(text: str) -> bool:
    """Whether a text consists of digits and of what stands between those of a date or a time."""
    return _TIME.fullmatch(text) is not None


def may_be_word(text: str) -> bool:
    """Whether a credential may as well be a word, which must not be masked where it is one."""
    return len(text) <= LONGEST_WORD and _WORD.fullmatch(text) is not None


def spellings(text: str) -> Iterator[str]:
    """The ways in which a text may be spelled: as it is, in JSON, in JSON within JSON, in a URL."""
    yield text
    if not _PLAIN.fullmatch(text):
        yield from dict.fromkeys((*_in_json(text), *_in_urls(text)))


def encodings(text: str) -> Iterator[str]:
    """Hexadecimal digits of a text, and what it adds to any base64 that contains it."""
    for spelled in dict.fromkeys((text, *_in_json(text, depth=2))):
        content = _bytes(spelled)
        yield content.hex()
        yield content.hex().upper()
        for offset in range(3):
            inner = _inner_base64(content, offset)
            yield inner
            if "+" in inner or "/" in inner:
                yield inner.replace("+", "-").replace("/", "_")


class EncodedCredentials:
    """The credentials that are looked for, each with the name that takes its place."""

    def __init__(self) -> None:
        self._names: dict[bytes, bytes] = {}
        # Patterns that may be words of a text, and are looked for in arrays of bytes alone.
        self._in_bytes: set[bytes] = set()
        self._windows: dict[int, list[tuple[bytes, int]]] = {}
        self._known: set[str] = set()

    def add(self, named: Iterable[tuple[str, str]]) -> None:
        """Look for these credentials from now on: for those that are unmistakable in each form, for
        others only encoded, if that is found.
        """
        for text, name in named:
            if text in self._known:
                continue
            self._known.add(text)
            as_it_is, new = tuple(map(_bytes, spellings(text))), name.encode()
            if is_unmistakable(text):
                self._add((*as_it_is, *map(_bytes, encodings(text))), new)
            elif is_found_encoded(text):
                self._in_bytes.update({*as_it_is} - self._names.keys())
                self._add((*as_it_is, *map(_bytes, encodings(text))), new)

    def content(self, content: bytes) -> bytes:
        """A body with names in place of all credentials; an array of bytes remains one."""
        if not self._windows:
            return content
        if b"[" in content:
            content = NUMBERS.sub(lambda match: array_masked(match[0], self.of_array), content)
        return spliced(content, self.places(content))

    def of_array(self, content: bytes) -> bytes:
        """The same of what an array of bytes stands for."""
        return spliced(content, self.places(content, in_bytes=True))

    def places(self, content: bytes, *, in_bytes: bool = False) -> Iterator[Part]:
        """Where credentials are, from left to right, each with what takes its place."""
        # Hardly any text contains a credential: this finds out without a loop in Python.
        halves = (_windows(content[start:]) for start in range(0, WINDOW, STEP))
        shown = {window for windows in halves for window in self._windows.keys() & windows}
        if not shown:
            return
        end = 0
        hits = ((at, window) for window in shown for at in _places_of(window, content))
        for start, pattern in self._found(content, hits):
            if start >= end and (in_bytes or pattern not in self._in_bytes):
                end, name = start + len(pattern), self._names[pattern]
                if pattern.isdigit() and _is_number(content, start, end):
                    name = name.partition(b"#")[2] or b"0"
                yield start, end, name

    def text(self, text: str) -> str:
        if len(text) < SHORTEST:  # no pattern is so short, and most texts are
            return text
        content = _bytes(text)
        replaced = self.content(content)
        return text if replaced == content else replaced.decode("utf-8", "surrogatepass")

    def _add(self, patterns: Iterable[bytes], name: bytes) -> None:
        """Look for one credential. Its patterns may share windows: only it has them."""
        windows = {
            pattern: tuple(windows_at(pattern, rarest_place(pattern, self._windows)))
            for pattern in patterns
            if len(pattern) >= SHORTEST and pattern not in self._names
        }
        for pattern, places in windows.items():
            self._names[pattern] = name
            for offset, window in places:
                self._windows.setdefault(window, []).append((pattern, offset))

    def _found(self, content: bytes, hits: Iterable[tuple[int, int]]) -> list[tuple[int, bytes]]:
        """Where patterns are, from left to right; of several at one place the longest first."""
        found = {
            (at - offset, pattern)
            for at, window in hits
            for pattern, offset in self._windows[window]
            if at >= offset and content.startswith(pattern, at - offset)
        }
        return sorted(found, key=lambda place: (place[0], -len(place[1])))


def rarest_place(pattern: bytes, known: Mapping[int, Sequence[Any]]) -> int:
    """Where in a pattern the windows begin that fewest other texts have.

    Credentials begin alike, such as with a time, or end alike, as where a text was filled up to a
    length. So it is best if the windows occur once in the pattern, if few other patterns have them,
    and if they have many different bytes; the last place that is good enough is taken. `known` are
    the windows of the other patterns.
    """

    def commonness(place: int) -> tuple[bool, int, int]:
        shared, is_repeated = 0, False
        for at in range(place, place + STEP):
            window = pattern[at : at + WINDOW]
            shared += len(known.get(_number_at(pattern, at)[0], ()))
            # In a text of equal characters the next window is the same, so this search ends soon.
            is_repeated = is_repeated or (
                pattern.find(window) < at or pattern.find(window, at + 1) >= 0
            )
        return is_repeated, shared, -len(set(pattern[place : place + SHORTEST]))

    last = len(pattern) - SHORTEST
    begin, end = range(0, min(last, MARGIN), STEP), range(last, max(last - MARGIN, -1), -STEP)
    best, least = last, commonness(last)
    for place in (*end[1:], last // 2, *reversed(begin)):
        if least <= GOOD_ENOUGH:
            break
        if (found := commonness(place)) < least:
            best, least = place, found
    return best


def windows_at(pattern: bytes, place: int) -> Iterator[tuple[int, int]]:
    """The STEP windows of a pattern from this place on, each with its offset."""
    for offset in range(place, place + STEP):
        yield offset, _number_at(pattern, offset)[0]


def _windows(content: bytes) -> Sequence[int]:
    """The windows of a text side by side, as numbers of 64 bits, without what is left over."""
    return array("Q", content[: len(content) // WINDOW * WINDOW])


def _places_of(window: int, content: bytes) -> Iterator[int]:
    """Where a window is in a text, at every STEPth place."""
    text = array("Q", [window]).tobytes()
    at = content.find(text)
    while at >= 0:
        if at % STEP == 0:
            yield at
        at = content.find(text, at - at % STEP + STEP)


def byte_array(value: Iterable[Any]) -> bytes | None:
    """The bytes that a list of numbers stands for, None if there is none or it is not one."""
    numbers = list(value)
    if set(map(type, numbers)) != {int}:  # a boolean is no number here
        return None
    try:
        return bytes(numbers)
    except ValueError:  # one is below 0 or above 255
        return None


def array_like(written: bytes, content: bytes) -> bytes:
    """A JSON array of these bytes, laid out as the array that it replaces."""
    separator = _SEPARATOR.search(written)
    between = separator[1] if separator else b", "
    return b"[" + between.join(str(byte).encode() for byte in content) + b"]"


def array_bytes(written: bytes) -> bytes | None:
    """What a JSON array of bytes stands for, None if it is not one."""
    return byte_array(json.loads(written)) if _is_json(written) else None


def array_masked(written: bytes, mask: Callable[[bytes], bytes]) -> bytes:
    """A JSON array of bytes as it is written, with what they stand for masked."""
    known = array_bytes(written)
    masked = None if known is None else mask(known)
    return written if masked is None or masked == known else array_like(written, masked)


def spliced(content: bytes, parts: Iterable[Part]) -> bytes:
    """A content with other bytes at some places, which are given from left to right."""
    pieces, end = [], 0
    for start, stop, new in parts:
        pieces += [content[end:start], new]
        end = stop
    return b"".join([*pieces, content[end:]]) if pieces else content


def _is_json(numbers: bytes) -> bool:
    """Whether no number begins with a zero that JSON forbids."""
    return re.search(rb"(?<!\d)0\d", numbers) is None


def _is_number(content: bytes, start: int, end: int) -> bool:
    """Whether digits are a number of a JSON text, and no part of a text."""
    before, after = content[max(0, start - 8) : start].rstrip(), content[end : end + 8].lstrip()
    return before[-1:] in {b":", b"[", b","} and after[:1] in {b",", b"]", b"}", b""}


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _in_json(text: str, depth: int = DEPTH) -> Iterator[str]:
    """A text within JSON, within JSON within JSON, and so on, as several libraries escape it."""
    for ascii_only in (True, False):
        once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        for library in (once, once.replace("/", "\\/"), _without_signs_of_html(once)):
            spelled = library
            for _ in range(depth):
                yield spelled
                spelled = json.dumps(spelled, ensure_ascii=ascii_only)[1:-1]


def _without_signs_of_html(text: str) -> str:
    return text.translate(_SIGNS_OF_HTML)


def _in_urls(text: str) -> Iterator[str]:
    content = _bytes(text)
    for spelled in (quote(content, safe=""), quote(content), quote_plus(content)):
        yield spelled
        yield _ESCAPE.sub(lambda escape: escape[0].lower(), spelled)


def _inner_base64(content: bytes, offset: int) -> str:
    """The characters of base64 that depend on the content alone if `offset` bytes precede it."""
    whole = base64.b64encode(bytes(offset) + content).decode("ascii")
    first = -(-_BYTE * offset // _SEXTET)
    return whole[first : _BYTE * (offset + len(content)) // _SEXTET]
