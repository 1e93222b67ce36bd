"""report.json: the published machine-readable form of a run; `report.schema.json` beside this file
describes it.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any, Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.model.ledger import Entry, Finding, FindingKey
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.reports.summary import warnings
from hookproof.conformance.results.curl_command import curl
from hookproof.conformance.results.defects import Defect, defects
from hookproof.conformance.results.run_file import Run
from hookproof.spec.catalogue import Level

# In bytes. A finding may rest on a body of megabytes, of which run.jsonl holds the rest.
LONGEST_BODY: Final = 65536


def report(run: Run) -> dict[str, Any]:
    """The report of a run as a JSON object."""
    totals, consequences = run.ledger.totals, run.ledger.consequences
    run_defects = defects(run.entries)
    numbers = {
        broken.finding.key: number
        for number, defect in enumerate(run_defects, 1)
        for broken in (*defect.all, *defect.follows)
    }
    return {
        "tool": {"name": "hookproof", "version": run.header.tool_version},
        "target": run.header.target,
        "dialect": run.header.dialect,
        "profile": run.header.profile,
        "seed": run.header.seed,
        "started_at": datetime.fromtimestamp(run.header.started_at, UTC).isoformat(
            timespec="milliseconds"
        ),
        "duration_s": run.footer.duration_s,
        "round_trip_s": run.header.round_trip_s,
        "verdict": run.footer.verdict.value,
        "exit_code": run.footer.exit_code,
        "totals": {
            level.value: {
                **{verdict.key: totals[level][verdict] for verdict in Verdict},
                "follows": consequences[level],
            }
            for level in Level
        },
        "warnings": list(warnings(run)),
        "hook_failures": list(run.footer.hooks),
        "cut_bodies": run.footer.cut_bodies,
        "put_off": {"requests": run.footer.put_off, "waited_s": run.footer.waited_s},
        "left_at_target": {} if run.header.embedded else asdict(run.left),
        "defects": [_defect(number, defect) for number, defect in enumerate(run_defects, 1)],
        "disagreements": [asdict(each) for each in run.disagreements],
        "fields": [asdict(count) for count in run.fields],
        "requirements": [_requirement(entry, numbers) for entry in run.entries],
    }


def report_text(run: Run) -> str:
    return json.dumps(report(run), indent=1, ensure_ascii=True) + "\n"


def _defect(number: int, defect: Defect) -> dict[str, Any]:
    lead = defect.lead.finding
    return {
        "number": number,
        "requirement": lead.requirement,
        "check": lead.check,
        "message": lead.message,
        "cause": lead.cause,
        "operation": lead.operation,
        "breaks": [broken.entry.requirement.id for broken in defect.further],
        "follows": [broken.entry.requirement.id for broken in defect.consequences],
        "accepted": defect.accepted,
    }


def _requirement(entry: Entry, numbers: Mapping[FindingKey, int]) -> dict[str, Any]:
    shown_by = {"shown_by": entry.shown_by} if entry.shown_by else {}
    reasons = {"reasons": list(entry.reasons)} if entry.reasons else {}
    return {
        "id": entry.requirement.id,
        "section": entry.requirement.section,
        "level": entry.requirement.level.value,
        "text": entry.requirement.text,
        "verdict": entry.verdict.key,
        "exercised": entry.exercised,
        "checks": list(entry.checks),
        **shown_by,
        **reasons,
        "findings": [_finding(finding, numbers[finding.key]) for finding in entry.findings],
    }


def _finding(finding: Finding, defect: int) -> dict[str, Any]:
    return {
        "defect": defect,
        "check": finding.check,
        "message": finding.message,
        "expected": finding.expected,
        "actual": finding.actual,
        "cause": finding.cause,
        "count": finding.count,
        "follows_from": list(finding.follows_from),
        "exchanges": [_exchange(exchange) for exchange in finding.exchanges],
        "deliveries": [delivery.to_json() for delivery in finding.deliveries],
        "curl": curl(finding.exchanges),
    }


def _exchange(exchange: Exchange) -> dict[str, Any]:
    body = exchange.request_body
    if body is None or len(body) <= LONGEST_BODY:
        return exchange.to_json()
    cut = replace(exchange, request_body=body[:LONGEST_BODY])
    return {**cut.to_json(), "request_body_bytes": len(body)}
