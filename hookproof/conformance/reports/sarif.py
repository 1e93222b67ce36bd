"""report.sarif, SARIF 2.1.0 (OASIS): a rule per requirement and a result per finding, for tools
that collect the results of analysers.

SARIF locates results in files. A finding concerns a running server, so its location is a logical
one: the operation and the base URL of the target.
"""

import hashlib
import json
from typing import Any, Final

from hookproof.conformance.model.ledger import Entry, counts
from hookproof.conformance.reports.summary import notes
from hookproof.conformance.reports.texts.repeat_script import repeat_commands
from hookproof.conformance.results.defects import BrokenRequirement, Defect, defects
from hookproof.conformance.results.run_file import Run
from hookproof.process.terminal_text import printable
from hookproof.spec.catalogue import Level

SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
LEVELS: Final = {Level.STATED: "error", Level.OPEN: "error", Level.HYGIENE: "warning"}


def sarif_text(run: Run) -> str:
    return json.dumps(sarif(run), indent=1, ensure_ascii=True) + "\n"


def sarif(run: Run) -> dict[str, Any]:
    places = {entry.requirement.id: place for place, entry in enumerate(run.entries)}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "hookproof",
                        "semanticVersion": run.header.tool_version,
                        "rules": [_rule(entry) for entry in run.entries],
                    }
                },
                "invocations": [_invocation(run)],
                "results": [
                    _result(run, defect, broken, places)
                    for defect in defects(run.entries)
                    for broken in (*defect.all, *defect.follows)
                ],
                "columnKind": "unicodeCodePoints",
                "properties": {
                    "verdict": run.footer.verdict.value,
                    "target": run.header.target,
                    "dialect": run.header.dialect,
                    "profile": run.header.profile,
                    "seed": run.header.seed,
                },
            }
        ],
    }


def _rule(entry: Entry) -> dict[str, Any]:
    requirement = entry.requirement
    return {
        "id": requirement.id,
        "shortDescription": {"text": requirement.text},
        "fullDescription": {
            "text": f"Section {requirement.section} of the API document, {requirement.level}."
        },
        "defaultConfiguration": {"level": LEVELS[requirement.level]},
        "properties": {"tags": [requirement.level.value, f"section {requirement.section}"]},
    }


def _invocation(run: Run) -> dict[str, Any]:
    notifications = [
        {"level": "note", "message": {"text": printable(words)}} for words in notes(run)
    ]
    ended_well = not run.footer.faults and run.footer.cut is None
    return {
        "executionSuccessful": ended_well,
        "exitCode": run.footer.exit_code,
        "toolExecutionNotifications": notifications,
    }


def _result(
    run: Run, defect: Defect, broken: BrokenRequirement, places: dict[str, int]
) -> dict[str, Any]:
    finding, entry = broken.finding, broken.entry
    counted = counts(entry, strict=run.header.strict) and not finding.follows_from
    result: dict[str, Any] = {
        "ruleId": finding.requirement,
        "ruleIndex": places[finding.requirement],
        "kind": "fail",
        "level": LEVELS[entry.requirement.level] if counted or entry.accepted else "note",
        "message": {
            "text": printable(
                f"{finding.message}. Expected: {finding.expected}. Actual: {finding.actual}."
            )
        },
        "locations": [_location(run, broken)],
        "partialFingerprints": {
            "hookproof/v1": _digest(finding.requirement, finding.check, finding.message),
            "hookproof/v2": _digest(
                finding.requirement,
                finding.check,
                finding.message,
                finding.cause,
                finding.operation,
            ),
        },
        "properties": {
            "check": finding.check,
            "count": finding.count,
            "case": printable(f"{finding.experiment}: {finding.case}"),
            "defect": _digest(defect.lead.finding.requirement, defect.lead.finding.message),
            "curl": "\n".join(repeat_commands(finding, run.header)),
        },
    }
    if finding.follows_from:
        result["properties"]["follows_from"] = list(finding.follows_from)
    if entry.accepted:
        result["suppressions"] = [{"kind": "external", "justification": entry.accepted}]
    return result


def _location(run: Run, broken: BrokenRequirement) -> dict[str, Any]:
    exchanges = broken.finding.exchanges
    name = (exchanges[-1].operation_id if exchanges else None) or "delivery"
    return {
        "logicalLocations": [
            {"name": name, "fullyQualifiedName": f"{run.header.target} {name}", "kind": "function"}
        ]
    }


def _digest(*words: str) -> str:
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]
