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


class Malformed(Exception):
    """The body is not a JSON text that this server takes; the text says why, in a few words."""


_decode: Final = msgspec.json.Decoder().decode
_decode_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def decoded(body: bytes) -> Any:
    """The value of a JSON text. Raises Malformed."""
    value = _strictly(_decode, body)
    colons, holds_nul = _census(value)
    if body.count(b":") != colons or _ESCAPED_COLON in body:
        _refuse_repeated_names(body)
    if holds_nul:
        raise Malformed("a text holds the character NUL")
    return value


def decoded_around(body: bytes, opaque: str) -> tuple[Any, bytes | None]:
    """The value of a JSON text in which one member of the outermost object is kept as it was
    written.

    Returns the value, in which `{}` stands for that member if it is an object, and the member's own
    text. Names may repeat within the member, and its numbers may be of any size, since nobody reads
    them here.
    """
    if not body.lstrip().startswith(b"{"):
        return decoded(body), None
    _refuse_other_encodings(body)
    members = _strictly(_decode_members, body)
    texts = {name: bytes(raw) for name, raw in members.items()}
    if body.count(b":") != sum(
        text.count(b":") + 1 for text in texts.values()
    ):  # a colon in a name: look closer
        _refuse_repeated_names(body, deep=False)
    kept = texts.get(opaque)
    value = {name: decoded(text) for name, text in texts.items() if name != opaque}
    if _NUL in "".join(value):
        raise Malformed("a name holds the character NUL")
    if kept is not None:
        value[opaque] = {} if kept.startswith(b"{") else decoded(kept)
    return value, kept


def _strictly(decode: Any, body: bytes) -> Any:
    try:
        return decode(body)
    except RecursionError:
        raise Malformed("it is nested too deeply") from None
    except (msgspec.MsgspecError, ValueError) as problem:
        raise Malformed(str(problem)) from None


def _refuse_other_encodings(body: bytes) -> None:
    try:
        body.decode()
    except UnicodeDecodeError as problem:
        raise Malformed(str(problem)) from None


def _census(value: Any) -> tuple[int, bool]:
    """How many colons a text of this value has at least, and whether a text holds NUL."""
    colons = 0
    holds_nul = False
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if type(one) is dict:
            colons += len(one)
            waiting.extend(one)
            waiting.extend(one.values())
        elif type(one) is list:
            waiting.extend(one)
        elif type(one) is str:
            colons += one.count(":")
            holds_nul = holds_nul or _NUL in one
    return colons, holds_nul


def _refuse_repeated_names(body: bytes, *, deep: bool = True) -> None:
    """Raise Malformed if an object names a member twice; `deep` looks into every object, else the
    outermost only.
    """
    objects: list[list[str]] = []

    def seen(pairs: list[tuple[str, Any]]) -> None:
        objects.append([name for name, _ in pairs])

    try:
        json.loads(body, object_pairs_hook=seen, parse_int=str, parse_float=str)
    except RecursionError:
        raise Malformed("it is nested too deeply") from None
    for names in objects if deep else objects[-1:]:
        repeated = [name for name, times in Counter(names).items() if times > 1]
        if repeated:
            raise Malformed(f"the member {repeated[0]!r} stands twice")
