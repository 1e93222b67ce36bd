"""Writes what was learned: dialect.yaml, target.yaml and learned.html."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from hookproof.conformance.learning.learned_answers import (
    NAME,
    Certainty,
    LearnedAnswer,
    LearnedAnswers,
)
from hookproof.conformance.learning.learner import Learned
from hookproof.conformance.learning.report import page
from hookproof.conformance.target.definition import Target
from hookproof.process.exit_codes import CommandError
from hookproof.process.terminal_text import printable
from hookproof.process.written_file import FileNotWritten
from hookproof.process.written_file import write_files as write_all
from hookproof.spec.dialect.file_schema import ASSUMED
from hookproof.spec.dialect.reader import EXTENDS
from hookproof.spec.dialect_schema import dialect_schema
from hookproof.spec.strict_yaml.editor_schema import naming_comment, write_schema_beside
from hookproof.target.editor_schema import target_schema

DIALECT: Final = "dialect.yaml"
TARGET: Final = "target.yaml"
PAGE: Final = "learned.html"
# The kind of each file that editors can check, and its schema.
SCHEMAS: Final[Mapping[str, tuple[str, Callable[[], Mapping[str, Any]]]]] = {
    DIALECT: ("dialect", dialect_schema),
    TARGET: ("target", target_schema),
}
SUFFIXES: Final = (".yaml", ".yml")
VARIABLE: Final = "HOOKPROOF_API_KEY"


def write_files(
    learned: Learned, target: Target, out: Path, *, target_file: Path | None
) -> tuple[Path, ...]:
    """Write the files into the folder and return their paths; raises CommandError.

    The file that describes the target is left as it is, if there is one already.
    """
    texts = {DIALECT: dialect_text(learned.answers, out), PAGE: page(learned, target)}
    if target_file is None:
        texts[TARGET] = target_text(target, out)
    return _written(texts, out)


def write_learned_dialect(learned: Learned, target: Target, out: Path) -> Path:
    """Write dialect.yaml and learned.html into the folder; returns the path of the first."""
    texts = {DIALECT: dialect_text(learned.answers, out), PAGE: page(learned, target)}
    return _written(texts, out)[0]


def _written(texts: Mapping[str, str], out: Path) -> tuple[Path, ...]:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"--out {out} cannot be written to: {error.strerror or error}") from None
    written = {out / name: _with_schema(name, text) for name, text in texts.items()}
    write_all(written)
    try:
        for name, (kind, schema) in SCHEMAS.items():
            if name in texts:
                write_schema_beside(out / name, kind, schema())
    except OSError as error:
        raise FileNotWritten(Path(error.filename or out), error) from None
    return tuple(written)


def _with_schema(name: str, text: str) -> str:
    """The text of a file, which names its schema for editors if it has one."""
    return f"{naming_comment(SCHEMAS[name][0])}{text}" if name in SCHEMAS else text


def dialect_text(answers: LearnedAnswers, out: Path) -> str:
    """The file of the dialect in this folder: what differs from the one that it extends, each with
    its reason.
    """
    # A file that is extended is named as seen from the folder.
    is_file = "/" in answers.extends or Path(answers.extends).suffix in SUFFIXES
    extends = os.path.relpath(answers.extends, out) if is_file else answers.extends
    lines = [
        "# Learned by `hookproof learn`. What is not here is as in the dialect that it extends.",
        f"{EXTENDS}: {_spelled(extends)}",
        f"name: {NAME}",
        "summary: Learned from what the target was seen to do.",
    ]
    if answers.assumed:
        lines += [
            "# Neither given nor seen: these answers are acted on, and nothing is judged by them.",
            f"{ASSUMED}:",
            *(f"  - {name}" for name in answers.assumed),
        ]
    differing = [answer for answer in answers if answers.differs(answer)]
    lines += _group_lines(_tree(differing), "")
    return "\n".join(lines) + "\n"


def _tree(answers: list[LearnedAnswer]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for answer in answers:
        *groups, last = answer.field.split(".")
        group = tree
        for name in groups:
            group = group.setdefault(name, {})
        group[last] = answer
    return tree


def _group_lines(group: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, value in group.items():
        if isinstance(value, LearnedAnswer):
            yield f"{indent}{name}: {_spelled(value.written)}  # {comment(value)}"
        else:
            if not indent:
                yield ""
            yield f"{indent}{name}:"
            yield from _group_lines(value, indent + "  ")


def comment(answer: LearnedAnswer) -> str:
    """What was seen, how often, and where; or why it was not."""
    if answer.certainty in (Certainty.ASSUMED, Certainty.UNSEEN):
        return printable(f"{answer.certainty}: {answer.reason}")
    times = "once" if answer.count == 1 else f"{answer.count} times"
    one_of = ", one of several that fit" if answer.certainty is Certainty.SEVERAL else ""
    return printable(f"seen {times}{one_of}: {answer.shown_by}")


def _spelled(value: Any) -> str:
    """A value as YAML in one line."""
    text = yaml.safe_dump(
        value, default_flow_style=True, width=1_000_000, allow_unicode=True, sort_keys=False
    )
    return text.strip().removesuffix("...").strip()


def target_text(
    target: Target,
    out: Path,
    *,
    dialect: str | Mapping[str, Any] = DIALECT,
    command: str = "hookproof learn",
) -> str:
    """The file of the target, with names of environment variables in place of the keys."""
    content: dict[str, Any] = {
        "base_url": target.base_url,
        "projects": [
            {"id": project.id, "api_key": f"${{{variable(number)}}}"}
            for number, project in enumerate(target.projects, 1)
        ],
        "dialect": dialect,
    }
    settings = target.receiver
    receiver = {
        "bind": None if settings.bind == "127.0.0.1:0" else settings.bind,
        "public_url": settings.public_url,
        "ca": None if settings.ca is None else os.path.relpath(settings.ca, out),
        "ca_key": None if settings.ca_key is None else os.path.relpath(settings.ca_key, out),
        "http": settings.http or None,
        "forwarded": settings.forwarded or None,
    }
    receiver = {name: value for name, value in receiver.items() if value is not None}
    if receiver:
        content["receiver"] = receiver
    heading = (
        f"# Written by `{command}`. The keys are in the environment:"
        f" {', '.join(variable(number + 1) for number in range(len(target.projects)))}\n"
    )
    return heading + yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def variable(number: int) -> str:
    """The environment variable with the key of a project; they are counted from 1."""
    return VARIABLE if number == 1 else f"{VARIABLE}_{number}"
