"""A trend for programs."""

from dataclasses import asdict
from typing import Any

from hookproof.commands.trend.history import CheckStep, History, LoadStep
from hookproof.conformance.reports.behaviour.json import change_json, run_json
from hookproof.conformance.reports.summary import SHOWN_ORDER


def trend_json(history: History) -> dict[str, Any]:
    return {
        "check": [
            {"target": target, "runs": [_check_json(step) for step in steps]}
            for target, steps in history.check.items()
        ],
        "load": [
            {"target": target, "profile": profile, "runs": [_load_json(step) for step in steps]}
            for (target, profile), steps in history.load.items()
        ],
        "left_out": [asdict(each) for each in history.left_out],
    }


def _check_json(step: CheckStep) -> dict[str, Any]:
    totals = step.run.run.ledger.totals
    return {
        "place": step.run.place,
        **run_json(step.run.run),
        "totals": {
            level.value: {verdict.key: counts[verdict] for verdict in SHOWN_ORDER}
            for level, counts in totals.items()
        },
        "changes": [change_json(each) for each in step.changes],
        "notes": list(step.notes),
    }


def _load_json(step: LoadStep) -> dict[str, Any]:
    run = step.run
    return {
        "place": run.place,
        "started_at": run.started_at,
        "verdict": run.verdict,
        "conditions": dict(run.conditions),
        "figures": dict(run.figures),
        "changes": [asdict(each) for each in step.changes],
        "notes": list(step.notes),
    }
