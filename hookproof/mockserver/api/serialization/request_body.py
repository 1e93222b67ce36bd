"""Parses request bodies to JSON and refuses whatever is not well-formed.

The decoder is strict about UTF-8, surrogates, control characters, nesting and numbers that no float
can hold, but of several members with the same name it keeps the last. Those are found by counting
colons: each member has one colon, and every other colon is inside a string. The body has as many
colons as the decoded members and strings, unless a member was lost. Only an escaped colon
(backslash, u003A) breaks the count; such a body is parsed a second time by the slower json module.
"""

import json
import re
from collections import Counter
from typing import Any, Final

import msgspec

_NUL: Final = "\x00"
_ESCAPED_COLON: Final = b"\\u003"


class MalformedBody(Exception):
    """The body is not an acceptable JSON text; the message gives the reason in a few words."""


_BRACKETS_OR_STRING: Final = re.compile(rb'[][{}]|"(?:[^"\\]|\\.)*"')

_decode: Final = msgspec.json.Decoder().decode
_decode_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def decode_json(body: bytes) -> Any:
    """Decode a JSON text. Raises MalformedBody."""
    value = _decode_strictly(_decode, body)
    colons, holds_nul = _count_colons(value)
    if body.count(b":") != colons or _ESCAPED_COLON in body:
        _reject_repeated_names(body)
    if holds_nul:
        raise MalformedBody("a string contains the character NUL")
    return value


def decode_json_around(body: bytes, opaque: str) -> tuple[Any, bytes | None]:
    """Decode a JSON text but keep one member of the outermost object verbatim.

    Returns the value, with `{}` in place of that member if it is an object, and the member's own
    text. Inside the member names may repeat and numbers may have any size, since nothing here reads
    them. Raises MalformedBody.
    """
    if not body.lstrip().startswith(b"{"):
        return decode_json(body), None
    _require_utf8(body)
    members = _decode_strictly(_decode_members, body)
    texts = {name: bytes(raw) for name, raw in members.items()}
    if body.count(b":") != sum(
        text.count(b":") + 1 for text in texts.values()
    ):  # a colon in a name: compare the names themselves
        _reject_repeated_names(body, nested=False)
    kept = texts.get(opaque)
    value = {name: decode_json(text) for name, text in texts.items() if name != opaque}
    if _NUL in "".join(value):
        raise MalformedBody("a name contains the character NUL")
    if kept is not None:
        value[opaque] = {} if kept.startswith(b"{") else decode_json(kept)
    return value, kept


def _decode_strictly(decode: Any, body: bytes) -> Any:
    try:
        return decode(body)
    except RecursionError:
        raise MalformedBody("it is nested too deeply") from None
    except (msgspec.MsgspecError, ValueError) as problem:
        raise MalformedBody(str(problem)) from None


def _require_utf8(body: bytes) -> None:
    try:
        body.decode()
    except UnicodeDecodeError as problem:
        raise MalformedBody(str(problem)) from None


def _count_colons(value: Any) -> tuple[int, bool]:
    """Return the fewest colons that a text of this value has, and whether a string contains NUL."""
    colons = 0
    holds_nul = False
    pending = [value]
    while pending:
        value = pending.pop()
        if type(value) is dict:
            colons += len(value)
            pending.extend(value)
            pending.extend(value.values())
        elif type(value) is list:
            pending.extend(value)
        elif type(value) is str:
            colons += value.count(":")
            holds_nul = holds_nul or _NUL in value
    return colons, holds_nul


def _reject_repeated_names(body: bytes, *, nested: bool = True) -> None:
    """Raise MalformedBody if an object, or without `nested` the outermost one, repeats a name."""
    objects: list[list[str]] = []

    def record_names(pairs: list[tuple[str, Any]]) -> None:
        objects.append([name for name, _ in pairs])

    try:
        json.loads(body, object_pairs_hook=record_names, parse_int=str, parse_float=str)
    except RecursionError:
        raise MalformedBody("it is nested too deeply") from None
    for names in objects if nested else objects[-1:]:
        repeated = [name for name, times in Counter(names).items() if times > 1]
        if repeated:
            raise MalformedBody(f"the member {repeated[0]!r} occurs twice")


def depth(text: bytes) -> int:
    """How many levels of arrays and objects a JSON text has."""
    deepest = level = 0
    for bracket in _BRACKETS_OR_STRING.findall(text):
        level += (bracket in b"[{") - (bracket in b"]}")
        deepest = max(deepest, level)
    return deepest


def without_nulls(value: Any, *, except_for: str | None = None) -> Any:
    """The value without members that are null, at any depth; one of the outermost may stay."""
    if not isinstance(value, dict):
        return value
    return {
        name: without_nulls(member)
        for name, member in value.items()
        if member is not None or name == except_for
    }
