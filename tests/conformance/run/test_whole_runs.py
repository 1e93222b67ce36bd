"""Whole runs over real sockets: the reference server conforms, faulty servers do not."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hookproof.cli import cli
from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.model.experiment_registry import Sharing
from hookproof.conformance.observations.deliveries import DeliveryObservation
from hookproof.conformance.observations.succeeding_requests import is_to_succeed
from hookproof.conformance.results.run_file import NAME
from hookproof.conformance.results.stored_evidence import read_evidence
from hookproof.process.exit_codes import ExitCode
from hookproof.spec.dialect.given_settings import what_becomes_of
from hookproof.spec.dialect.reader import load_dialect
from hookproof.spec.dialect.vocabulary import GivenSetting
from tests.conformance.command import check, is_for_lateness, reported_requirements
from tests.conformance.reference_server import reference_server, write_target_file
from tests.source_tree import ROOT, copied_sources
from tests.spec.dialect_variants import ANSWERED

# A long time budget, since a run that a busy machine cuts short proves nothing.
LONG_BUDGET = ("--budget", "600")

# The fields that no answer of the reference server has a value for, each with the reason.
CONTACTS = ("slack_webhook_url", "support_email")
NEVER_SHOWN = {
    **dict.fromkeys(
        (
            "Endpoint.deleted_at",
            "Endpoint.secrets.deleted_at",
            "Event.deleted_at",
            "PortalLink.deleted_at",
            "Source.deleted_at",
        ),
        "none of the eight operations deletes anything",
    ),
    "Event.metadata": "no request sets it, and what it holds is open",
}
# Which answer of a dialect says where each of these fields of an event comes from.
ORIGINS = {
    "acknowledged_at": "event_acknowledged_at",
    "app_id": "event_application",
    "headers": "event_headers",
    "raw": "event_raw",
    "source_id": "event_source",
    "source_metadata": "event_source",
    "url_query_params": "event_query",
}

# How often is tried what this machine is too busy for.
TRIES = 3


def judged_in_time(folder: Path, *arguments: str | Path) -> dict[str, dict[str, Any]]:
    """The requirements of a run that conforms, by their ids.

    What went unjudged because this machine is busy is judged again, by itself.
    """
    done = check(folder, *arguments)
    judged = reported_requirements(folder)
    for _ in range(TRIES - 1):
        late = [name for name, each in judged.items() if is_for_lateness(*each.get("reasons", ()))]
        if not late:
            break
        assert done.code in {ExitCode.CONFORMS, ExitCode.INCOMPLETE}, done.out
        words = [word for name in late for word in ("--only", name)]
        done = check(folder, *arguments, "--out", "late", *words)
        again = reported_requirements(folder, "late")
        judged |= {name: again[name] for name in late}
    assert done.code == 0, done.out
    return judged


def assert_regrading_agrees(folder: Path) -> None:
    """The stored evidence gives the run's own verdicts, counts and findings."""
    done = CliRunner().invoke(
        cli, ["regrade", str(folder / "hookproof-report"), "--out", str(folder / "again")]
    )
    assert "The same verdicts." in done.output
    assert reported_requirements(folder, "again") == reported_requirements(folder)


def assert_quiet_experiments_are_quiet(folder: Path) -> None:
    """They run while broadcasts of others wait for those that go first."""
    experiments = all_experiments()
    quiet = {each.name for each in experiments if Sharing.QUIET in each.sharing.values()}
    (evidence,) = read_evidence(folder / "hookproof-report" / NAME)
    broadcasting = {
        name
        for name, gathered in evidence.gathered.items()
        for observation in gathered.observations
        for exchange in observation.exchanges
        if exchange.operation_id == "createBroadcastEvent"
    }
    assert quiet
    assert broadcasting
    assert not quiet & broadcasting
    # By these they are divided among projects.
    receiving = {
        name
        for name, gathered in evidence.gathered.items()
        for observation in gathered.observations
        if isinstance(observation, DeliveryObservation) and observation.destinations
    }
    assert receiving <= {each.name for each in experiments if each.endpoints}
    assert receiving <= {each.name for each in experiments if each.broadcasts}


def assert_what_is_to_succeed_succeeds(folder: Path) -> None:
    """Of a server without faults: else a refusal would be named where none is in the way."""
    (evidence,) = read_evidence(folder / "hookproof-report" / NAME)
    refused = {
        (name, exchange.role, exchange.status)
        for name, gathered in evidence.gathered.items()
        for observation in gathered.observations
        for exchange in observation.exchanges
        if is_to_succeed(exchange) and not exchange.succeeded
    }
    assert refused == set()


def assert_every_documented_field_is_shown(folder: Path, dialect: str) -> None:
    """With a value, at least once: what no answer shows, no check can judge."""
    report = json.loads((folder / "hookproof-report" / "report.json").read_text())
    never = {field["name"] for field in report["fields"] if not field["shown"]}
    spoken = load_dialect(dialect)
    answers = spoken.representation
    origins = {f"Event.{name}": getattr(answers, answer) for name, answer in ORIGINS.items()}
    withheld = {name for name, origin in origins.items() if origin.allowed == ("none",)}
    open_ones = {name for name, origin in origins.items() if not origin.decided}
    # The reference server acts by the first of several answers.
    dropped = {
        f"Endpoint.{setting}"
        for setting in CONTACTS
        if what_becomes_of(setting, spoken).prefers(GivenSetting.DROPPED)
    }
    assert report["fields"]
    assert never - open_ones == NEVER_SHOWN.keys() | withheld | dropped


@pytest.mark.parametrize("dialect", ANSWERED)
def test_the_embedded_server_conforms_and_every_stated_requirement_was_exercised(
    tmp_path: Path, dialect: str
) -> None:
    judged = judged_in_time(tmp_path, "--dialect", dialect, "--strict", *LONG_BUDGET)
    stated = [requirement for requirement in judged.values() if requirement["level"] == "stated"]
    passed = [requirement for requirement in stated if requirement["verdict"] == "pass"]
    assert len(passed) >= 170
    assert all(requirement["exercised"] > 0 for requirement in passed)
    assert {requirement["verdict"] for requirement in stated} == {"pass", "not_applicable"}
    assert_quiet_experiments_are_quiet(tmp_path)
    assert_what_is_to_succeed_succeeds(tmp_path)
    assert_every_documented_field_is_shown(tmp_path, dialect)
    assert_regrading_agrees(tmp_path)


def test_a_target_whose_two_projects_are_shared_by_all_experiments_conforms(tmp_path: Path) -> None:
    with reference_server(tmp_path, ROOT, "p1", "p2") as ready:
        target = write_target_file(tmp_path, ready["api"], "p1", "p2")
        judged_in_time(tmp_path, "--target", target, "--profile", "quick")


@dataclass(frozen=True, kw_only=True)
class Break:
    """A line of the reference server, what it is replaced by, and what that violates."""

    module: str
    right: str
    wrong: str
    violated: frozenset[str]


SIGNS_OTHER_BYTES = Break(
    module="delivery/attempt/signing.py",
    right="event_uid, now, body, ",
    wrong="event_uid, now, body + b' ', ",
    violated=frozenset({"6-6", "6-7"}),
)
EXPIRED_SECRET_SIGNS = Break(
    module="delivery/attempt/signing.py",
    right=" if secret.expires_at is None or now < secret.expires_at",
    wrong="",
    violated=frozenset({"4.3-4"}),
)
CLAIMS_A_PAGE_TOO_MANY = Break(
    module="api/paging.py",
    right="len(rows) > query.per_page",
    wrong="len(rows) >= query.per_page",
    violated=frozenset({"2.2-9"}),
)
NO_RATE_LIMIT = Break(
    module="delivery/scheduling/dispatcher.py",
    right="limiter.wait_s(now) if limiter is not None else 0.0",
    wrong="0.0",
    violated=frozenset({"8-1"}),
)
ROLLS_OTHERS_TOO = Break(
    module="store/endpoints.py",
    right="updated_at = ? WHERE seq = ?",
    wrong="updated_at = ? WHERE seq >= ?",
    violated=frozenset({"4.3-14"}),
)
ACCEPTS_ANY_KEY = Break(
    module="api/api_keys.py",
    right="if presented and self._matches(project, presented):",
    wrong="if presented:",
    violated=frozenset({"5-9"}),
)


# What is wrong with a server hides nothing else of it.
@pytest.mark.parametrize(
    "breaks",
    [
        (EXPIRED_SECRET_SIGNS, CLAIMS_A_PAGE_TOO_MANY, NO_RATE_LIMIT),
        (SIGNS_OTHER_BYTES, ROLLS_OTHERS_TOO, ACCEPTS_ANY_KEY),
    ],
    ids=["an expired secret signs", "any key is accepted"],
)
def test_a_faulty_server_fails_what_it_breaks(tmp_path: Path, breaks: Sequence[Break]) -> None:
    faulty = copied_sources(tmp_path / "faulty")
    for each in breaks:
        module = faulty / "mockserver" / each.module
        source = module.read_text()
        assert source.count(each.right) == 1, f"the line to break is gone from {each.module}"
        module.write_text(source.replace(each.right, each.wrong))
    violated = frozenset[str]().union(*(each.violated for each in breaks))
    with reference_server(tmp_path, faulty, "p1", "p2", "p3", "p4") as ready:
        target = write_target_file(tmp_path, ready["api"], "p1", "p2", "p3", "p4")
        only = [word for name in sorted(violated) for word in ("--only", name)]
        done = check(tmp_path, "--target", target, "--profile", "quick", *LONG_BUDGET, *only)
    assert done.code == 1, done.out
    judged = reported_requirements(tmp_path)
    failed = {name for name, requirement in judged.items() if requirement["verdict"] == "fail"}
    assert failed == violated
    if "4.3-14" in violated:
        checks = {finding["check"] for finding in judged["4.3-14"]["findings"]}
        assert checks == {
            "a_roll_leaves_the_secrets_of_others_alone",
            "a_sequence_agrees_with_its_model",
        }
    assert_regrading_agrees(tmp_path)
