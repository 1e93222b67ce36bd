"""Campaigns with generated faults: samples, compounds, and what their outcomes say."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hookproof.conformance.mutants.campaign import CampaignSettings, plan_campaign, run_campaign
from hookproof.conformance.mutants.catalogue import ListedFault
from hookproof.conformance.mutants.generated import GeneratedOrder, plan_generated
from hookproof.conformance.mutants.mutant_run import Detection
from hookproof.conformance.mutants.reports.text import render_summary
from hookproof.conformance.mutants.results import NOT_RUN, Campaign, FaultOutcome
from hookproof.conformance.mutants.worker_pool import WorkerPool
from tests.conformance.command import CommandResult, run_command
from tests.conformance.mutants.canned_mutant_runs import (
    detects_the_second_time,
    detects_with_every_experiment,
)

SETTINGS = CampaignSettings(dialects=("reference",), seed=3, jobs=1)
FIRST = "text_cut@createEndpoint.stored.name:length=64"
SECOND = "text_trimmed@getEndpoint.shown.name"


def planned(**order: Any) -> list[ListedFault]:
    return list(plan_generated(SETTINGS, GeneratedOrder(**order)).faults["reference"])


def mutants(folder: Path, *words: str) -> CommandResult:
    return run_command(folder, "mutants", "--jobs", "1", *words)


def detection(requirement: str) -> Detection:
    return Detection(
        check="a_check",
        requirement=requirement,
        message="",
        expected="",
        actual="",
        experiment="an_experiment",
    )


def campaign(fault: ListedFault, *requirements: str) -> Campaign:
    outcome = FaultOutcome(
        fault=fault,
        dialect="reference",
        claims=frozenset(fault.violates),
        result=replace(NOT_RUN, detections=tuple(map(detection, requirements))),
    )
    return Campaign(
        outcomes=(outcome,),
        variants=(),
        checks=("a_check",),
        complete=False,
        whole=False,
        duration_s=0.0,
    )


def test_a_seed_decides_the_sample_and_names_select_one_fault() -> None:
    first = [fault.name for fault in planned(operators=("text_*",), size=7)]
    assert len(first) == 7
    assert first == [fault.name for fault in planned(operators=("text_*",), size=7)]
    (one,) = planned(names=(FIRST,))
    assert one.name == FIRST
    assert one.deviations == ("--fault", FIRST)


def test_a_compound_has_several_defects_and_is_killed_by_one_of_each() -> None:
    (pair,) = planned(names=(FIRST, SECOND), size=1, at_once=2)
    assert {part.name for part in pair.parts} == {FIRST, SECOND}
    assert sorted(pair.deviations) == sorted(["--fault", FIRST, "--fault", SECOND])
    assert not list(campaign(pair, "4.2-5").survivors())
    half = campaign(pair, "4.1-4")
    assert list(half.survivors()) == [(pair.name, f"{SECOND} not detected under reference")]
    assert "named 1/2 defects in 1 servers" in list(render_summary(half))


def test_a_wrong_list_of_what_a_fault_violates_shows_in_the_campaign() -> None:
    (right,) = planned(names=(FIRST,))
    assert campaign(right, "4.2-5").flawless
    wrong = campaign(replace(right, violates=("2.2-1",)), "4.2-5")
    assert [name for name, _ in wrong.survivors()] == [FIRST]
    assert [found.requirement for _, _, found in wrong.false_positives()] == ["4.2-5"]


def test_what_survives_is_tried_with_every_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    canned = partial(WorkerPool, run=detects_with_every_experiment)
    monkeypatch.setattr("hookproof.conformance.mutants.campaign.WorkerPool", canned)
    plan = plan_generated(SETTINGS, GeneratedOrder(names=(FIRST,)))
    told: list[str] = []
    done = run_campaign(plan, lambda outcome: told.append(outcome.dialect))
    assert [sorted(outcome.result.detected) for outcome in done.outcomes] == [["4.2-5"]]
    assert len(told) == 3  # the clean server, and the fault twice
    assert done.flawless


def test_a_fault_that_survives_beside_others_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    canned = partial(WorkerPool, run=detects_the_second_time)
    monkeypatch.setattr("hookproof.conformance.mutants.campaign.WorkerPool", canned)
    names = ("description_shown_as_null", "url_shown_as_http")
    plan = plan_campaign(replace(SETTINGS, patterns=names, jobs=2, variants=False))
    told: list[str] = []
    done = run_campaign(plan, lambda outcome: told.append(outcome.dialect))
    assert len(told) == 1 + 2 * len(names)  # the clean server, and each fault twice
    assert sorted(outcome.fault.name for outcome in done.outcomes) == sorted(names)
    assert not any(outcome.survived for outcome in done.outcomes)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--operator", "no_such_*"], "no generated fault matches"),
        (["--compound", "2"], "--compound is for generated faults"),
        (["--generated", "1", "--record"], "--record is for faults of the catalogue"),
        (["--generated", "1", "--record", "--hiding"], "--record is for faults of the catalogue"),
        (["--fault", FIRST, "--fault", "null_message"], "not both"),
    ],
    ids=str,
)
def test_wrong_usage_is_reported_in_one_line(
    tmp_path: Path, words: list[str], message: str
) -> None:
    done = mutants(tmp_path, *words)
    assert (done.code, done.out) == (64, "")
    assert message in done.err
    assert done.err.count("\n") == 1


def test_operators_are_listed_with_their_faults_and_equivalents(tmp_path: Path) -> None:
    done = mutants(tmp_path, "--list-operators", "--operator", "sign_lost")
    assert done.code == 0, done.err
    assert "sign_lost  A number loses its sign: numbers, taken, stored or shown." in done.out
    assert " equivalent" in done.out


def test_a_generated_fault_is_killed_by_name(tmp_path: Path) -> None:
    done = mutants(tmp_path, "--fault", "shown_as_number@getPortalLink.shown.envelope.status")
    assert done.code == 0, done.out + done.err
    assert "1 servers, faults by operators in each: 1, seed 0" in done.out
    assert "killed 1/1 faults" in done.out.splitlines()[-1]
