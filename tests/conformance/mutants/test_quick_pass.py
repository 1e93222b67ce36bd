"""The quick pass runs the first fault that each check is recorded to kill, and reports misses."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Self

import pytest

from hookproof.conformance.mutants import kill_matrix as quick
from hookproof.conformance.mutants.campaign import CampaignPlan, CampaignSettings
from hookproof.conformance.mutants.catalogue import ListedFault, find_dialect
from hookproof.conformance.mutants.kill_matrix import run_quick_campaign
from hookproof.conformance.mutants.mutant_run import Detection, MutantRunOrder
from hookproof.conformance.mutants.results import NOT_RUN, FaultOutcome, VariantOutcome
from hookproof.process.exit_codes import CommandError

# The fault that comes last in the alphabet is run first.
KILLS = {name: {"reference": {"looks": ["1-1"]}} for name in ("three", "two", "one", "four")}


def fault(name: str) -> ListedFault:
    return ListedFault(
        name=name,
        former_names=(),
        broken="b",
        violates=("1-1",),
        seen="",
        area="a",
        replaces="r",
        is_variant=False,
        applies=True,
        shows_in=(),
    )


def detection(requirement: str) -> Detection:
    return Detection(
        check="looks",
        requirement=requirement,
        message="m",
        expected="e",
        actual="a",
        experiment="x",
    )


def run_quick_pass(
    monkeypatch: pytest.MonkeyPatch,
    *detected: str,
    known: tuple[str, ...] = tuple(KILLS),
    later: tuple[str, ...] = (),
    accused: str = "",
) -> tuple[list[str], Sequence[str], list[str]]:
    """The faults that were run, the reported misses, and those that survived, with a check that
    detects these faults, those in `later` in their second run. The requirement `accused`
    is found violated in every first run.
    """
    started: list[str] = []

    class ScriptedPool:
        interrupted = False

        def __init__(self, _jobs: int, _on_outcome: object) -> None:
            self.outcomes: list[FaultOutcome | VariantOutcome] = []

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            """Nothing to shut down."""

        def run_all(self, orders: Mapping[FaultOutcome, MutantRunOrder]) -> Iterator[FaultOutcome]:
            for subject in orders:
                name = subject.fault.name
                is_second = name in started
                started.append(name)
                requirements = [
                    *(["1-1"] if name in detected or (is_second and name in later) else ()),
                    *([accused] if accused and not is_second else ()),
                ]
                detections = tuple(map(detection, requirements))
                outcome = replace(subject, result=replace(NOT_RUN, detections=detections))
                self.outcomes.append(outcome)
                yield outcome

    monkeypatch.setattr(quick, "WorkerPool", ScriptedPool)
    plan = CampaignPlan(
        settings=CampaignSettings(),
        dialects=(find_dialect("reference"),),
        faults={"reference": tuple(map(fault, known))},
        checks=(),
        experiments=(),
    )
    campaign, missing = run_quick_campaign(plan, KILLS, lambda _: None)
    return started, missing, [name for name, _ in campaign.survivors()]


def test_a_check_that_kills_its_first_fault_is_run_with_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert run_quick_pass(monkeypatch, "two") == (["two"], (), [])


def test_a_check_that_misses_its_first_fault_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_quick_pass(monkeypatch, "one", "three", "four") == (
        ["two", "two"],
        ("looks no longer kills two (reference)",),
        ["two"],
    )


def test_a_kill_that_only_a_run_by_itself_shows_is_not_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert run_quick_pass(monkeypatch, later=("two",)) == (["two", "two"], (), [])


def test_a_run_with_a_false_accusation_is_not_made_once_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert run_quick_pass(monkeypatch, later=("two",), accused="1-2") == (
        ["two"],
        ("looks no longer kills two (reference)",),
        ["two"],
    )


def test_a_fault_that_no_longer_exists_makes_the_record_stale(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(CommandError, match="two is recorded and is no longer a fault"):
        run_quick_pass(monkeypatch, known=("one",))
