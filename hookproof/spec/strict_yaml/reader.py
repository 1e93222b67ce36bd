"""Strict reading of YAML files that people write: all problems at once, each with its line.

What counts as YAML is in `parser.py`; the messages for disagreements with a schema are in
`schema_wording.py`.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec

from hookproof.spec.given_file import LARGEST_FILE, read_given
from hookproof.spec.strict_yaml.file_problem import FileProblems, Problem
from hookproof.spec.strict_yaml.parser import YamlText, parse_yaml, scan_yaml
from hookproof.spec.strict_yaml.schema_wording import wordings

__all__ = [
    "LARGEST_FILE",
    "FileProblems",
    "Problem",
    "check_yaml",
    "parse_yaml",
    "read_text",
    "read_yaml",
    "scan_yaml",
]


def read_yaml(path: str | Path, schema: Mapping[str, Any]) -> Any:
    """The value of a YAML file that agrees with a JSON Schema (2020-12); raises FileProblems."""
    content = scan_yaml(read_text(path), str(path))
    check_yaml(content, schema, str(path))
    return content.value


def check_yaml(content: YamlText, schema: Mapping[str, Any], path: str) -> None:
    """Validate a value against a JSON Schema (2020-12); raises FileProblems.

    `path` names the origin of the value. Problems of the text are reported too, and no others at
    the same places.
    """
    disagreements = [] if _is_valid(content.value, schema) else _disagreements(content, schema)
    known = {problem.where for problem in content.problems}
    problems = [
        *content.problems,
        *(problem for problem in disagreements if problem.where not in known),
    ]
    if problems:
        raise FileProblems(path, dict.fromkeys(problems))


def _is_valid(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a value agrees with a schema; False also where only the thorough validator can tell.

    Nearly every file agrees with its schema, and this takes a small part of the time.
    """
    try:
        return _compiled(msgspec.json.encode(schema)).is_valid(value)
    except ValueError:  # a number without bounds, or a pattern that is written for Python
        return False


@lru_cache(maxsize=32)
def _compiled(schema: bytes) -> jsonschema_rs.Draft202012Validator:
    """The validator of a schema; to make it takes longer than to read most files."""
    return jsonschema_rs.Draft202012Validator(msgspec.json.decode(schema))


def _disagreements(content: YamlText, schema: Mapping[str, Any]) -> list[Problem]:
    from jsonschema import Draft202012Validator

    errors = Draft202012Validator(schema).iter_errors(content.value)
    return [
        content.problem(location, words) for error in errors for location, words in wordings(error)
    ]


def read_text(path: str | Path) -> str:
    """The text of a regular UTF-8 file of at most LARGEST_FILE bytes; raises FileProblems."""
    try:
        content = read_given(path)
    except OSError as error:
        raise _refusal(path, f"cannot be read: {error.strerror or error}") from None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _refusal(
            path, f"is not UTF-8 text: byte 0x{content[error.start]:02x}", line
        ) from None


def _refusal(path: str | Path, message: str, line: int | None = None) -> FileProblems:
    return FileProblems(str(path), [Problem(line=line, where="", message=message)])
