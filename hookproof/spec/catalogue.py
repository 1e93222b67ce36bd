"""The catalogue: every requirement of the document, and every gap that a dialect answers.

They are in `requirements.yaml` and `gaps.yaml`, which explain their members. Reading them checks
them against each other, the operations of `openapi.yaml` and the fields of `dialect/model.py`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, get_type_hints

from hookproof.spec.about import (
    DELIVERY,
    GROUPS,
    UNSAID,
    About,
    Use,
    about_problems,
    did_you_mean,
    read_about,
)
from hookproof.spec.contract.service_contract import OPERATION_IDS
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.strict_yaml.file_problem import FileProblems, Location
from hookproof.spec.strict_yaml.reader import check_yaml, parse_yaml, read_text

REQUIREMENTS: Final = Path(__file__).parent / "requirements.yaml"
GAPS: Final = Path(__file__).parent / "gaps.yaml"

ALL_OPERATIONS: Final = "all"
# An entry of `common_mistakes` that refers to the texts of another requirement.
_REQUIREMENT_ID: Final = re.compile(r"[1-9](\.[1-9])?-\d+")
# The first set of requirements: of all that do not say with which they came.
FIRST_SET: Final = "2026.11"
# Fields that identify a dialect and answer no gap.
LABELS: Final = frozenset({"name", "summary", "assumed"})


class Level(StrEnum):
    """What a requirement rests on; totals are kept for each of the three."""

    STATED = "stated"
    OPEN = "open"
    HYGIENE = "hygiene"


# From what counts most to what counts least.
LEVELS: Final = tuple(Level)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One testable sentence, in our words; without `operations` only deliveries show it.

    `follows_from` are the requirements whose violation leaves nothing of this one to be violated.
    `since` is the set of requirements with which it came: a year and a month, which sort as texts.
    `severe`: whether a violation loses data, or shows it to somebody whom it is not for. `answers`
    are the fields of its gaps by which it is judged, all of them if it is None. `about` says what
    the sentence says, in data.
    """

    id: str
    section: str
    level: Level
    operations: tuple[str, ...]
    text: str
    gaps: tuple[str, ...]
    untestable: str | None
    common_mistakes: tuple[str, ...] = ()
    follows_from: tuple[str, ...] = ()
    since: str = FIRST_SET
    severe: bool = False
    answers: tuple[str, ...] | None = None
    about: About = UNSAID


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """One question that the document leaves open, and the dotted fields of Dialect that answer it.

    `declared` is true if the document itself says that it leaves this open.
    """

    id: str
    section: str
    declared: bool
    question: str
    dialect: tuple[str, ...]


class UnknownLaw(ValueError):
    """A reference to a law that no requirement has there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """All requirements and gaps by id, and the titles of the document's sections by number.

    All in the order of the document.
    """

    sections: Mapping[str, str]
    requirements: Mapping[str, Requirement]
    gaps: Mapping[str, Gap]

    def depends_on(self, requirement: Requirement) -> Iterator[tuple[Gap, tuple[str, ...]]]:
        """The gaps of a requirement, each with those of its fields by which it is judged."""
        for gap in (self.gaps[name] for name in requirement.gaps):
            names = gap.dialect if requirement.answers is None else requirement.answers
            yield gap, tuple(name for name in gap.dialect if name in names)

    def upstream(self, requirement: str) -> frozenset[str]:
        """All requirements that this one may follow from, directly or through others."""
        by_id = {name: one.follows_from for name, one in self.requirements.items()}
        return _reached(requirement, by_id) - {requirement}

    def of_laws(self, references: Iterable[str]) -> tuple[str, ...]:
        """The ids of the requirements that laws stand for; raises UnknownLaw.

        A reference is a law, or one at an operation, with a field or without:
        `echoed@createEndpoint.name`. In place of the operation may stand a group of them, `*` for
        any, and `delivery` for requirements that only deliveries show. The id of a requirement
        stands for itself.
        """
        return tuple(dict.fromkeys(name for one in references for name in self._of_law(one)))

    def _of_law(self, reference: str) -> tuple[str, ...]:
        if reference in self.requirements:
            return (reference,)
        law, _, place = reference.partition("@")
        operation, _, field = place.partition(".")
        meant = {*GROUPS.get(operation, (operation,))}
        found = tuple(
            one.id
            for one in self.requirements.values()
            if one.about.law == law
            and (operation in ("", "*") or meant.intersection(one.operations or (DELIVERY,)))
            and (not field or field in one.about.fields)
        )
        if not found:
            laws = {one.about.law for one in self.requirements.values()}
            raise UnknownLaw(f"no requirement has the law {reference}{did_you_mean(law, laws)}")
        return found

    def select(self, selector: str) -> tuple[Requirement, ...]:
        """The requirements whose id or section matches; `*`, `?` and `[...]` are wildcards."""
        return tuple(
            requirement
            for requirement in self.requirements.values()
            if fnmatchcase(requirement.id, selector) or fnmatchcase(requirement.section, selector)
        )


@cache
def load_catalogue(requirements: Path = REQUIREMENTS, gaps: Path = GAPS) -> Catalogue:
    """The catalogue in two files; raises FileProblems with all problems of the first bad file."""
    gaps_by_id = {entry["id"]: _gap(entry) for entry in _read(gaps, _gaps_schema(), _gap_problems)}
    sections = _read(requirements, _sections_schema(gaps_by_id), _section_problems)
    mistakes = _own_mistakes(sections)
    all_requirements = [
        _requirement(section["section"], entry, mistakes)
        for section in sections
        for entry in section["requirements"]
    ]
    return Catalogue(
        sections=MappingProxyType({section["section"]: section["title"] for section in sections}),
        requirements=MappingProxyType(
            {requirement.id: requirement for requirement in all_requirements}
        ),
        gaps=MappingProxyType(gaps_by_id),
    )


def dialect_fields() -> frozenset[str]:
    """The dotted name of every field of a dialect that answers a gap."""
    return frozenset(_leaves(Dialect)) - LABELS


def _leaves(kind: type[Any], group: str = "") -> Iterator[str]:
    hints = get_type_hints(kind)
    for field in fields(kind):
        hint = hints[field.name]
        if isinstance(hint, type) and is_dataclass(hint):
            yield from _leaves(hint, f"{group}{field.name}.")
        else:
            yield f"{group}{field.name}"


def _gap(entry: Mapping[str, Any]) -> Gap:
    return Gap(
        id=entry["id"],
        section=entry["section"],
        declared=entry["declared"],
        question=entry["question"],
        dialect=tuple(entry["dialect"]),
    )


def _own_mistakes(sections: list[Any]) -> Mapping[str, tuple[str, ...]]:
    """The texts under `common_mistakes`, by requirement, without references to others."""
    requirements = [entry for section in sections for entry in section["requirements"]]
    ids = {requirement["id"] for requirement in requirements}
    return {
        requirement["id"]: tuple(
            item for item in requirement.get("common_mistakes", []) if item not in ids
        )
        for requirement in requirements
    }


def _requirement(
    section: str, entry: Mapping[str, Any], mistakes: Mapping[str, tuple[str, ...]]
) -> Requirement:
    return Requirement(
        id=entry["id"],
        section=section,
        level=Level(entry["level"]),
        operations=_operations(entry),
        text=entry["text"],
        gaps=tuple(entry.get("gaps", [])),
        untestable=entry.get("untestable"),
        about=read_about(entry["about"], _operations(entry)),
        common_mistakes=tuple(
            text
            for item in entry.get("common_mistakes", [])
            for text in mistakes.get(item, (item,))
        ),
        follows_from=tuple(entry.get("follows_from", [])),
        since=entry.get("since", FIRST_SET),
        severe=entry.get("severe", False),
        answers=tuple(entry["answers"]) if "answers" in entry else None,
    )


def _operations(entry: Mapping[str, Any]) -> tuple[str, ...]:
    operations = entry.get("operations", [])
    return OPERATION_IDS if operations == ALL_OPERATIONS else tuple(operations)


_Problems = Iterator[tuple[Location, str]]


def _read(
    path: Path, schema: Mapping[str, Any], problems_in: Callable[[list[Any]], _Problems]
) -> Any:
    """The list in a file that agrees with the schema and has none of these further problems."""
    content = parse_yaml(read_text(path), str(path))
    check_yaml(content, schema, str(path))
    problems = [
        content.problem(location, message) for location, message in problems_in(content.value)
    ]
    if problems:
        raise FileProblems(str(path), problems)
    return content.value


def _gap_problems(gaps: list[Any]) -> _Problems:
    yield from _repetitions(((place, "id"), gap["id"]) for place, gap in enumerate(gaps))
    yield from _repetitions(
        ((place, "dialect", index), name)
        for place, gap in enumerate(gaps)
        for index, name in enumerate(gap["dialect"])
    )


def _section_problems(sections: list[Any]) -> _Problems:
    requirements = [
        ((place, "requirements", index), section["section"], requirement)
        for place, section in enumerate(sections)
        for index, requirement in enumerate(section["requirements"])
    ]
    yield from _repetitions(
        ((place, "section"), section["section"]) for place, section in enumerate(sections)
    )
    yield from _repetitions(
        ((*location, "id"), requirement["id"]) for location, _, requirement in requirements
    )
    yield from _mistake_problems(sections, requirements)
    yield from _upstream_problems(requirements)
    for location, section, requirement in requirements:
        for inside, message in about_problems(requirement["about"], _operations(requirement)):
            yield (*location, "about", *inside), message
        if requirement["id"].rpartition("-")[0] != section:
            yield (
                (*location, "id"),
                f'{requirement["id"]} stands in section {section}, so it begins with "{section}-"',
            )
        if requirement["level"] == Level.OPEN and not requirement.get("gaps"):
            yield (
                location,
                f"{requirement['id']} is open, so it names the gap by whose answer it is judged",
            )


def _mistake_problems(
    sections: list[Any], requirements: Iterable[tuple[Location, str, Mapping[str, Any]]]
) -> _Problems:
    mistakes = _own_mistakes(sections)
    for location, _, requirement in requirements:
        for index, item in enumerate(requirement.get("common_mistakes", [])):
            if _REQUIREMENT_ID.fullmatch(item) and not mistakes.get(item):
                yield (
                    (*location, "common_mistakes", index),
                    f"{item} names no requirement that has a text of its own here",
                )


def _upstream_problems(
    requirements: Sequence[tuple[Location, str, Mapping[str, Any]]],
) -> _Problems:
    """A failure is never put down to a lighter one, to itself, or to a requirement not tested."""
    by_id = {requirement["id"]: requirement for _, _, requirement in requirements}
    upstream = {name: one.get("follows_from", ()) for name, one in by_id.items()}
    for location, _, requirement in requirements:
        for index, name in enumerate(requirement.get("follows_from", [])):
            place, other = (*location, "follows_from", index), by_id.get(name)
            if other is None or other.get("untestable"):
                yield place, f"{name} is no requirement that is tested"
            elif LEVELS.index(other["level"]) > LEVELS.index(requirement["level"]):
                yield place, f"{name} is {other['level']}, which counts less than this one's level"
            elif requirement["id"] in _reached(name, upstream):
                yield place, f"{name} follows from {requirement['id']} itself"


def _reached(name: str, upstream: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """A requirement and all that it follows from, directly or through others."""
    reached: set[str] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current not in reached:
            reached.add(current)
            waiting.extend(upstream.get(current, ()))
    return frozenset(reached)


def _repetitions(names: Iterable[tuple[Location, str]]) -> _Problems:
    seen: set[str] = set()
    for location, name in names:
        if name in seen:
            yield location, f"{name} was given before; it can stand once"
        seen.add(name)


_SENTENCE: Final = {"type": "string", "minLength": 1}
_SECTION: Final = {
    "type": "string",
    "pattern": r"^[1-9](\.[1-9])?$",
    "x-expected": 'a section such as "4" or "4.3"',
}


def _gaps_schema() -> Mapping[str, Any]:
    return _list_of(
        required={
            "id": {
                "type": "string",
                "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$",
                "x-expected": "words in-kebab-case",
            },
            "section": _SECTION,
            "declared": {"type": "boolean"},
            "question": _SENTENCE,
            "dialect": {**_some_of(dialect_fields(), "a field of a dialect"), "minItems": 1},
        }
    )


def _sections_schema(gaps: Iterable[str]) -> Mapping[str, Any]:
    operations = {**_some_of(OPERATION_IDS, "an operationId of openapi.yaml"), "minItems": 1}
    requirements = _list_of(
        required={
            "id": {
                "type": "string",
                "pattern": r"^.+-[1-9]\d*$",
                "x-expected": 'an id such as "4.3-2"',
            },
            "level": {"enum": [level.value for level in Level]},
            "text": _SENTENCE,
            "about": _about_schema(),
        },
        optional={
            "operations": {"anyOf": [{"const": ALL_OPERATIONS}, operations]},
            "gaps": _some_of(gaps, "an id of the gaps file"),
            "answers": _some_of(dialect_fields(), "a field of a dialect"),
            "untestable": _SENTENCE,
            "common_mistakes": {
                "type": "array",
                "items": _SENTENCE,
                "minItems": 1,
                "uniqueItems": True,
            },
            "severe": {"const": True},
            "since": {
                "type": "string",
                "pattern": r"^20\d\d\.(0[1-9]|1[0-2])$",
                "x-expected": "a year and a month such as 2027.02",
            },
            "follows_from": {
                "type": "array",
                "items": _SENTENCE,
                "minItems": 1,
                "uniqueItems": True,
            },
        },
    )
    return _list_of(
        required={"section": _SECTION, "title": _SENTENCE, "requirements": requirements}
    )


def _about_schema() -> dict[str, Any]:
    names = {"type": "array", "items": _SENTENCE, "minItems": 1, "uniqueItems": True}
    places = {
        "type": "object",
        "properties": dict.fromkeys((*GROUPS, *OPERATION_IDS), names),
        "additionalProperties": False,
    }
    law = {"type": "string", "pattern": "^[a-z_]+$", "x-expected": "a law, such as page_size"}
    return {
        "type": "object",
        "properties": {"law": law, "fields": names, **dict.fromkeys(Use, places)},
        "required": ["law"],
        "additionalProperties": False,
    }


def _list_of(
    required: Mapping[str, Any], optional: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    properties = {**required, **optional}
    item = {
        "type": "object",
        "properties": properties,
        "required": [*required],
        "additionalProperties": False,
    }
    return {"type": "array", "items": item, "minItems": 1}


def _some_of(words: Iterable[str], what: str) -> dict[str, Any]:
    return {
        "type": "array",
        "items": {"enum": sorted(words), "x-expected": what},
        "uniqueItems": True,
    }
