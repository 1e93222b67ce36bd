"""The shapes of answers: which fields they have, how often, and of which types."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

# In place of names that are data and no fields, such as those of headers.
ANY: Final = "*"
# The field with such names that the document has in an answer (section 2.8).
FREE: Final = "headers"
MOST_NAMES: Final = 40
_FIELD: Final = re.compile("[A-Za-z_][A-Za-z0-9_-]{0,63}")
# How deeply objects and lists in each other are looked at.
DEEPEST: Final = 8

_TYPES: Final = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldShape:
    """How often a field was there, of how many objects that could have had it, and its types."""

    seen: int
    of: int
    types: Mapping[str, int]

    @property
    def kinds(self) -> tuple[bool, frozenset[str]]:
        """Whether it is always there, and its types: what makes two shapes differ."""
        return self.seen == self.of, frozenset(self.types)


@dataclass(slots=True)
class ShapeCounter:
    """Counts the fields of objects of one kind."""

    _objects: Counter[str] = field(default_factory=Counter)
    _types: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    _names: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, value: Any, closed: Collection[str] = ()) -> None:
        """Count a value and what is in it, but for what is in these of its fields."""
        if not isinstance(value, dict) or not closed:
            self._add("", value, 0)
            return
        self._types[""]["object"] += 1
        for name, member in self._inner("", value):
            self._add(name, member, DEEPEST if name in closed else 1)

    def shapes(self) -> dict[str, FieldShape]:
        """The shape of each field by its path, such as `oauth2.scope`, in that order."""
        return {
            path: FieldShape(
                seen=sum(types.values()),
                of=max(sum(types.values()), self._objects[_around(path)]),
                types=dict(types),
            )
            for path, types in sorted(self._types.items())
        }

    def _add(self, path: str, value: Any, depth: int) -> None:
        self._types[path][_TYPES.get(type(value), "number")] += 1
        if depth == DEEPEST:
            return
        for inner, member in self._inner(path, value):
            self._add(inner, member, depth + 1)

    def _inner(self, path: str, value: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(value, list):
            yield from ((f"{path}[]", member) for member in value)
        elif isinstance(value, dict):
            self._objects[path] += 1
            for name, member in value.items():
                yield f"{path}.{self._name(path, name)}".removeprefix("."), member

    def _name(self, path: str, name: str) -> str:
        if path == FREE:
            return ANY
        known = self._names[path]
        if name not in known and (len(known) >= MOST_NAMES or not _FIELD.fullmatch(name)):
            return ANY
        known.add(name)
        return name


def _around(path: str) -> str:
    """The path of the object that a field is in."""
    return path.rpartition(".")[0]
