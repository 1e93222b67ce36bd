"""Lays a JSON body out over lines, without a change to anything but the spaces between tokens."""

import json
import re
from collections.abc import Iterator
from typing import Final

_WORD: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
OPENING: Final = frozenset("{[")
CLOSING: Final = frozenset("}]")
INDENT: Final = "  "
# A deeper body would be laid out beyond every margin.
DEEPEST: Final = 20


def laid_out(text: str) -> str:
    """A JSON object or array with a line for each member; any other text as it is."""
    if not text.lstrip().startswith(("{", "[")) or not _is_json(text):
        return text
    words = _WORD.findall(text)
    return text if _depth(words) > DEEPEST else "".join(_lines(words))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _depth(words: list[str]) -> int:
    depth = deepest = 0
    for word in words:
        depth += (word in OPENING) - (word in CLOSING)
        deepest = max(deepest, depth)
    return deepest


def _lines(words: list[str]) -> Iterator[str]:
    depth, before = 0, ""
    for word in words:
        is_empty = before in OPENING and word in CLOSING
        depth -= word in CLOSING
        if not is_empty and (before in OPENING or before == "," or word in CLOSING):
            yield f"\n{INDENT * depth}"
        yield f"{word} " if word == ":" else word
        depth += word in OPENING
        before = word
