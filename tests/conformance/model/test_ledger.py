from collections.abc import Iterable

import pytest

from hookproof.conformance.model.ledger import Entry, Ledger, RunVerdict
from hookproof.conformance.model.verdict import Verdict
from hookproof.process.exit_codes import ExitCode
from hookproof.spec.catalogue import Level, Requirement


def entry(verdict: Verdict, level: Level = Level.STATED) -> Entry:
    requirement = Requirement(
        id="1-1", section="1", level=level, operations=(), text="It does.", gaps=(), untestable=None
    )
    exercised = int(verdict in (Verdict.PASS, Verdict.FAIL))
    return Entry(requirement=requirement, verdict=verdict, exercised=exercised)


def verdict_of(
    *entries: Entry, strict: bool = False, cut: str | None = None, faults: Iterable[str] = ()
) -> RunVerdict:
    return Ledger(entries=entries, cut=cut, faults=tuple(faults)).verdict(strict=strict)


PASSED = entry(Verdict.PASS)


def test_a_target_that_passes_conforms() -> None:
    others = [
        entry(Verdict.NOT_APPLICABLE),
        entry(Verdict.PASS, Level.OPEN),
        entry(Verdict.PASS, Level.HYGIENE),
    ]
    assert verdict_of(PASSED, *others) is RunVerdict.CONFORMS


@pytest.mark.parametrize("level", [Level.STATED, Level.OPEN])
def test_a_failed_requirement_of_a_binding_level_does_not_conform(level: Level) -> None:
    assert verdict_of(PASSED, entry(Verdict.FAIL, level)) is RunVerdict.DOES_NOT_CONFORM


def test_failed_hygiene_counts_only_when_strict() -> None:
    assert verdict_of(PASSED, entry(Verdict.FAIL, Level.HYGIENE)) is RunVerdict.CONFORMS
    assert (
        verdict_of(PASSED, entry(Verdict.FAIL, Level.HYGIENE), strict=True)
        is RunVerdict.DOES_NOT_CONFORM
    )


def test_a_stated_requirement_that_was_not_exercised_makes_the_run_incomplete() -> None:
    assert verdict_of(PASSED, entry(Verdict.NOT_EXERCISED)) is RunVerdict.INCOMPLETE
    assert verdict_of(PASSED, entry(Verdict.NOT_EXERCISED, Level.OPEN)) is RunVerdict.CONFORMS


def test_a_failure_outweighs_what_was_not_exercised() -> None:
    assert (
        verdict_of(entry(Verdict.FAIL), entry(Verdict.NOT_EXERCISED)) is RunVerdict.DOES_NOT_CONFORM
    )


def test_an_error_outweighs_a_failure() -> None:
    assert verdict_of(entry(Verdict.FAIL), entry(Verdict.ERROR)) is RunVerdict.ERROR
    assert verdict_of(PASSED, faults=["a broken experiment"]) is RunVerdict.ERROR


def test_a_run_that_was_cut_short_is_incomplete() -> None:
    assert verdict_of(PASSED, cut="time is up") is RunVerdict.INCOMPLETE
    assert verdict_of(PASSED, entry(Verdict.FAIL), cut="time is up") is RunVerdict.DOES_NOT_CONFORM


def test_a_run_that_judged_nothing_never_conforms() -> None:
    assert verdict_of() is RunVerdict.INCOMPLETE
    assert verdict_of(entry(Verdict.NOT_APPLICABLE)) is RunVerdict.INCOMPLETE
    assert verdict_of(entry(Verdict.NOT_EXERCISED, Level.HYGIENE)) is RunVerdict.INCOMPLETE


def test_every_verdict_has_its_documented_exit_code() -> None:
    assert {verdict: verdict.exit_code for verdict in RunVerdict} == {
        RunVerdict.CONFORMS: 0,
        RunVerdict.DOES_NOT_CONFORM: 1,
        RunVerdict.INCOMPLETE: 3,
        RunVerdict.ERROR: 70,
    }
    assert (ExitCode.UNREACHABLE, ExitCode.USAGE) == (4, 64)


def test_totals_count_each_level_separately() -> None:
    totals = Ledger(entries=(PASSED, PASSED, entry(Verdict.FAIL, Level.OPEN))).totals
    assert totals[Level.STATED][Verdict.PASS] == 2
    assert totals[Level.OPEN] == {verdict: int(verdict is Verdict.FAIL) for verdict in Verdict}
    assert set(totals[Level.HYGIENE].values()) == {0}
