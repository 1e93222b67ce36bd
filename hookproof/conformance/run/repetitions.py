"""Merges the ledgers of a run's repetitions: each requirement keeps its worst verdict.

A flaky requirement keeps all its verdicts as well.
"""

from collections.abc import Sequence
from dataclasses import replace

from hookproof.conformance.model.ledger import Entry, Ledger


def merge_repetitions(ledgers: Sequence[Ledger]) -> Ledger:
    """Merge ledgers that hold the same requirements in the same order."""
    rows = zip(*(ledger.entries for ledger in ledgers), strict=True)
    return Ledger(
        entries=tuple(map(_worst, rows)),
        cut=next((ledger.cut for ledger in ledgers if ledger.cut), None),
        faults=tuple(dict.fromkeys(fault for ledger in ledgers for fault in ledger.faults)),
        hooks=tuple(dict.fromkeys(hook for ledger in ledgers for hook in ledger.hooks)),
    )


def _worst(entries: Sequence[Entry]) -> Entry:
    verdicts = tuple(entry.verdict for entry in entries)
    # What only follows from another failure in one repetition may stand for itself in the next.
    worst = max(entries, key=lambda entry: (entry.verdict, bool(entry.own_findings)))
    seen = verdicts if len(set(verdicts)) > 1 else ()
    return replace(worst, exercised=sum(entry.exercised for entry in entries), seen=seen)
