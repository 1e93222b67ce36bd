"""Texts within a request, by the names that conditions of filters and challenges have for them.

| Name | What it is |
|---|---|
| `method` | the method |
| `header:NAME` | a header |
| `query:NAME` | a parameter of the URL |
| `body:PATH` | a member of a JSON body, such as `data.items.0.sku`, or a field of a form |

In a path a number is a place in a list, from 0, and `*` stands for any of its elements.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final, Self
from urllib.parse import parse_qs, urlsplit

from hookproof.receiver.signatures.schemes.request_parts import FORM, inflated

NAME: Final = re.compile(r"method|(?:header|query|body):[^\s{}]+")
NAMES: Final = "method, header:NAME, query:NAME or body:PATH"
ANY: Final = "*"


class Request:
    """A request whose values are looked up; `target` is its path and query."""

    def __init__(
        self, method: str, target: str, headers: Sequence[tuple[str, str]], body: bytes
    ) -> None:
        self.method = method
        self._target = target
        self._headers = headers
        self._body = body
        self._read: tuple[Any] | None = None

    def values(self, name: str) -> list[str]:
        """All texts of this name, which `NAME` describes; never raises."""
        kind, _, rest = name.partition(":")
        if kind == "method":
            return [self.method]
        if kind == "header":
            return [value for each, value in self._headers if each.lower() == rest.lower()]
        if kind == "query":
            return _query(self._target).get(rest, [])
        return [_text(value) for value in _at(self._content(), rest.split("."))]

    def _content(self) -> Any:
        """The body, parsed as JSON or as a form, once."""
        if self._read is None:
            self._read = (self._parsed(),)
        return self._read[0]

    def _parsed(self) -> Any:
        compressed = any(name.lower() == "content-encoding" for name, _ in self._headers)
        body = inflated(self._body) if compressed else self._body
        try:
            value = json.loads(body, parse_float=str, parse_int=str)
        except (ValueError, RecursionError):
            value = None
        # `curl -d` calls JSON a form, too.
        if not isinstance(value, dict | list) and self._is_form():
            fields = parse_qs(body.decode(errors="replace"), keep_blank_values=True)
            return {name: values[0] for name, values in fields.items()}
        return value

    def _is_form(self) -> bool:
        return any(
            name.lower() == "content-type" and FORM in value.lower()
            for name, value in self._headers
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Whether a value of a request has a text, in which `*` stands for anything."""

    name: str
    pattern: str
    negated: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `NAME=TEXT`, `NAME!=TEXT`, or `NAME` for one that has to be there.

        Raises ValueError.
        """
        name, equals, pattern = text.partition("=")
        negated = bool(equals) and name.endswith("!")
        return cls.of(name.removesuffix("!"), pattern if equals else ANY, negated=negated)

    @classmethod
    def of(cls, name: str, pattern: str, *, negated: bool = False) -> Self:
        """A condition on this value; raises ValueError for a name that is none."""
        name = name.strip()
        if not NAME.fullmatch(name):
            raise ValueError(f"{name[:60]!r} is no value of a request: give {NAMES}")
        return cls(name=name, pattern=pattern, negated=negated)

    def matches(self, request: Request) -> bool:
        # Of the signs of fnmatch, only the star is one here.
        pattern = self.pattern.replace("[", "[[]").replace("?", "[?]")
        found = any(fnmatchcase(each, pattern) for each in request.values(self.name))
        return found is not self.negated


def _query(target: str) -> dict[str, list[str]]:
    try:
        return parse_qs(urlsplit(target).query, keep_blank_values=True)
    except ValueError:
        return {}


def _at(value: Any, path: Sequence[str]) -> Iterator[Any]:
    """What stands at a path."""
    if not path:
        yield value
    elif isinstance(value, dict):
        if path[0] in value:
            yield from _at(value[path[0]], path[1:])
    elif isinstance(value, list):
        if path[0] == ANY:
            for each in value:
                yield from _at(each, path[1:])
        elif path[0].isdecimal() and int(path[0]) < len(value):
            yield from _at(value[int(path[0])], path[1:])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
