"""A second project, whose resources are asked for by the path of the first."""

from collections.abc import Mapping
from typing import Any

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.observations.answer import Kind
from hookproof.conformance.schemathesis_plugin.other_project import OtherProject
from hookproof.conformance.schemathesis_plugin.rules import UNKNOWN_IN, Rules
from hookproof.conformance.target.definition import Project
from hookproof.spec.dialect.reader import load_dialect
from tests.conformance.canned_evidence import exchange

DIALECT = load_dialect("reference")
OTHER = Project(id="p2", api_key="key-of-p2")


def send(operation_id: str, body: Mapping[str, Any] | None) -> Exchange:
    """The answer of a service that has a portal link, and lists one of somebody else too."""
    if body is not None:
        return exchange("sweep", operation_id, data={"uid": "e2", "project_id": "p2"})
    links = [{"uid": f"l{number}", "project_id": f"p{number}"} for number in (1, 2)]
    return exchange("sweep", operation_id, data={"content": links, "pagination": {}}, status=200)


def test_it_is_looked_through_once() -> None:
    other, asked = OtherProject(OTHER, DIALECT), []

    def noting(operation_id: str, body: Mapping[str, Any] | None) -> Exchange:
        asked.append(operation_id)
        return send(operation_id, body)

    assert other.next_uid(Kind.ENDPOINT) is None
    for _ in range(2):
        other.find(noting)
    assert asked == ["createEndpoint", "listPortalLinks"]
    assert other.next_uid(Kind.ENDPOINT) == "e2"
    assert {other.next_uid(Kind.PORTAL_LINK) for _ in range(4)} == {"l2"}


def test_one_that_does_not_answer_has_nothing() -> None:
    other = OtherProject(OTHER, DIALECT)
    other.find(lambda *_: None)
    assert other.next_uid(Kind.PORTAL_LINK) is None


def test_its_resources_are_asked_for_and_not_changed() -> None:
    other = OtherProject(OTHER, DIALECT)
    other.find(send)
    rules = Rules(DIALECT, Project(id="p1", api_key="key-of-p1"), None, other)
    asked = [rules.known_identifier(Kind.ENDPOINT, "given") for _ in range(4 * UNKNOWN_IN)]
    assert asked.count("e2") == 2
    changed = [
        rules.known_identifier(Kind.ENDPOINT, "given", changes=True) for _ in range(4 * UNKNOWN_IN)
    ]
    assert {*changed} == {"given"}


def test_what_is_linked_to_its_creation_is_asked_for() -> None:
    other = OtherProject(OTHER, DIALECT)
    other.find(send)
    rules = Rules(DIALECT, Project(id="p1", api_key="key-of-p1"), None, other)
    created = exchange(data={"uid": "e1", "project_id": "p1"})
    rules.violations("1", created, is_valid=True)
    asked = [
        rules.known_identifier(Kind.ENDPOINT, "e1", is_linked=True) for _ in range(4 * UNKNOWN_IN)
    ]
    assert {*asked} == {"e1"}


def test_one_that_shows_them_there_is_found() -> None:
    shown = exchange("sweep", "getEndpoint", data={"uid": "e2", "project_id": "p2"}, status=200)
    rules = Rules(DIALECT, Project(id="p1", api_key="key-of-p1"))
    assert "1-3" in rules.violations("1", shown, is_valid=True)
