"""Reads dialects: shipped ones by name, others from a file or from a mapping in another file.

A file answers every gap, or names in `extends:` the dialect that answers what it leaves out. Groups
of answers are merged; a single answer replaces the inherited one completely, and is known even if
that was only assumed.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Final

from hookproof.spec.dialect.answer import UNREAD
from hookproof.spec.dialect.answers import answers_of, needed_fields, undecided_fields, with_answer
from hookproof.spec.dialect.contradictions import contradictions
from hookproof.spec.dialect.file_schema import ASSUMED, Schema, dialect_writing, field_names
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.writer import written_dialect
from hookproof.spec.strict_yaml.file_problem import Location
from hookproof.spec.strict_yaml.parser import YamlText
from hookproof.spec.strict_yaml.reader import (
    FileProblems,
    Problem,
    check_yaml,
    read_text,
    scan_yaml,
)
from hookproof.spec.strict_yaml.schema_wording import UNKNOWN_KEY, did_you_mean

EXTENDS: Final = "extends"
# What a dialect says about itself; it is never inherited.
OWN_FIELDS: Final = ("name", "summary")

_COMPLETE: Final = "reference"

_FOLDER: Final = Path(__file__).parents[1] / "dialects"
_SUFFIXES: Final = (".yaml", ".yml")
_NO_LINES: Final[Mapping[Location, int]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Origin:
    """Where a dialect is: its name for messages, its folder, and the files that led to it."""

    name: str
    folder: Path
    chain: tuple[Path, ...]


def shipped_dialects() -> tuple[str, ...]:
    """The names of the dialects that come with Hookproof."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))


def load_dialect(name_or_path: str) -> Dialect:
    """The shipped dialect of this name, or the one in a file; raises FileProblems.

    Text with a slash, or that ends in .yaml or .yml, is a path.
    """
    path = _path(name_or_path, Path())
    content = scan_yaml(read_text(path), str(path))
    return _dialect(content, _Origin(name=str(path), folder=path.parent, chain=(path.resolve(),)))


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedDialect:
    """A dialect that a server can act on. `taken` has the fields that the loaded one leaves
    undecided, by the name of the dialect that it extends and whose answers they have here.
    """

    dialect: Dialect
    taken: Mapping[str, tuple[str, ...]]


def load_decided_dialect(name_or_path: str) -> DecidedDialect:
    """The dialect, completed by the nearest one that it extends, for each answer that a server
    needs; raises FileProblems, as `load_dialect` does and where the answers contradict each other.
    """
    dialect = load_dialect(name_or_path)
    taken: dict[str, tuple[str, ...]] = {}
    for extended in _extended(_path(name_or_path, Path())):
        answers, open_there = dict(answers_of(extended)), undecided_fields(extended)
        missing = [name for name in needed_fields(dialect) if name not in open_there]
        for name in missing:
            dialect = with_answer(dialect, name.split("."), answers[name])
        if missing:
            taken[extended.name] = tuple(missing)
    if problems := [
        Problem(line=None, where=".".join(map(str, location)), message=message)
        for location, message in contradictions(dialect)
    ]:
        raise FileProblems(f"{name_or_path}, with answers of {' and '.join(taken)}", problems)
    return DecidedDialect(dialect=dialect, taken=taken)


def _extended(path: Path) -> Iterator[Dialect]:
    """The dialects that a valid one extends, the nearest first."""
    while EXTENDS in (content := scan_yaml(read_text(path), str(path)).value):
        path = _path(content[EXTENDS], path.parent)
        yield load_dialect(str(path))


def load_dialect_mapping(
    mapping: Mapping[str, Any],
    origin: str,
    *,
    folder: Path = Path(),
    lines: Mapping[Location, int] = _NO_LINES,
) -> Dialect:
    """A dialect inside another file, which `origin` names in messages; raises FileProblems.

    A path that it extends is relative to `folder`; `lines` has the line of the file on which each
    part begins.
    """
    return _dialect(
        YamlText(value=dict(mapping), lines=lines), _Origin(name=origin, folder=folder, chain=())
    )


def _dialect(content: YamlText, origin: _Origin) -> Dialect:
    try:
        answers = _answers(content, origin)
    except FileProblems as refusal:
        # What it extends is wrong, or what the answers that can be read would be completed by.
        if refusal.path != origin.name or origin.name == str(_path(_COMPLETE, Path())):
            raise
        reported = [_with_nearest_field(problem) for problem in refusal.problems]
        further = _problems_of_the_rest(content, origin, {problem.where for problem in reported})
        raise FileProblems(origin.name, [*reported, *further]) from None
    dialect: Dialect = dialect_writing().read(answers)
    if problems := list(_contradictions(dialect, content)):
        raise FileProblems(origin.name, problems)
    return dialect


def _contradictions(dialect: Dialect, content: YamlText) -> Iterator[Problem]:
    for location, message in contradictions(dialect):
        yield content.problem(location, message)


def _problems_of_the_rest(
    content: YamlText, origin: _Origin, wrong: Collection[str]
) -> Iterator[Problem]:
    """What contradicts each other among the answers of a file of which others, at the places
    `wrong`, cannot be read.
    """
    if not isinstance(content.value, dict):
        return
    inherited: dict[str, Any] = {}
    if EXTENDS in content.value and EXTENDS not in wrong:
        try:
            inherited = _inherited(content, origin)
        except FileProblems as refusal:
            yield from refusal.problems if refusal.path == origin.name else ()
    schema = dialect_writing().schema
    known = _merged(
        _without(wrong, inherited, schema), _without(wrong, content.value, schema), schema
    )
    yield from _contradictions(_partly_read(known), content)


def _without(
    wrong: Collection[str], answers: Mapping[str, Any], schema: Schema, group: str = ""
) -> dict[str, Any]:
    """The answers of a group, and of those within it, that are not at one of these places."""
    readable: dict[str, Any] = {}
    for name, value in schema["properties"].items():
        where = f"{group}{name}"
        if name not in answers or where in wrong:
            continue
        if "required" in value:
            readable[name] = _without(wrong, answers[name], value, f"{where}.")
        elif not any(place.startswith((f"{where}.", f"{where}[")) for place in wrong):
            readable[name] = answers[name]
    return readable


def _partly_read(known: dict[str, Any]) -> Dialect:
    """The dialect with these answers; all others are UNREAD."""
    schema = dialect_writing().schema
    dialect: Dialect = dialect_writing().read(_merged(_complete_answers(), known, schema))
    for name, _ in list(answers_of(dialect)):
        steps = name.split(".")
        group: Any = known
        for step in steps[:-1]:
            group = group.get(step, {})
        if steps[-1] not in group:
            dialect = with_answer(dialect, steps, UNREAD)
    return dialect


@cache
def _complete() -> Dialect:
    """A dialect that has an answer in each of its fields."""
    return load_dialect(_COMPLETE)


@cache
def _complete_answers() -> dict[str, Any]:
    return written_dialect(_complete())


def _with_nearest_field(problem: Problem) -> Problem:
    """A problem that names the field of another group, if an unknown key is like its name."""
    if not problem.message.startswith(UNKNOWN_KEY):
        return problem
    fields: dict[str, list[str]] = {}
    for name, _ in answers_of(_complete()):
        fields.setdefault(name.rpartition(".")[-1], []).append(name)
    close = get_close_matches(problem.where.rpartition(".")[-1], fields, n=1)
    words = f"unknown key here; did you mean {' or '.join(fields[close[0]])}?" if close else ""
    return replace(problem, message=words or problem.message)


def _answers(content: YamlText, origin: _Origin) -> dict[str, Any]:
    """The answers of a file, including inherited ones."""
    if not (isinstance(content.value, dict) and EXTENDS in content.value):
        check_yaml(content, dialect_writing().schema, origin.name)
        return dict(content.value)
    check_yaml(content, partial_schema(), origin.name)
    own = {key: value for key, value in content.value.items() if key != EXTENDS}
    schema, inherited = dialect_writing().schema, _inherited(content, origin)
    answered = {*field_names(schema, own)}
    still = [name for name in inherited.get(ASSUMED, ()) if name not in answered]
    merged = _merged(inherited, own, schema)
    return {**merged, ASSUMED: list(dict.fromkeys([*still, *own.get(ASSUMED, ())]))}


def _inherited(content: YamlText, origin: _Origin) -> dict[str, Any]:
    try:
        path = _path(content.value[EXTENDS], origin.folder)
        text = read_text(path)
    except FileProblems as refusal:
        raise FileProblems(origin.name, [content.problem((EXTENDS,), str(refusal))]) from None
    if path.resolve() in origin.chain:
        raise FileProblems(
            origin.name,
            [content.problem((EXTENDS,), "this leads back to a dialect that extends it")],
        )
    chain = (*origin.chain, path.resolve())
    return _answers(
        scan_yaml(text, str(path)), _Origin(name=str(path), folder=path.parent, chain=chain)
    )


def _path(name_or_path: str, folder: Path) -> Path:
    if "/" in name_or_path or name_or_path.endswith(_SUFFIXES):
        return folder / name_or_path
    shipped = shipped_dialects()
    if name_or_path in shipped:
        return _FOLDER / f"{name_or_path}.yaml"
    known = f"expected one of: {', '.join(shipped)}, or the path of a file that ends in .yaml"
    message = f"no such dialect; {known}{did_you_mean(name_or_path, shipped)}"
    raise FileProblems(name_or_path, [Problem(line=None, where="", message=message)])


def partial_schema() -> Schema:
    """The schema of a file that extends another: only its name and summary are required."""
    schema = _without_required(dialect_writing().schema)
    extends = {
        "type": "string",
        "minLength": 1,
        "description": "the dialect that answers what is left out here",
    }
    return {
        **schema,
        "properties": {EXTENDS: extends, **schema["properties"]},
        "required": [*OWN_FIELDS],
    }


def _without_required(schema: Schema) -> Schema:
    """The schema of a group whose fields, and those of inner groups, are all optional."""
    if "required" not in schema:
        return schema
    properties = {name: _without_required(value) for name, value in schema["properties"].items()}
    return {**schema, "properties": properties, "required": []}


def _merged(inherited: dict[str, Any], own: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """Own answers over inherited ones; only groups, recognised by required fields, are merged."""
    answers: dict[str, Any] = {}
    for name, value in schema["properties"].items():
        if name in inherited and name in own and "required" in value:
            answers[name] = _merged(inherited[name], own[name], value)
        elif name in own or name in inherited:  # neither has an answer that a file need not have
            answers[name] = own[name] if name in own else inherited[name]
    return answers
