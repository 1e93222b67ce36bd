"""Fixtures: the portal links and sources of a fresh project, for which the API has no operation.

A fixture file is YAML with the two lists `portal_links` and `sources`. Their entries have the
fields of sections 2.6 and 2.7; a name is required, and a type for sources. A text of the form
`$source_types[1]` is replaced by that word of the dialect, counted from 0 and wrapping around at
the end of the words, so that one file serves every dialect; `$timestamp[1700000000]` is replaced by
that unix second.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jsonschema_rs import Draft202012Validator

from hookproof.mockserver.api.handlers.portal_links import PortalLinkHandlers
from hookproof.mockserver.api.handlers.sources import SourceHandlers
from hookproof.mockserver.api.service import Service
from hookproof.mockserver.store.identifiers import create_timestamp_writer
from hookproof.spec.contract.service_contract import Contract
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.strict_yaml.reader import read_yaml

DEFAULT_PATH: Final = Path(__file__).parent / "default_fixtures.yaml"
_WORD: Final = re.compile(r"\$(\w+)\[(\d+)\]")
_TIMESTAMP: Final = "timestamp"
_REQUIRED: Final = {"portal_links": ["name"], "sources": ["name", "type"]}
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
        for name, required in _REQUIRED.items()
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFixtures:
    """The records that each project starts with."""

    portal_links: Sequence[Mapping[str, Any]] = ()
    sources: Sequence[Mapping[str, Any]] = ()


def read_fixtures(path: Path, dialect: Dialect) -> ProjectFixtures:
    """Read a fixture file, with the dialect's words; raises spec.strict_yaml.FileProblems."""
    content = _substitute_words(read_yaml(path, _SCHEMA), dialect)
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
    return words[number % len(words)] if isinstance(words, tuple) else value


class BadRecord(Exception):
    """A portal link or a source cannot be created; the message gives the reason."""


class FixtureLoader:
    """Creates portal links and sources from records."""

    def __init__(self, service: Service, projects: Sequence[str]) -> None:
        self.projects = projects
        self._database = service.database
        self._create: Mapping[str, Callable[[str, Mapping[str, Any]], bytes]] = {
            "portal_links": PortalLinkHandlers(service).create,
            "sources": SourceHandlers(service).create,
        }
        self._validators = {
            "portal_links": _validator(service.contract, "PortalLink", _REQUIRED["portal_links"]),
            "sources": _validator(service.contract, "Source", _REQUIRED["sources"]),
        }

    def create(self, kind: str, project: str, record: Mapping[str, Any]) -> bytes:
        """Store one record and return its JSON; raises BadRecord.

        `kind` is `portal_links` or `sources`.
        """
        self._validate(kind, record)
        return self._create[kind](project, record)

    def load(self, fixtures: ProjectFixtures) -> None:
        """Create these fixtures in every project; raises BadRecord before anything is stored."""
        lists = {"portal_links": fixtures.portal_links, "sources": fixtures.sources}
        for kind, records in lists.items():
            for number, record in enumerate(records):
                self._validate(kind, record, f"{kind}[{number}]")
        for project in self.projects:
            for kind, records in lists.items():
                for record in records:
                    self._create[kind](project, record)
        self._database.commit()

    def _validate(self, kind: str, record: Mapping[str, Any], name: str = "") -> None:
        problem = next(self._validators[kind].iter_errors(record), None)
        if problem is not None:
            where = name + "".join(f"/{step}" for step in problem.instance_path)
            raise BadRecord(f"{where or 'the record'}: {problem.message}")


def _validator(contract: Contract, schema: str, required: Sequence[str]) -> Draft202012Validator:
    schemas = contract.document["components"]["schemas"]
    return Draft202012Validator(
        {
            "$ref": f"#/components/schemas/{schema}",
            "components": {"schemas": schemas},
            "required": required,
            "propertyNames": {"enum": list(schemas[schema]["properties"])},
        },
        mask="the value",
    )
