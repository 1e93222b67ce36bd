"""A target that lacks capabilities, says so, and refuses whatever is about them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pytest

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.results.run_file import NAME
from hookproof.conformance.results.stored_evidence import read_evidence
from hookproof.conformance.target.capabilities import CAPABILITIES, MECHANISMS
from tests.conformance.command import CommandResult, check, reported_requirements
from tests.conformance.reference_server import reference_server, write_target_file
from tests.conformance.spoiling_proxy import ProxyAnswer, refusing_proxy
from tests.source_tree import ROOT

FIELDS: Final = frozenset(field for each in CAPABILITIES.values() for field in each.fields)
OPERATIONS: Final = frozenset(name for each in CAPABILITIES.values() for name in each.operations)
PATHS: Final = ("/portal-links", "/sources")


@dataclass(frozen=True, kw_only=True)
class FinishedRun:
    done: CommandResult
    requirements: Mapping[str, Mapping[str, Any]]
    exchanges: tuple[Exchange, ...]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    folder = tmp_path_factory.mktemp("lacking")
    with (
        reference_server(folder, ROOT, "p1", "p2") as server,
        refusing_proxy(server["api"], refuse) as url,
    ):
        no = dict.fromkeys(CAPABILITIES, "no")
        write_target_file(folder, url, "p1", "p2", capabilities=no)
        done = check(folder, "--target", "target.yaml", "--profile", "quick", "--strict")
    (evidence,) = read_evidence(folder / "hookproof-report" / NAME)
    exchanges = (
        exchange
        for gathered in evidence.gathered.values()
        for observation in gathered.observations
        for exchange in observation.exchanges
    )
    return FinishedRun(
        done=done, requirements=reported_requirements(folder), exchanges=tuple(exchanges)
    )


def refuse(path: str, body: bytes) -> ProxyAnswer | None:
    if any(part in path for part in PATHS):
        return refusal(404)
    return refusal(400) if lacking_fields(body) else None


def refusal(status: int) -> ProxyAnswer:
    body = json.dumps({"message": "there is no such thing", "status": False}).encode()
    return ProxyAnswer(status=status, headers=(("Content-Type", "application/json"),), body=body)


def lacking_fields(body: bytes) -> set[str]:
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        return set()
    return FIELDS & fields.keys() if isinstance(fields, dict) else set()


def test_what_a_target_says_that_it_lacks_is_never_requested(run: FinishedRun) -> None:
    sent = {
        (exchange.operation_id, field)
        for exchange in run.exchanges
        for field in lacking_fields(exchange.request_body or b"")
    }
    assert sent == set()
    asked = {exchange.operation_id for exchange in run.exchanges} & OPERATIONS
    assert asked == set()
    paths = {exchange.url for exchange in run.exchanges}
    assert {path for path in paths if any(part in path for part in PATHS)} == set()


def test_a_target_that_refuses_what_it_says_it_lacks_is_not_accused(run: FinishedRun) -> None:
    failed = {
        name: each["findings"]
        for name, each in run.requirements.items()
        if each["verdict"] in {"fail", "error"}
    }
    assert failed == {}, run.done.out


def test_what_a_target_lacks_is_not_exercised_and_the_reason_names_it(run: FinishedRun) -> None:
    assert run.done.code == 3, run.done.out
    for requirement in ("4.1-11", "4.1-12", "4.7-9", "4.4-9", "2.3-17", "2.5-2", "2.2-1", "2.9-4"):
        each = run.requirements[requirement]
        assert each["verdict"] == "not_exercised", requirement
        assert "capabilities in target.yaml" in json.dumps(each), requirement
    assert {run.requirements[name]["verdict"] for name in ("2.5-9", "2.5-10")} == {"not_applicable"}


def test_everything_else_is_judged_all_the_same(run: FinishedRun) -> None:
    for requirement in ("1-1", "4.1-1", "4.1-10", "4.2-1", "4.3-1", "4.8-1", "5-1", "6-6"):
        assert run.requirements[requirement]["verdict"] == "pass", requirement


def test_members_of_an_authentication_count_by_their_mechanism() -> None:
    assert CAPABILITIES.keys() >= MECHANISMS
