"""Kills are recorded for one fault at a time: the entries of other faults stay as they are."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from hookproof.conformance.mutants import cli
from hookproof.conformance.mutants.campaign import CampaignPlan, CampaignSettings, plan_campaign
from hookproof.conformance.mutants.catalogue import ListedFault
from hookproof.conformance.mutants.kill_matrix import read_kills, record_kills
from hookproof.conformance.mutants.mutant_run import Detection
from hookproof.conformance.mutants.results import NOT_RUN, Campaign, FaultOutcome

KNOWN = {
    "null_message": {"reference": {"old_check": ["2.1-2"]}, "contrary": {"old_check": ["2.1-2"]}},
    "bare_page": {"reference": {"another_check": ["2.2-1"]}},
}


def outcome(fault: ListedFault, dialect: str) -> FaultOutcome:
    detections = tuple(
        Detection(
            check="new_check",
            requirement=requirement,
            message="m",
            expected="e",
            actual="a",
            experiment="x",
        )
        for requirement in fault.violates
    )
    return FaultOutcome(
        fault=fault,
        dialect=dialect,
        claims=frozenset(fault.violates),
        result=replace(NOT_RUN, detections=detections),
    )


def campaign(*outcomes: FaultOutcome, complete: bool = False, whole: bool = False) -> Campaign:
    return Campaign(
        outcomes=outcomes,
        variants=(),
        checks=("new_check",),
        complete=complete,
        whole=whole,
        duration_s=1.0,
    )


@pytest.fixture(scope="module")
def plan() -> CampaignPlan:
    return plan_campaign(CampaignSettings(patterns=("null_message",), dialects=("reference",)))


@pytest.fixture
def null_message(plan: CampaignPlan) -> ListedFault:
    (fault,) = plan.selected_faults("reference")
    return fault


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    path = tmp_path / "kill_matrix.json"
    path.write_text(json.dumps({"format": 1, "kills": KNOWN}))
    return path


def test_a_mutant_has_exactly_one_fault(plan: CampaignPlan, null_message: ListedFault) -> None:
    order = plan.order_mutant(plan.dialects[0], null_message)
    assert order.deviations == ("--fault", "null_message")


def test_one_dialect_of_one_fault_replaces_only_that(
    matrix: Path, null_message: ListedFault
) -> None:
    record_kills(campaign(outcome(null_message, "reference")), matrix)
    assert read_kills(matrix) == {
        "null_message": {
            "reference": {"new_check": ["2.1-2"]},
            "contrary": KNOWN["null_message"]["contrary"],
        },
        "bare_page": KNOWN["bare_page"],
    }


def test_every_dialect_of_one_fault_replaces_its_whole_entry(
    matrix: Path, null_message: ListedFault
) -> None:
    record_kills(campaign(outcome(null_message, "reference"), complete=True), matrix)
    assert read_kills(matrix) == {
        "null_message": {"reference": {"new_check": ["2.1-2"]}},
        "bare_page": KNOWN["bare_page"],
    }


def test_a_whole_campaign_replaces_the_matrix(matrix: Path, null_message: ListedFault) -> None:
    record_kills(campaign(outcome(null_message, "reference"), complete=True, whole=True), matrix)
    assert read_kills(matrix) == {"null_message": {"reference": {"new_check": ["2.1-2"]}}}


def test_the_command_records_the_fault_that_it_ran_and_leaves_all_others(
    matrix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_canned(plan: CampaignPlan, _on_outcome: Callable[[FaultOutcome], None]) -> Campaign:
        faults = plan.selected_faults("reference")
        return campaign(*(outcome(fault, "reference") for fault in faults))

    monkeypatch.setattr(cli, "RECORDED", matrix)
    monkeypatch.setattr(cli, "run_campaign", run_canned)
    words = ["--fault", "null_message", "--dialect", "reference", "--record"]
    result = CliRunner().invoke(cli.mutants, [*words, "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    kills = read_kills(matrix)
    assert kills["null_message"]["reference"] == {"new_check": ["2.1-2"]}
    assert kills["bare_page"] == KNOWN["bare_page"]
