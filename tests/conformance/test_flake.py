"""Tests of what counts as a difference between two runs."""

from typing import Any

from tests.conformance.flake import RUN, differences

LATE = "this machine was late by 900 ms, more than a verdict can allow for."


def run(verdict: str, requirement: str, reason: str = "") -> dict[str, dict[str, Any]]:
    return {RUN: {"verdict": verdict}, "8-3": {"verdict": requirement, "reasons": [reason]}}


def test_what_a_late_machine_kept_from_judging_differs_from_nothing() -> None:
    conforming, late = run("conforms", "pass"), run("incomplete", "not_exercised", LATE)
    assert not differences(conforming, late)
    assert not differences(late, conforming)


def test_anything_else_differs() -> None:
    conforming = run("conforms", "pass")
    assert differences(conforming, run("conforms", "pass")) == []
    assert len(differences(conforming, run("does_not_conform", "fail", LATE))) == 2
    assert len(differences(conforming, run("incomplete", "not_exercised", "Nothing came."))) == 2
