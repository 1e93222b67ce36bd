"""The matrix for programs."""

import json
from typing import Any

from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.reports.behaviour.json import run_json
from hookproof.conformance.reports.matrix.table import Matrix, MatrixColumn, tallies_of
from hookproof.conformance.reports.summary import SHOWN_ORDER
from hookproof.process.installed_version import installed_version


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
                "verdicts": dict(zip(names, map(_cell, row.entries), strict=True)),
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


def _cell(entry: Entry | None) -> dict[str, Any] | None:
    if entry is None:
        return None
    return {
        "verdict": entry.verdict.key,
        "accepted": entry.accepted,
        "follows_from": list(entry.follows_from),
        "findings": [finding.message for finding in entry.findings],
        "reasons": list(entry.reasons),
    }
