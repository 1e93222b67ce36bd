"""Request bodies: bytes in, a JSON object out, and whatever is not well-formed refused.

The decoder is strict already (UTF-8, surrogates, control characters, nesting, numbers that no float
holds), but it keeps the last of several members with the same name. Those are found by counting:
each member has one colon of its own, and every other colon stands in a text. So the colons of the
body are as many as the members and the colons in texts that came out, unless a member was lost.
Only an escaped colon (backslash, u003A) spoils the count; such a body is read again, slowly.
"""

import json
from collections import Counter
from typing import Any, Final

import msgspec

_NUL: Final = "\x00"
_ESCAPED_COLON: Final = b"\\u003"


class MalformedBody(Exception):
    """The body is not a JSON text that this server takes; the text says why, in a few words."""


_decode: Final = msgspec.json.Decoder().decode
_decode_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def decode_json(body: bytes) -> Any:
    """The value of a JSON text. Raises Malformed."""
    value = _decode_strictly(_decode, body)
    colons, holds_nul = _count_colons(value)
    if body.count(b":") != colons or _ESCAPED_COLON in body:
        _reject_repeated_names(body)
    if holds_nul:
        raise MalformedBody("a string contains the character NUL")
    return value


def decode_json_around(body: bytes, opaque: str) -> tuple[Any, bytes | None]:
    """The value of a JSON text in which one member of the outermost object is kept as it was
    written.

    Returns the value, in which `{}` stands for that member if it is an object, and the member's own
    text. Names may repeat within the member, and its numbers may be of any size, since nobody reads
    them here.
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
    """How many colons a text of this value has at least, and whether a text holds NUL."""
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
    """Raise Malformed if an object names a member twice; `nested` looks into every object, else the
    outermost only.
    """
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
