"""Finds the templates of a signature header from its value, and from where the signatures are."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

# A label of a signature, and what ends it.
LABEL: Final = re.compile(r"([A-Za-z]+[0-9]+[a-z]?)([=,:])$")

COUNT: Final = "{n}"
FEWEST_COUNTED: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderLayout:
    """The templates of a header; `separator` is None if there was one signature only."""

    value: str
    item: str
    separator: str | None
    versions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    start: int
    end: int
    label: str
    join: str


def layout_of(
    value: str, places: Sequence[tuple[int, int]], *, timestamp: str, event_id: str
) -> HeaderLayout:
    """The layout of a header's value with signatures at these places, in order."""
    items = [_item(value, *place) for place in places]
    if len({(bool(item.label), item.join) for item in items}) > 1:
        items = [_Item(start=start, end=end, label="", join="") for start, end in places]
    labels = tuple(item.label for item in items if item.label)
    template = f"{{version}}{items[0].join}{{signature}}" if labels else "{signature}"
    separator = value[items[0].end : items[1].start] if len(items) > 1 else None
    before = _with_fields(value[: items[0].start], timestamp, event_id)
    after = _with_fields(value[items[-1].end :], timestamp, event_id)
    return HeaderLayout(
        value=f"{before}{{signatures}}{after}",
        item=template,
        separator=separator,
        versions=_counted(labels) or _without_repetition(labels),
    )


def _item(value: str, start: int, end: int) -> _Item:
    match = LABEL.search(value[:start])
    if match is None:
        return _Item(start=start, end=end, label="", join="")
    return _Item(start=match.start(), end=end, label=match.group(1), join=match.group(2))


def _with_fields(text: str, timestamp: str, event_id: str) -> str:
    for field, found in (("{timestamp}", timestamp), ("{id}", event_id)):
        if found:
            text = text.replace(found, field)
    return text


def _counted(labels: tuple[str, ...]) -> tuple[str, ...]:
    """The label that counts the signatures, if these do; two of them may be all there are."""
    if len(labels) < FEWEST_COUNTED:
        return ()
    stem = labels[0].removesuffix("1")
    counted = tuple(f"{stem}{place}" for place in range(1, len(labels) + 1))
    return (f"{stem}{COUNT}",) if labels == counted else ()


def _without_repetition(labels: tuple[str, ...]) -> tuple[str, ...]:
    """The last label is that of all further signatures."""
    while len(labels) > 1 and labels[-1] == labels[-2]:
        labels = labels[:-1]
    return labels
