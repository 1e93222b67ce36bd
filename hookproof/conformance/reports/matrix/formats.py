"""The matrix in GitHub's Markdown, for programs, and as one page that needs no other file."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.reports.behaviour.json import run_json
from hookproof.conformance.reports.html import HEAD_MARK, SIGNS, TONES, report_templates
from hookproof.conformance.reports.markdown import escaped
from hookproof.conformance.reports.matrix.table import (
    NOT_KNOWN,
    Matrix,
    MatrixColumn,
    MatrixRow,
    tallies_of,
)
from hookproof.conformance.reports.summary import SHOWN_ORDER
from hookproof.pages import page_source, policy_element
from hookproof.process.installed_version import installed_version


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


def matrix_json(matrix: Matrix) -> str:
    names = [column.name for column in matrix.columns]
    totals: dict[str, dict[str, dict[str, int]]] = {name: {} for name in names}
    for level, rows in matrix.levels:
        for name, tally in zip(names, tallies_of(rows, len(names)), strict=True):
            counts = {verdict.key: tally.verdicts.get(verdict, 0) for verdict in SHOWN_ORDER}
            totals[name][level.value] = {**counts, "not_known": tally.not_known}
    document = {
        "tool": {"name": "hookproof", "version": installed_version()},
        "notes": list(matrix.notes),
        "runs": [_run(column, totals[column.name]) for column in matrix.columns],
        "requirements": [
            {
                "id": row.requirement.id,
                "section": row.requirement.section,
                "level": row.requirement.level.value,
                "text": row.requirement.text,
                "differs": row.differs,
                "verdicts": dict(zip(names, map(_cell_json, row.entries), strict=True)),
            }
            for row in matrix.rows
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def _run(column: MatrixColumn, totals: dict[str, dict[str, int]]) -> dict[str, Any]:
    return {
        "name": column.name,
        **run_json(column.run),
        "strict": column.run.header.strict,
        "duration_s": column.run.footer.duration_s,
        "notes": column.notes,
        "totals": totals,
        "badge": column.badge,
    }


def _cell_json(entry: Entry | None) -> dict[str, Any] | None:
    if entry is None:
        return None
    return {
        "verdict": entry.verdict.key,
        "accepted": entry.accepted,
        "follows_from": list(entry.follows_from),
        "findings": [finding.message for finding in entry.findings],
        "reasons": list(entry.reasons),
    }


def matrix_page(matrix: Matrix) -> str:
    templates = report_templates()
    style = page_source(templates, "report.css", "matrix.css")
    script = page_source(templates, "filter.js", "matrix.js")
    page = templates.get_template("matrix.html").render(
        matrix=matrix,
        head_mark=HEAD_MARK,
        script=script,
        tone_of=_tone,
        signs=SIGNS,
        verdicts=SHOWN_ORDER,
        not_known=NOT_KNOWN,
        tallies=lambda rows: tallies_of(rows, len(matrix.columns)),
        day=lambda seconds: f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC",
        version=installed_version(),
    )
    policy = policy_element(styles=[style], scripts=[script])
    # The first mark is the page's own: it precedes all that comes from a target.
    return page.replace(HEAD_MARK, f"{policy}\n<style>{style}</style>", 1)


def _tone(column: MatrixColumn) -> Verdict:
    """The verdict whose colour the verdict of a run has."""
    return Verdict.NOT_EXERCISED if column.is_partial else TONES[column.run.footer.verdict]
