"""report.json: the published machine-readable form of a run; `report.schema.json` beside this file
describes it.
"""

import json
from typing import Any

from hookproof.conformance.model.ledger import Entry, Finding
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.results.curl_command import curl
from hookproof.conformance.results.run_file import Run
from hookproof.spec.catalogue import Level


def report(run: Run) -> dict[str, Any]:
    """The report of a run as a JSON object."""
    totals = run.ledger.totals
    return {
        "tool": {"name": "hookproof", "version": run.header.tool_version},
        "target": run.header.target,
        "dialect": run.header.dialect,
        "profile": run.header.profile,
        "seed": run.header.seed,
        "duration_s": run.footer.duration_s,
        "verdict": run.footer.verdict.value,
        "exit_code": run.footer.exit_code,
        "totals": {
            level.value: {verdict.key: totals[level][verdict] for verdict in Verdict}
            for level in Level
        },
        "requirements": [_requirement(entry) for entry in run.entries],
    }


def report_text(run: Run) -> str:
    return json.dumps(report(run), indent=1, ensure_ascii=True) + "\n"


def _requirement(entry: Entry) -> dict[str, Any]:
    shown_by = {"shown_by": entry.shown_by} if entry.shown_by else {}
    return {
        "id": entry.requirement.id,
        "section": entry.requirement.section,
        "level": entry.requirement.level.value,
        "text": entry.requirement.text,
        "verdict": entry.verdict.key,
        "exercised": entry.exercised,
        "checks": list(entry.checks),
        **shown_by,
        "findings": [_finding(finding) for finding in entry.findings],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "check": finding.check,
        "message": finding.message,
        "expected": finding.expected,
        "actual": finding.actual,
        "exchanges": [exchange.to_json() for exchange in finding.exchanges],
        "deliveries": [delivery.to_json() for delivery in finding.deliveries],
        "curl": curl(finding.exchanges),
    }
