"""The quick pass holds each check to the first fault that it is recorded to kill, and tells of one
that misses it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Self

import pytest

from hookproof.conformance.mutants import quick_pass as quick
from hookproof.conformance.mutants.campaign import Docket, Settings
from hookproof.conformance.mutants.catalogue import Fault, spoken
from hookproof.conformance.mutants.mutant_run import Conviction, TrialOrder
from hookproof.conformance.mutants.quick_pass import quick_campaign
from hookproof.conformance.mutants.results import NOTHING, Acquittal, Outcome
from hookproof.process.exit_codes import CommandError

# The fault that comes last in the alphabet is tried first.
KILLS = {name: {"reference": {"looks": ["1-1"]}} for name in ("three", "two", "one", "four")}


def fault(name: str) -> Fault:
    return Fault(
        name=name,
        broken="b",
        violates=("1-1",),
        also=(),
        seen="",
        area="a",
        replaces="r",
        innocent=False,
        applies=True,
        shows_in=(),
    )


def pass_in_which(
    monkeypatch: pytest.MonkeyPatch, *seen: str, known: tuple[str, ...] = tuple(KILLS)
) -> Any:
    """The quick pass where the only check sees these faults."""

    class Scripted:
        interrupted = False

        def __init__(self, _jobs: int, _told: object) -> None:
            self.over: list[Outcome | Acquittal] = []

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            """Nothing is held."""

        def tried_all(self, orders: Mapping[Outcome, TrialOrder]) -> Iterator[Outcome]:
            for one in orders:
                said = Conviction(
                    check="looks",
                    requirement="1-1",
                    message="m",
                    expected="e",
                    actual="a",
                    experiment="x",
                )
                convictions = (said,) if one.fault.name in seen else ()
                self.over.append(
                    ended := replace(one, result=replace(NOTHING, convictions=convictions))
                )
                yield ended

    monkeypatch.setattr(quick, "Courtroom", Scripted)
    asked = Docket(
        settings=Settings(),
        speaking=(spoken("reference"),),
        faults={"reference": tuple(map(fault, known))},
        checks=(),
        experiments=(),
    )
    campaign, missing = quick_campaign(asked, KILLS, lambda _: None)
    return [one.fault.name for one in campaign.outcomes], missing


def test_a_check_that_kills_its_first_fault_is_tried_with_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert pass_in_which(monkeypatch, "two") == (["two"], ())


def test_a_check_that_misses_its_first_fault_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pass_in_which(monkeypatch, "one", "three", "four") == (
        ["two"],
        ("looks no longer kills two (reference)",),
    )


def test_a_fault_that_is_none_any_more_makes_the_record_stale(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(CommandError, match="two is recorded and is no fault any more"):
        pass_in_which(monkeypatch, known=("one",))
