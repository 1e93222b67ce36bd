"""Replaces the credentials that are known by their names, by value and in every spelling.

One that is unmistakable is replaced wherever it stands; one that is shorter, or not as varied,
where it is a word of its own; one that may be any word, where it is a whole value: a text or the
name of a member in JSON, a part of a URL, what is quoted in a message. The words of the API are
never replaced.
"""

import base64
import html
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final

from hookproof.process.encoded_credentials import (
    DEPTH,
    NUMBERS,
    SHORTEST,
    EncodedCredentials,
    Part,
    array_bytes,
    array_masked,
    byte_array,
    is_distinctive,
    is_time,
    is_unmistakable,
    may_be_word,
    spliced,
)
from hookproof.target.masking.credential_places import TEXT

# In bytes.
SHORT: Final = 2048
PART: Final = 32 * 1024
OVERLAP: Final = 4 * 1024
MOST: Final = 1024 * 1024

# In hexadecimal: letters, digits, and `-._~`, which need no escape anywhere.
_UNRESERVED: Final = rb"(?:2[dDeE]|3[0-9]|[46][1-9a-fA-F]|[57][0-9aA]|5[fF]|7[eE])"
# The last ones are escapes of what begins an escape.
_NEEDLESS: Final = re.compile(
    rb"\\u00%(u)s|%%%(u)s|&#|&(?:amp|lt|gt|quot|apos|sol|plus|equals);"
    rb"|%%25|%%5[cC](?:%%75|u)00|%%26(?:%%23|#)|\\u00(?:25|5[cC])|\\u0026#" % {b"u": _UNRESERVED}
)
_ESCAPE: Final = re.compile(
    rb"\\u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|\\u(?P<unit>[0-9a-fA-F]{4})"
    rb'|\\(?P<sign>["\\/bfnrt])'
    rb"|%(?P<byte>[0-9a-fA-F]{2})"
    rb"|(?P<entity>&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});)"
)
_SIGNS: Final = dict(zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t', strict=True))


def has_needless_escapes(content: bytes) -> bool:
    is_plain = b"%" not in content and b"\\u00" not in content and b"&" not in content
    return not is_plain and _NEEDLESS.search(content) is not None


def texts_with_needless_escapes(content: bytes) -> Iterator[tuple[int, int]]:
    """Where such texts are: the whole of a short content, and what is between quotes in others, in
    parts that overlap. Of a hostile content no more than MOST bytes are given.
    """
    if not has_needless_escapes(content):
        return
    if len(content) <= SHORT:
        yield 0, len(content)
        return
    found, left = _NEEDLESS.search(content), MOST
    while found and left > 0:
        begin = content.rfind(b'"', 0, found.start()) + 1
        end = content.find(b'"', found.end())
        end = len(content) if end < 0 else end
        for start in range(begin, end, PART - OVERLAP):
            if left > 0:
                yield start, min(start + PART, end)
            left -= min(end - start, PART)
        found = _NEEDLESS.search(content, end)


def unescaped(written: bytes) -> "Unescaped":
    """What a target repeats, such as a name in a list, is read once."""
    return (_remembered if len(written) <= SHORT else Unescaped)(written)


def plain(text: bytes) -> bytes:
    """What a text says, whatever is escaped in it."""
    return unescaped(text).content


class Unescaped:
    """A content in which each escape is what it stands for, and where that was written."""

    def __init__(self, written: bytes) -> None:
        pieces, end, length = [], 0, 0
        # Where each escape begins and ends in the content, and where in what was written.
        self._starts: list[int] = []
        self._places: list[tuple[int, int, int]] = []
        for escape in _ESCAPE.finditer(written):
            before, meant = written[end : escape.start()], _meant(escape)
            length += len(before)
            self._starts.append(length)
            self._places.append((length + len(meant), escape.start(), escape.end()))
            pieces += [before, meant]
            length, end = length + len(meant), escape.end()
        self.content = b"".join([*pieces, written[end:]])

    def written(self, start: int, end: int) -> tuple[int, int]:
        """Where these characters of the content are in what was written, whole escapes alone."""
        return self._written(start, at_end=False), self._written(end, at_end=True)

    def _written(self, place: int, *, at_end: bool) -> int:
        # What ends where an escape begins does not belong to it.
        number = bisect_right(self._starts, place - 1 if at_end else place) - 1
        if number < 0:
            return place
        end, written_start, written_end = self._places[number]
        if place >= end and not (at_end and place == end):
            return written_end + place - end
        return written_end if at_end else written_start


def _meant(escape: re.Match[bytes]) -> bytes:
    kind = escape.lastgroup
    if kind == "low":
        pair = int(escape["high"], 16), int(escape["low"], 16)
        return chr(0x10000 + ((pair[0] & 0x3FF) << 10) + (pair[1] & 0x3FF)).encode()
    if kind == "unit":
        return chr(int(escape["unit"], 16)).encode("utf-8", "surrogatepass")
    if kind == "sign":
        return bytes([_SIGNS[escape["sign"][0]]])
    if kind == "byte":
        return bytes([int(escape["byte"], 16)])
    return html.unescape(escape[0].decode()).encode("utf-8", "surrogatepass")


_remembered: Final = lru_cache(1024)(Unescaped)


# In characters. What is shorter, or has fewer different ones, may be any value.
SHORTEST_WHOLE: Final = 4
DIFFERENT: Final = 4

_LITERAL: Final = re.compile(TEXT, re.DOTALL)
# What stands between two quotes of a message that are side by side; each may end one quotation and
# begin another, as an apostrophe does.
_QUOTED: Final = re.compile(rb"(?<=(['\"`]))(?=([^'\"`\n]{%d,512})\1)" % SHORTEST_WHOLE)
# What separators of URLs, forms and headers leave.
_VALUE: Final = re.compile(rb"[^\s\"'/?&=#,;<>()]{%d,}" % SHORTEST_WHOLE)
_FORM: Final = re.compile(rb"[^\s\"{}\[\]]+")
_DIVIDER: Final = re.compile(rb"[^/=]+")
# In characters of a text within quotes. What is longer is no short credential, however spelled.
LONGEST_SPELLED: Final = 512
# In bytes.
SHORT_BODY: Final = 1024 * 1024
# How many masked texts are remembered.
MOST_TEXTS: Final = 10_000


def is_whole_value(text: str) -> bool:
    """Whether a credential is masked where it is a whole value, whatever else it may be."""
    is_varied = len(text) >= SHORTEST_WHOLE and len(set(text)) >= DIFFERENT
    return is_varied and not is_time(text)


class KnownCredentials:
    """The credentials of a run that are known so far; `words` are those of the API, in lower case.

    Not thread-safe.
    """

    def __init__(self, words: Collection[str] = ()) -> None:
        self._words = words
        self._known: set[str] = set()
        # All of them, in the order in which they became known.
        self.names: list[tuple[str, str]] = []
        self._encoded = EncodedCredentials()
        self._whole: dict[bytes, bytes] = {}
        # The same, with and without quotes.
        self._written: set[bytes] = set()
        # Those among them that fields of ours may have as a name: `plain`.
        self._alike: set[bytes] = set()
        self._parts: dict[bytes, bytes] = {}
        self._part = re.compile(rb"(?!)")
        self._texts: dict[str, str] = {}

    def is_word(self, text: str) -> bool:
        return text.lower() in self._words

    def add(self, named: Iterable[tuple[str, str]], *, given: bool = False) -> None:
        """Replace these credentials by their names from now on.

        One that was `given` is replaced where it is a word of its own even if it is short.
        """
        for text, name in named:
            if text in self._known or self.is_word(text):
                continue
            self._known.add(text)
            self.names.append((text, name))
            self._texts.clear()
            self._encoded.add([(text, name)])
            if is_unmistakable(text):
                continue
            written = text.encode("utf-8", "surrogatepass")
            if is_distinctive(text) or (given and is_whole_value(text) and not may_be_word(text)):
                self._add_part(written, name.encode())
            if is_whole_value(text):
                for spelled in _whole_spellings(written):
                    self._whole.setdefault(spelled, name.encode())
                    self._written |= {spelled, b'"' + spelled + b'"'}
                self._alike.update([written] if may_be_word(text) else [])

    def content(self, content: bytes) -> bytes:
        """A body with names in place of the credentials; an array of bytes remains one."""
        if content in self._whole:
            return self._whole[content]
        if b"[" in content:
            content = NUMBERS.sub(lambda match: array_masked(match[0], self._of_array), content)
        content = spliced(content, self._encoded.places(content))
        if self._whole or self._parts:
            is_form = b"=" in content and _FORM.fullmatch(content) is not None
            values = _VALUE if is_form else _LITERAL
            content = spliced(content, self._whole_values(content, values))
            content = spliced(content, self._words_of(content))
        return spliced(content, self._spelled(content, DEPTH))

    def names_in(self, content: bytes) -> Iterator[bytes]:
        """The names of the credentials that a body shows in a form that is unmistakable."""
        arrays = NUMBERS.finditer(content) if b"[" in content else ()
        for numbers in arrays:
            for _, _, name in self._encoded.places(array_bytes(numbers[0]) or b"", in_bytes=True):
                yield name
        for _, _, name in (*self._encoded.places(content), *self._spelled(content, DEPTH)):
            yield name

    def text(self, text: str) -> str:
        """A text of ours, which may quote what a target has said."""
        return self._masked(text, self._text)

    def header(self, text: str) -> str:
        """A URL or the value of a header: what separators leave are values, too."""
        return self._masked(text, self._header) if text else text

    def value(self, value: Any) -> Any:
        """A JSON value of ours, whose texts may be our own words."""
        if isinstance(value, dict):
            return {self._own(name): self.value(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            known = byte_array(value)
            return list(map(self.value, value)) if known is None else list(self._of_array(known))
        return self._own(value) if isinstance(value, str) else value

    def _own(self, text: str) -> str:
        written = text.encode("utf-8", "surrogatepass")
        return text if written in self._alike else self.text(text)

    def _masked(self, text: str, mask: Callable[[bytes], bytes]) -> str:
        """Mask a text; short ones are left as they are, and results are remembered."""
        if len(text) < (SHORTEST_WHOLE if self._whole else SHORTEST):
            return text
        key = text if mask == self._text else f"{text}\0"
        if key not in self._texts:
            if len(self._texts) >= MOST_TEXTS:
                self._texts.clear()
            written = text.encode("utf-8", "surrogatepass")
            self._texts[key] = mask(written).decode("utf-8", "surrogatepass")
        return self._texts[key]

    def _text(self, text: bytes) -> bytes:
        masked = self.content(text)
        return spliced(masked, self._quoted(masked)) if self._whole else masked

    def _header(self, text: bytes) -> bytes:
        masked = self._text(text)
        return spliced(masked, self._whole_values(masked, _VALUE)) if self._whole else masked

    def _add_part(self, part: bytes, name: bytes) -> None:
        self._parts[part] = name
        shortest = min(map(len, self._parts))
        self._part = re.compile(rb"[A-Za-z0-9_\-+/=]{%d,}" % shortest)

    def _of_array(self, content: bytes) -> bytes:
        return self._whole.get(content) or self._encoded.of_array(content)

    def _whole_values(self, content: bytes, pattern: re.Pattern[bytes]) -> Iterator[Part]:
        """The whole values among what the pattern finds, which may have quotes around it."""
        # Of a long body there may be millions of texts.
        is_short = len(content) <= SHORT_BODY
        texts = (
            {*pattern.findall(content)} if is_short else (m[0] for m in pattern.finditer(content))
        )
        if self._written.isdisjoint(texts):
            if not has_needless_escapes(content):
                return
            if is_short and not any(map(self._name_of, map(_within_quotes, texts))):
                return
        for match in pattern.finditer(content):
            text = _within_quotes(match[0])
            if name := self._name_of(text):
                start = match.start() + content.startswith(b'"', match.start())
                yield start, start + len(text), name

    def _quoted(self, content: bytes) -> Iterator[Part]:
        after = 0
        for match in _QUOTED.finditer(content):
            start, end = match.span(2)
            if start >= after and (name := self._name_of(content[start:end])):
                after = end
                yield start, end, name

    def _name_of(self, written: bytes) -> bytes | None:
        """The name of a short credential that is written so."""
        name = self._whole.get(written)
        if name is None and len(written) <= LONGEST_SPELLED and has_needless_escapes(written):
            with suppress(ValueError):  # no character has this number
                return self._whole.get(plain(written))
        return name

    def _words_of(self, content: bytes) -> Iterator[Part]:
        """The credentials that are words of their own."""
        # There are few, and hardly any content has one.
        if not any(part in content for part in self._parts):
            return
        for run in self._part.finditer(content):
            if name := self._parts.get(run[0]):
                yield *run.span(), name
            elif b"/" in run[0] or b"=" in run[0]:
                for part in _DIVIDER.finditer(run[0]):
                    if name := self._parts.get(part[0]):
                        yield run.start() + part.start(), run.start() + part.end(), name

    def _spelled(self, content: bytes, depth: int) -> Iterator[Part]:
        """Where credentials are that are spelled with escapes, and so within escapes."""
        after = 0
        for begin, stop in texts_with_needless_escapes(content):
            text = unescaped(content[begin:stop])
            plainly = text.content
            found = [*self._encoded.places(plainly), *self._words_of(plainly)]
            if depth:
                found += self._spelled(plainly, depth - 1)
            for start, end, name in sorted(found):
                first, last = text.written(start, end)
                if begin + first >= after:
                    after = begin + last
                    yield begin + first, after, name


def _within_quotes(text: bytes) -> bytes:
    return text[1:-1] if text.startswith(b'"') else text


def _whole_spellings(text: bytes) -> Iterator[bytes]:
    """A text as it is, in hexadecimal and in base64, each as a whole value."""
    yield text
    yield text.hex().encode()
    yield text.hex().upper().encode()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(text)
        yield encode(text).rstrip(b"=")
    for ascii_only in (True, False):
        with suppress(UnicodeError):
            yield json.dumps(text.decode(), ensure_ascii=ascii_only)[1:-1].encode()
