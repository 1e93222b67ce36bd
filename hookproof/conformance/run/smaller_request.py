"""Makes requests smaller: leaves parts out or shortens them, the largest cuts first.

The method, the path and the credentials of a request stay, whatever it is for. Texts that name an
address (a URL, a mail address) are left out or stay whole, since half of one may be the address of
somebody else.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from hookproof.conformance.target.client import encoded
from hookproof.target.masking.quotation_mask import HEADER_VARIABLE

Item = TypeVar("Item")

# Headers without which a request would be refused for another reason.
LASTING: Final = frozenset({"authorization", "content-type"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of a request that may become smaller.

    `query` holds the pieces of the query between `&`, as they were sent.
    """

    query: tuple[str, ...]
    headers: tuple[tuple[str, str], ...]
    content: bytes | None


def smaller_parts(parts: Parts, required: Collection[str] = ()) -> Iterator[Parts]:
    """Each way to make a request smaller by one cut.

    The members of the body that `required` names stay as they are.
    """
    for query in _without_some(parts.query):
        yield replace(parts, query=tuple(query))
    lasting = [(name, value) for name, value in parts.headers if _lasts(name, value)]
    further = [pair for pair in parts.headers if pair not in lasting]
    for headers in _without_some(further):
        yield replace(parts, headers=(*lasting, *headers))
    for place, piece in enumerate(parts.query):
        for shorter in _shorter_pieces(piece):
            yield replace(parts, query=(*parts.query[:place], shorter, *parts.query[place + 1 :]))
    if parts.content:
        for content in _smaller_bodies(parts.content, required):
            yield replace(parts, content=content)


def _lasts(name: str, value: str) -> bool:
    """Whether a header stays. Those that target.yaml adds are in each request, and masked."""
    return name.lower() in LASTING or value.startswith(f"${HEADER_VARIABLE}")


def smaller_values(value: Any, required: Collection[str] = ()) -> Iterator[Any]:
    """Each way to make a JSON value smaller by one cut: fewer members first, then smaller ones."""
    match value:
        case dict():
            yield from _smaller_objects(value, required)
        case list():
            yield from _without_some(value)
            for place, member in enumerate(value):
                for smaller in smaller_values(member):
                    yield [*value[:place], smaller, *value[place + 1 :]]
        case str():
            yield from _shorter_texts(value)
        case int() | float() if len(str(value)) > 1 and not isinstance(value, bool):
            yield 0


def _smaller_objects(value: dict[str, Any], required: Collection[str]) -> Iterator[dict[str, Any]]:
    names = [name for name in value if name not in required]
    for retained in _without_some(names):
        yield {
            name: member for name, member in value.items() if name in required or name in retained
        }
    for name in names:
        for smaller in smaller_values(value[name]):
            yield {**value, name: smaller}


def _smaller_bodies(content: bytes, required: Collection[str]) -> Iterator[bytes]:
    try:
        value = json.loads(content)
        compact = encoded(value)
    except (ValueError, RecursionError):
        yield from _shorter_contents(content)
        return
    if len(compact) < len(content):
        yield compact
    for smaller in smaller_values(value, required):
        yield encoded(smaller)


def _without_some(items: Sequence[Item]) -> Iterator[list[Item]]:
    """The items without all, without each half, each quarter and so on, down to each item."""
    size = len(items)
    while size:
        for start in range(0, len(items), size):
            yield [*items[:start], *items[start + size :]]
        size //= 2


def _shorter_texts(text: str) -> Iterator[str]:
    if "://" not in text and "@" not in text:
        for length in _shorter_lengths(len(text)):
            yield text[:length]


def _shorter_contents(content: bytes) -> Iterator[bytes]:
    for length in _shorter_lengths(len(content)):
        yield content[:length]


def _shorter_pieces(piece: str) -> Iterator[str]:
    name, sign, value = piece.partition("=")
    if sign and "%" not in value:  # half of an escape sequence would be another request
        for shorter in _shorter_texts(value):
            yield f"{name}={shorter}"


def _shorter_lengths(length: int) -> Iterator[int]:
    yield from sorted({part for part in (0, length // 2, length * 3 // 4) if part < length})
