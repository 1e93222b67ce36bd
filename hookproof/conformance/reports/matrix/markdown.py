"""The matrix in GitHub's Markdown."""

from collections.abc import Iterator, Sequence

from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.reports.html import SIGNS
from hookproof.conformance.reports.markdown import escaped
from hookproof.conformance.reports.matrix.table import NOT_KNOWN, Matrix, MatrixRow, tallies_of


def matrix_markdown(matrix: Matrix) -> str:
    return "\n".join(_lines(matrix)) + "\n"


def _lines(matrix: Matrix) -> Iterator[str]:
    columns = matrix.columns
    yield "## Requirements by run"
    yield ""
    yield "| run | verdict | target | dialect | hookproof | badge |"
    yield "|---|---|---|---|---|---|"
    for column in columns:
        header = column.run.header
        cells = [
            column.name,
            column.headline,
            header.target,
            header.dialect,
            header.tool_version,
            column.badge["message"],
        ]
        yield f"| {' | '.join(map(escaped, cells))} |"
    yield ""
    yield from (f"- {escaped(note)}" for note in matrix.notes)
    yield from (
        f"- {escaped(f'{column.name}: {note}')}" for column in columns for note in column.notes
    )
    yield ""
    yield from _head(matrix, "level")
    for level, rows in matrix.levels:
        words = [tally.words for tally in tallies_of(rows, len(columns))]
        yield f"| {level} | {' | '.join(words)} |"
    for section, rows in matrix.sections:
        yield ""
        yield f"### {escaped(f'{section} {matrix.titles.get(section, str())}'.rstrip())}"
        yield ""
        yield from _head(matrix, "requirement")
        yield from map(_row, rows)


def _head(matrix: Matrix, first: str) -> Sequence[str]:
    names = [escaped(column.name) for column in matrix.columns]
    return [f"| {first} | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]


def _row(row: MatrixRow) -> str:
    requirement = row.requirement
    level = "" if requirement.level == "stated" else f" ({requirement.level})"
    what = f"**{requirement.id}** {escaped(requirement.text)}{level}"
    return f"| {what} | {' | '.join(map(_cell, row.entries))} |"


def _cell(entry: Entry | None) -> str:
    if entry is None:
        return f"? {NOT_KNOWN}"
    accepted = ", accepted" if entry.accepted else ""
    follows = f", follows from {', '.join(entry.follows_from)}" if entry.follows_from else ""
    return f"{SIGNS[entry.verdict]} {entry.verdict.words}{accepted}{escaped(follows)}"
