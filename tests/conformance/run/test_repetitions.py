from dataclasses import replace

from hookproof.conformance.model.ledger import Ledger
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.run.regrading import merge_repetitions
from tests.conformance.canned_run import failed, finding, not_exercised, passed


def test_the_worst_verdict_counts_and_all_of_them_are_kept() -> None:
    ledger = merge_repetitions(
        [
            Ledger(entries=(passed("4.1-2"),)),
            Ledger(entries=(failed(),)),
            Ledger(entries=(passed("4.1-2"),)),
        ]
    )
    (entry,) = ledger.entries
    assert entry.verdict is Verdict.FAIL
    assert entry.seen == (Verdict.PASS, Verdict.FAIL, Verdict.PASS)
    assert entry.exercised == 12 + 4 + 12
    assert entry.findings


def test_a_failure_that_stood_for_itself_once_is_kept_as_that() -> None:
    follows = replace(finding(), follows_from=("4.1-1",))
    ledger = merge_repetitions(
        [
            Ledger(entries=(replace(failed(), findings=(follows,)),)),
            Ledger(entries=(failed(),)),
        ]
    )
    assert ledger.entries[0].own_findings


def test_a_verdict_that_is_always_the_same_is_not_flaky() -> None:
    (entry,) = merge_repetitions(
        [Ledger(entries=(not_exercised(),)), Ledger(entries=(not_exercised(),))]
    ).entries
    assert entry.seen == ()


def test_a_cut_and_every_fault_are_kept() -> None:
    ledger = merge_repetitions(
        [Ledger(entries=(), faults=("a",)), Ledger(entries=(), cut="late", faults=("a", "b"))]
    )
    assert (ledger.cut, ledger.faults) == ("late", ("a", "b"))
