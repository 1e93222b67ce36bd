"""The quick pass runs the first fault that each check is recorded to kill, and reports misses."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Self

import pytest

from hookproof.conformance.mutants import quick_pass as quick
from hookproof.conformance.mutants.campaign import CampaignPlan, CampaignSettings
from hookproof.conformance.mutants.catalogue import ListedFault, find_dialect
from hookproof.conformance.mutants.mutant_run import Detection, MutantRunOrder
from hookproof.conformance.mutants.quick_pass import run_quick_campaign
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
        also=(),
        seen="",
        area="a",
        replaces="r",
        is_variant=False,
        applies=True,
        shows_in=(),
    )


def pass_in_which(
    monkeypatch: pytest.MonkeyPatch, *seen: str, known: tuple[str, ...] = tuple(KILLS)
) -> Any:
    """The quick pass where the only check sees these faults."""

    class Scripted:
        interrupted = False

        def __init__(self, _jobs: int, _on_outcome: object) -> None:
            self.outcomes: list[FaultOutcome | VariantOutcome] = []

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            """Nothing to shut down."""

        def run_all(self, orders: Mapping[FaultOutcome, MutantRunOrder]) -> Iterator[FaultOutcome]:
            for subject in orders:
                detection = Detection(
                    check="looks",
                    requirement="1-1",
                    message="m",
                    expected="e",
                    actual="a",
                    experiment="x",
                )
                detections = (detection,) if subject.fault.name in seen else ()
                self.outcomes.append(
                    outcome := replace(subject, result=replace(NOT_RUN, detections=detections))
                )
                yield outcome

    monkeypatch.setattr(quick, "WorkerPool", Scripted)
    plan = CampaignPlan(
        settings=CampaignSettings(),
        dialects=(find_dialect("reference"),),
        faults={"reference": tuple(map(fault, known))},
        checks=(),
        experiments=(),
    )
    campaign, missing = run_quick_campaign(plan, KILLS, lambda _: None)
    return [outcome.fault.name for outcome in campaign.outcomes], missing


def test_a_check_that_kills_its_first_fault_is_run_with_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert pass_in_which(monkeypatch, "two") == (["two"], ())


def test_a_check_that_misses_its_first_fault_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pass_in_which(monkeypatch, "one", "three", "four") == (
        ["two"],
        ("looks no longer kills two (reference)",),
    )


def test_a_fault_that_no_longer_exists_makes_the_record_stale(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(CommandError, match="two is recorded and is no longer a fault"):
        pass_in_which(monkeypatch, known=("one",))
