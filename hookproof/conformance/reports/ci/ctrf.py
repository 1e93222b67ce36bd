"""ctrf.json, in the Common Test Report Format: a test for each requirement.

The format has no status for an error of the tool itself. A requirement that hookproof could not
judge is `other`, so that the target is not accused of it, and one more test fails for the run as a
whole, as it does for a run that is incomplete: who reads only this file reaches the verdict of the
exit code.
"""

import json
from collections import Counter
from typing import Any, Final

from hookproof.conformance.model.ledger import Entry, RunVerdict
from hookproof.conformance.reports.ci.outcome import (
    THE_RUN,
    CaseOutcome,
    outcome_of,
    outcome_of_the_run,
)
from hookproof.conformance.reports.summary import why_no_verdict
from hookproof.conformance.results.run_file import Run
from hookproof.process.terminal_text import printable, printable_lines

# The version of the specification that is followed.
SPEC_VERSION: Final = "0.0.0"
STATUSES: Final = ("passed", "failed", "skipped", "pending", "other")
STATUS_OF: Final = {"failure": "failed", "skipped": "skipped", "error": "other"}


def ctrf_text(run: Run) -> str:
    return json.dumps(ctrf(run), indent=1, ensure_ascii=True) + "\n"


def ctrf(run: Run) -> dict[str, Any]:
    header, footer = run.header, run.footer
    tests = [_test(run, entry) for entry in run.entries]
    if (whole := _outcome_of_the_run(run)) is not None:
        tests.append(_test_of_the_run(whole))
    counted = Counter(test["status"] for test in tests)
    start, duration = round(header.started_at * 1000), round(footer.duration_s * 1000)
    return {
        "reportFormat": "CTRF",
        "specVersion": SPEC_VERSION,
        "generatedBy": f"hookproof {header.tool_version}",
        "results": {
            "tool": {"name": "hookproof", "version": header.tool_version},
            "summary": {
                "tests": len(tests),
                **{status: counted[status] for status in STATUSES},
                "suites": len({test["suite"][0] for test in tests}),
                "start": start,
                "stop": start + duration,
                "duration": duration,
            },
            "tests": tests,
            "environment": {"appName": printable(header.target)},
            "extra": {
                "verdict": footer.verdict.value,
                "exit_code": footer.exit_code,
                "dialect": printable(header.dialect),
                "profile": header.profile,
                "seed": header.seed,
            },
        },
    }


def _test(run: Run, entry: Entry) -> dict[str, Any]:
    requirement, outcome = entry.requirement, outcome_of(run, entry)
    section = requirement.section
    test = {
        "name": printable(f"{requirement.id} {requirement.text}"),
        "status": "passed" if outcome is None else STATUS_OF[outcome.kind],
        "duration": round(entry.lasted_s * 1000),
        "suite": [printable(f"{section} {run.header.sections.get(section, '')}".strip())],
        "rawStatus": entry.verdict.words,
        "tags": [requirement.level.value, f"section {section}"],
    }
    return test | _words(outcome)


def _test_of_the_run(outcome: CaseOutcome) -> dict[str, Any]:
    return {
        "name": THE_RUN,
        "status": "failed",
        "duration": 0,
        "suite": ["the run as a whole"],
        "rawStatus": outcome.kind,
    } | _words(outcome)


def _words(outcome: CaseOutcome | None) -> dict[str, str]:
    if outcome is None:
        return {}
    details = {"trace": printable_lines(outcome.details)} if outcome.details else {}
    return {"message": printable(outcome.message), **details}


def _outcome_of_the_run(run: Run) -> CaseOutcome | None:
    if (outcome := outcome_of_the_run(run)) is not None:
        return outcome
    if run.footer.verdict in {RunVerdict.CONFORMS, RunVerdict.DOES_NOT_CONFORM}:
        return None
    reasons = why_no_verdict(run)
    return CaseOutcome(kind="error", message=" ".join(reasons), details="\n".join(reasons))
