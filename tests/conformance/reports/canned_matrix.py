"""A matrix of three runs: one with everything that a report must show, of a hostile target; one of
another version; and one of a selection.
"""

from dataclasses import replace
from pathlib import Path
from typing import Final

from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.reports.matrix.table import Matrix, MatrixColumn, matrix_of
from hookproof.conformance.results.run_file import Run
from hookproof.spec.catalogue import Level
from tests.conformance.canned_run import failed, finished_run, header, passed, requirement
from tests.conformance.golden_run import HOSTILE, golden_run

REWORDED: Final = "The order is <b>the one</b> | asked for."


def later_run(folder: Path) -> Run:
    """A run of a later version, which knows a requirement more and words one otherwise."""
    reworded = Entry(
        requirement=requirement("4.4-3", Level.HYGIENE, REWORDED),
        verdict=Verdict.PASS,
        exercised=1,
    )
    return finished_run(
        folder,
        passed("4.1-1"),
        passed("4.1-2"),
        passed("4.1-10"),
        reworded,
        run_header=replace(header(), tool_version="0.9.0", started_at=1_900_000_000.0),
    )


def partial_run(folder: Path) -> Run:
    return finished_run(folder, passed("4.1-1"), run_header=header(everything=False))


def canned_matrix(folder: Path) -> Matrix:
    names = ("golden", "later", "partial")
    for name in names:
        (folder / name).mkdir()
    runs = (
        golden_run(folder / "golden"),
        later_run(folder / "later"),
        partial_run(folder / "partial"),
    )
    shown = (f"ours {HOSTILE}", "theirs", "a part")
    return matrix_of(
        [MatrixColumn(name=name, run=run) for name, run in zip(shown, runs, strict=True)]
    )


def failing_run(folder: Path) -> Run:
    return finished_run(folder, passed("4.1-1"), failed("4.1-2"))
