r"""What a text says whose characters are written as escapes that nothing asks for: `%73` for an `s`
in a URL, `\u0073` in JSON, `&#115;` in HTML, mixed and one within another.
"""

import html
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

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
