"""The matrix of several runs: a row for each requirement, a column for each run.

Runs of different versions, or of a selection, do not say something of the same requirements. What a
run says nothing of is not known, which is no verdict.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from hookproof.conformance.model.ledger import Entry, RunVerdict
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.reports.badge import badge
from hookproof.conformance.reports.summary import HEADLINES, SHOWN_ORDER, notes
from hookproof.conformance.results.comparison import NAMES
from hookproof.conformance.results.run_file import Run
from hookproof.spec.catalogue import Level, Requirement

NOT_KNOWN: Final = "not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixColumn:
    """A run under a name that no other column has."""

    name: str
    run: Run

    @property
    def badge(self) -> Mapping[str, Any]:
        return badge(self.run)

    @property
    def is_partial(self) -> bool:
        """Whether it conforms as far as it was judged, which is not the whole document."""
        conforms = self.run.footer.verdict is RunVerdict.CONFORMS
        return conforms and not self.run.header.everything

    @property
    def headline(self) -> str:
        """Its verdict, which claims no more than its badge does."""
        words = HEADLINES[self.run.footer.verdict]
        return f"{words} IN PART" if self.is_partial else words

    @property
    def notes(self) -> list[str]:
        return list(notes(self.run))


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """A requirement with its entry in each run, None where a run says nothing of it."""

    requirement: Requirement
    entries: tuple[Entry | None, ...]

    @property
    def differs(self) -> bool:
        """Whether the runs that know the requirement have different verdicts."""
        return len({entry.verdict for entry in self.entries if entry}) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixTally:
    """How many of some requirements have each verdict in a run, and how many are not known."""

    verdicts: Mapping[Verdict, int]
    not_known: int

    @property
    def applicable(self) -> int:
        return sum(self.verdicts.values()) - self.verdicts.get(Verdict.NOT_APPLICABLE, 0)

    @property
    def share(self) -> str:
        """How many of the applicable ones passed; empty if none is known to apply."""
        passed = self.verdicts.get(Verdict.PASS, 0)
        return f"{passed}/{self.applicable}" if self.applicable else ""

    @property
    def words(self) -> str:
        """The counts that are not 0, in words."""
        counts = [
            *((verdict.words, self.verdicts.get(verdict, 0)) for verdict in SHOWN_ORDER),
            (NOT_KNOWN, self.not_known),
        ]
        return ", ".join(f"{count} {words}" for words, count in counts if count) or "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """Runs and requirements, both in order; `titles` are those of the document's sections."""

    columns: tuple[MatrixColumn, ...]
    rows: tuple[MatrixRow, ...]
    titles: Mapping[str, str]
    notes: tuple[str, ...]

    @property
    def sections(self) -> list[tuple[str, list[MatrixRow]]]:
        grouped = groupby(self.rows, key=lambda row: row.requirement.section)
        return [(section, list(rows)) for section, rows in grouped]

    @property
    def levels(self) -> list[tuple[Level, list[MatrixRow]]]:
        rows = {
            level: [row for row in self.rows if row.requirement.level is level] for level in Level
        }
        return [(level, found) for level, found in rows.items() if found]


def matrix_of(columns: Sequence[MatrixColumn]) -> Matrix:
    """The matrix of one run or more; texts and levels are those of the run that began last."""
    latest_first = sorted(columns, key=lambda column: -column.run.header.started_at)
    requirements: dict[str, Requirement] = {}
    titles: dict[str, str] = {}
    for column in latest_first:
        titles = {**column.run.header.sections, **titles}
        for entry in column.run.entries:
            requirements.setdefault(entry.requirement.id, entry.requirement)
    entries = [{each.requirement.id: each for each in column.run.entries} for column in columns]
    rows = [
        MatrixRow(
            requirement=requirements[name],
            entries=tuple(of_run.get(name) for of_run in entries),
        )
        for name in sorted(requirements, key=_place)
    ]
    return Matrix(
        columns=tuple(columns), rows=tuple(rows), titles=titles, notes=tuple(_notes(columns, rows))
    )


def tallies_of(rows: Sequence[MatrixRow], columns: int) -> list[MatrixTally]:
    """A tally of these rows for each column."""
    entries = [[row.entries[column] for row in rows] for column in range(columns)]
    return [
        MatrixTally(
            verdicts=Counter(entry.verdict for entry in of_run if entry),
            not_known=sum(entry is None for entry in of_run),
        )
        for of_run in entries
    ]


def _notes(columns: Sequence[MatrixColumn], rows: Sequence[MatrixRow]) -> Iterator[str]:
    """What makes the columns harder to compare."""
    for what in ("tool_version", "profile", "strict", "dialect"):
        values = {str(getattr(column.run.header, what)) for column in columns}
        if len(values) > 1:
            yield f"The {NAMES.get(what, what)} is not the same in all runs."
    for what in ("level", "text"):
        changed = [
            row.requirement.id
            for row in rows
            if len({getattr(each.requirement, what) for each in row.entries if each}) > 1
        ]
        if changed:
            yield (
                f"The {what} is not the same in all runs, and that of the latest is shown:"
                f" {', '.join(changed)}."
            )
    if any(None in row.entries for row in rows):
        yield (
            "Where a run did not select a requirement, or its version does not have it, the verdict"
            f" is {NOT_KNOWN}."
        )


def _place(name: str) -> list[tuple[int, str]]:
    """The place of a requirement in the document, by the numbers in its name."""
    return [
        (int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)
    ]
