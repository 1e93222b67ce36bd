"""Fixture files: the portal links and sources that the API has no operation to create.

A fixture file is YAML with the two lists `portal_links` and `sources`. Their entries have the
fields of sections 2.6 and 2.7; a name is required, and a type for sources. A text of the form
`$source_types[1]` is replaced by that word of the dialect, counted from 0 and wrapping around at
the end of the words, so that one file serves every dialect. `$hmac_encodings[0]|base64` has the
text for a dialect that leaves these words open. `$timestamp[1700000000]` is replaced by that unix
second.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from hookproof.mockserver.store.identifiers import create_timestamp_writer
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.strict_yaml.reader import read_yaml

DEFAULT_PATH: Final = Path(__file__).parent / "default_fixtures.yaml"
_WORD: Final = re.compile(r"\$(\w+)\[(\d+)\](?:\|(.+))?")
_TIMESTAMP: Final = "timestamp"
REQUIRED: Final = {"portal_links": ["name"], "sources": ["name", "type"]}
_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        name: {
            "type": "array",
            "items": {
                "type": "object",
                "required": required,
                "properties": {field: {"type": "string", "minLength": 1} for field in required},
            },
        }
        for name, required in REQUIRED.items()
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFixtures:
    """The records that each project starts with."""

    portal_links: Sequence[Mapping[str, Any]] = ()
    sources: Sequence[Mapping[str, Any]] = ()


def read_fixtures(path: Path, dialect: Dialect) -> ProjectFixtures:
    """Read a fixture file, with the dialect's words; raises spec.strict_yaml.FileProblems."""
    return _in_words_of(dialect, read_yaml(path, _SCHEMA))


def default_fixtures(dialect: Dialect) -> ProjectFixtures:
    """The records that a project starts with unless another file is given."""
    return _in_words_of(dialect, _default_content())


@cache
def _default_content() -> Any:
    return read_yaml(DEFAULT_PATH, _SCHEMA)


def _in_words_of(dialect: Dialect, content: Any) -> ProjectFixtures:
    content = _substitute_words(content, dialect)
    return ProjectFixtures(
        portal_links=content.get("portal_links", ()), sources=content.get("sources", ())
    )


def _substitute_words(value: Any, dialect: Dialect) -> Any:
    if isinstance(value, dict):
        return {name: _substitute_words(part, dialect) for name, part in value.items()}
    if isinstance(value, list):
        return [_substitute_words(part, dialect) for part in value]
    match = _WORD.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return value
    number = int(match[2])
    if match[1] == _TIMESTAMP:
        return create_timestamp_writer(dialect.representation.timestamp.value)(number)
    words = getattr(dialect.words, match[1], None)
    if isinstance(words, Answer) and match[3]:
        words = words.allowed or (match[3],)
    return words[number % len(words)] if isinstance(words, tuple) else value
