"""Strict YAML: the value of a text, and the line of each part of it.

Strict means: mappings, lists, texts, numbers, true, false and null, and nothing else. A key occurs
once and is always a text; anchors, aliases, tags and second documents are refused; `no`, `on` and
dates are texts. The depth is bounded, and parsing works on events, since composing nodes recurses
without a bound.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from hookproof.spec.strict_yaml.file_problem import FileProblems, Location, Problem, spelled

DEEPEST_NESTING: Final = 64
# In digits.
LONGEST_INTEGER: Final = 40

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CONSTANTS: Final = {"true": True, "false": False, "null": None, "~": None, "": None}
_INTEGER: Final = re.compile(r"[-+]?[0-9]+")
_FLOAT: Final = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlText:
    """A value, the line on which each location in it begins, and the problems of the text.

    A value that is not from a text has no lines.
    """

    value: Any
    lines: Mapping[Location, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def problem(self, location: Location, message: str) -> Problem:
        """A problem with the value at `location`, on the line of its innermost known part."""
        around = (location[:length] for length in range(len(location), -1, -1))
        line = next((self.lines[place] for place in around if place in self.lines), None)
        return Problem(line=line, where=spelled(location), message=message)


def parse_yaml(text: str, path: str) -> YamlText:
    """The value of a text; raises FileProblems, in which `path` is the name of the text."""
    content = scan_yaml(text, path)
    if content.problems:
        raise FileProblems(path, content.problems)
    return content


def scan_yaml(text: str, path: str) -> YamlText:
    """The value of a text and its problems; raises FileProblems for a text that is not YAML."""
    parsing = _Parsing(text)
    try:
        return YamlText(
            value=parsing.document(), lines=parsing.lines, problems=tuple(parsing.problems)
        )
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        parsing.report(
            mark.line + 1 if mark else None,
            (),
            f"this is not YAML: {error.problem or error.context}",
        )
    except yaml.reader.ReaderError as error:
        line = text.encode().count(b"\n", 0, error.position) + 1
        parsing.report(line, (), f"this is not YAML: {error.reason}")
    except _TooDeep as error:
        parsing.report(error.line, (), f"this is nested more than {DEEPEST_NESTING} levels deep")
    raise FileProblems(path, parsing.problems)


class _TooDeep(Exception):
    """The text is nested below DEEPEST_NESTING."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


class _Parsing:
    """One pass over the events of a text, which collects lines and problems."""

    def __init__(self, text: str) -> None:
        self._events: Iterator[Any] = iter(yaml.parse(text, Loader=_LOADER))
        self.lines: dict[Location, int] = {(): 1}
        self.problems: list[Problem] = []

    def report(self, line: int | None, location: Location, message: str) -> None:
        self.problems.append(Problem(line=line, where=spelled(location), message=message))

    def document(self) -> Any:
        """The value of the only document, None if there is none."""
        value, documents = None, 0
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self.report(_line(event), (), "a second document begins here; a file holds one")
                    break
                value = self._value(next(self._events), ())
        return value

    def _value(self, event: Any, location: Location) -> Any:
        if len(location) > DEEPEST_NESTING:
            raise _TooDeep(_line(event))
        if isinstance(event, yaml.AliasEvent):
            self.report(
                _line(event),
                location,
                f"the alias *{event.anchor} is not accepted; write the value out",
            )
            return None
        self._refuse_properties(event, location)
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(location)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(location)
        return self._scalar(event, location)

    def _mapping(self, location: Location) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key, line = self._key(event, location), _line(event)
            if key in mapping:
                self.report(
                    line,
                    (*location, key),
                    f"is given twice, first on line {self.lines[*location, key]}",
                )
            self.lines.setdefault((*location, key), line)
            mapping[key] = self._value(next(self._events), (*location, key))
        return mapping

    def _key(self, event: Any, location: Location) -> str:
        if isinstance(event, yaml.ScalarEvent):
            self._refuse_properties(event, location)
            return str(event.value)
        self.report(
            _line(event), location, "a key must be one word, not a mapping, a list or an alias"
        )
        self._value(event, (*location, "?"))
        return "?"

    def _refuse_properties(self, event: Any, location: Location) -> None:
        if event.anchor is not None:
            self.report(
                _line(event),
                location,
                f"the anchor &{event.anchor} is not accepted; write a plain value",
            )
        if event.tag not in (None, "!"):
            self.report(
                _line(event), location, f"the tag {event.tag} is not accepted; write a plain value"
            )

    def _sequence(self, location: Location) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            self.lines[*location, len(items)] = _line(event)
            items.append(self._value(event, (*location, len(items))))
        return items

    def _scalar(self, event: Any, location: Location) -> Any:
        text = event.value
        if not event.implicit[0]:
            return text
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        number = _number(text)
        if isinstance(number, float) and math.isinf(number):
            self.report(_line(event), location, "this number is too large")
        return text if number is None else number


def _number(text: str) -> int | float | None:
    """The number that a plain text stands for, infinite if too large, None if not one."""
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) <= LONGEST_INTEGER else math.inf
    return float(text) if _FLOAT.fullmatch(text) else None


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1
