"""Creates fixtures: the portal links and sources for which the API has no operation."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jsonschema_rs import Draft202012Validator

from hookproof.mockserver.api.handlers.portal_links import PortalLinkHandlers
from hookproof.mockserver.api.handlers.sources import SourceHandlers
from hookproof.mockserver.api.service import ApiService
from hookproof.mockserver.fixture_file import REQUIRED, ProjectFixtures
from hookproof.spec.contract.service_contract import Contract


class BadRecord(Exception):
    """A portal link or a source cannot be created; the message gives the reason."""


class FixtureLoader:
    """Creates portal links and sources from records."""

    def __init__(self, service: ApiService, projects: Sequence[str]) -> None:
        self.projects = projects
        self._database = service.database
        self._create: Mapping[str, Callable[[str, Mapping[str, Any]], bytes]] = {
            "portal_links": PortalLinkHandlers(service).create,
            "sources": SourceHandlers(service).create,
        }
        self._validators = {
            "portal_links": _validator(service.contract, "PortalLink", REQUIRED["portal_links"]),
            "sources": _validator(service.contract, "Source", REQUIRED["sources"]),
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
