"""Finds the template of error bodies (section 7): what all have in common."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from typing import Any, Final

MESSAGE: Final = "{message}"
STATUS: Final = "{status}"
ANY: Final = "{any}"
# A text before the message ends so; other beginnings that messages share are part of them.
END_OF_LABEL: Final = re.compile(r"^.*(: |\] |\) | - )")

Path = tuple[str | int, ...]


def error_template(bodies: Sequence[tuple[Mapping[str, Any], int]]) -> dict[str, Any] | None:
    """The template of these bodies, each with its status; None if their shapes differ.

    A text that is another one in each body stands for the message; digits that are always the
    status stand for it. A member that is no text and differs, such as the status as a number, is
    left out, since a template has no word for it and allows further members.
    """
    leaves = [dict(_leaves(body)) for body, _ in bodies]
    if any(set(each) != set(leaves[0]) for each in leaves):
        return None
    statuses = [status for _, status in bodies]
    template: dict[str, Any] = {}
    for path in leaves[0]:
        values = [each[path] for each in leaves]
        if _differ_and_are_no_texts(values):
            if isinstance(path[-1], int):  # the items after it would move
                return None
            continue
        _set(template, path, _leaf(values, statuses))
    return template


def own_template(body: Mapping[str, Any]) -> dict[str, Any]:
    """The template of a body that one refusal has, which was seen too seldom to tell what varies.

    The first of its texts is the message, and every other may be any text; a number is left out.
    """
    words = iter((MESSAGE,))
    return {name: _any_text(value, words) for name, value in body.items() if not _is_number(value)}


def _any_text(value: Any, words: Iterator[str]) -> Any:
    if isinstance(value, str):
        return next(words, ANY)
    if isinstance(value, Mapping):
        return {
            name: _any_text(item, words) for name, item in value.items() if not _is_number(item)
        }
    if isinstance(value, list):
        return [_any_text(item, words) for item in value]
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def shape(body: Mapping[str, Any]) -> frozenset[Path]:
    """The places of a body's values, by which bodies of one kind are told."""
    return frozenset(path for path, _ in _leaves(body))


def _differ_and_are_no_texts(values: Sequence[Any]) -> bool:
    return not all(isinstance(value, str) for value in values) and any(
        value != values[0] or type(value) is not type(values[0]) for value in values
    )


def _leaf(values: Sequence[Any], statuses: Sequence[int]) -> Any:
    if not all(isinstance(value, str) for value in values):
        return values[0]
    with_status = [
        value.replace(str(status), STATUS) for value, status in zip(values, statuses, strict=True)
    ]
    if len(set(values)) == 1:
        return values[0]
    if len(set(with_status)) == 1:
        return with_status[0]
    label = END_OF_LABEL.match(_common_beginning(values))
    return f"{label.group() if label else ''}{MESSAGE}"


def _common_beginning(texts: Sequence[str]) -> str:
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False))
    return "".join(letters[0] for letters in same)


def _leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, Mapping) and value:
        for name, item in value.items():
            yield from _leaves(item, (*path, name))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))
    else:
        yield path, value


def _set(template: dict[str, Any], path: Path, value: Any) -> None:
    """Put a value into a template, at its place."""
    place: Any = template
    for step, following in pairwise(path):
        empty: Any = [] if isinstance(following, int) else {}
        if isinstance(place, list):
            if len(place) <= int(step):
                place.append(empty)
            place = place[int(step)]
        else:
            place = place.setdefault(step, empty)
    if isinstance(place, list):
        place.append(value)
    else:
        place[path[-1]] = value
