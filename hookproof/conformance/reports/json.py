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
from hookproof.conformance.reports.texts.repeat_script import repeat_commands
from hookproof.conformance.results.defects import Defect, defects
from hookproof.conformance.results.run_file import Run
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.catalogue import Level

# In bytes, of one body and of all of them. A finding may rest on bodies of megabytes, and hundreds
# of findings on one of them; run.jsonl holds the rest.
LONGEST_BODY: Final = 65536
LONGEST_BODIES: Final = 4 * 1024 * 1024


def report(run: Run) -> dict[str, Any]:
    totals, consequences = run.ledger.totals, run.ledger.consequences
    run_defects = defects(run.entries)
    bodies = _Bodies(LONGEST_BODIES)
    numbers = {
        broken.finding.key: number
        for number, defect in enumerate(run_defects, 1)
        for broken in (*defect.all, *defect.follows)
    }
    return {
        "tool": {"name": "hookproof", "version": run.header.tool_version},
        **({"run_id": run.header.run_id} if run.header.run_id else {}),
        "target": run.header.target,
        "dialect": run.header.dialect,
        "assumed": list(run.header.assumed),
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
        "excluded": dict(run.header.excluded),
        "requirement_set": run.header.requirement_set,
        "newer": list(run.header.newer),
        "uncovered": run.footer.uncovered,
        "warnings": list(warnings(run)),
        "hook_failures": list(run.footer.hooks),
        "cut_bodies": run.footer.cut_bodies,
        "put_off": {"requests": run.footer.put_off, "waited_s": run.footer.waited_s},
        "left_at_target": {} if run.header.embedded else asdict(run.left),
        "defects": [_defect(number, defect) for number, defect in enumerate(run_defects, 1)],
        "disagreements": [asdict(each) for each in run.disagreements],
        "fields": [asdict(count) for count in run.fields],
        "requirements": [_requirement(run, entry, numbers, bodies) for entry in run.entries],
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


class _Bodies:
    """The beginnings of bodies, of which no more than `left` bytes are shown in all."""

    def __init__(self, left: int) -> None:
        self._left = left

    def exchange(self, exchange: Exchange) -> dict[str, Any]:
        request = None if exchange.request_body is None else self._cut(exchange.request_body)
        response = self._cut(exchange.response_body)
        return {
            **replace(exchange, request_body=request, response_body=response).to_json(),
            **_length("request_body_bytes", request, exchange.request_body),
            **_length("response_body_bytes", response, exchange.response_body),
        }

    def delivery(self, delivery: ReceivedDelivery) -> dict[str, Any]:
        body = self._cut(delivery.body)
        return {
            **replace(delivery, body=body).to_json(),
            **_length("body_bytes", body, delivery.body),
        }

    def _cut(self, body: bytes) -> bytes:
        shown = body[: min(LONGEST_BODY, self._left)]
        self._left -= len(shown)
        return shown


def _length(name: str, shown: bytes | None, body: bytes | None) -> dict[str, int]:
    """How long the body is, under this name, where only its beginning is shown."""
    return {} if body is None or shown == body else {name: len(body)}


def _requirement(
    run: Run, entry: Entry, numbers: Mapping[FindingKey, int], bodies: _Bodies
) -> dict[str, Any]:
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
        "findings": [
            _finding(run, finding, numbers[finding.key], bodies) for finding in entry.findings
        ],
    }


def _finding(run: Run, finding: Finding, defect: int, bodies: _Bodies) -> dict[str, Any]:
    return {
        "defect": defect,
        "check": finding.check,
        "message": finding.message,
        "expected": finding.expected,
        "actual": finding.actual,
        "cause": finding.cause,
        "count": finding.count,
        "follows_from": list(finding.follows_from),
        "exchanges": [bodies.exchange(exchange) for exchange in finding.exchanges],
        "deliveries": [bodies.delivery(delivery) for delivery in finding.deliveries],
        "curl": "\n".join(repeat_commands(finding, run.header)),
    }
