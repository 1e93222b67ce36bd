"""The campaign as JSON.

The keys are a file format and keep their words: `trials` are mutant runs, `convictions` detections,
`innocents` conforming variants, `false_accusations` false positives, and `stock` is the
schemathesis baseline.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.mutants.catalogue import ListedFault
from hookproof.conformance.mutants.results import Campaign, FaultOutcome, VariantOutcome


def render_json(campaign: Campaign, checks: Sequence[Check]) -> str:
    return json.dumps(report_data(campaign, checks), indent=1, ensure_ascii=False) + "\n"


def report_data(campaign: Campaign, checks: Sequence[Check]) -> dict[str, Any]:
    kills = campaign.kills
    return {
        "flawless": campaign.flawless,
        "complete": campaign.complete,
        "interrupted": campaign.interrupted,
        "duration_s": round(campaign.duration_s, 1),
        "faults": [_fault(campaign, fault) for fault in campaign.faults],
        "innocents": [_variant(campaign, variant) for variant in campaign.variants],
        "checks": [
            {
                "name": check.name,
                "requirements": list(check.requirements),
                "kills": sorted(kills[check.name]),
            }
            for check in checks
            if check.name in kills
        ],
        "survivors": [{"fault": name, "why": reason} for name, reason in campaign.survivors()],
        "false_accusations": [
            {"server": name, "dialect": dialect, **asdict(detection)}
            for name, dialect, detection in campaign.false_positives()
        ],
        "problems": [
            {"server": name, "dialect": dialect, "why": problem}
            for name, dialect, problem in campaign.problems()
        ],
    }


def _fault(campaign: Campaign, fault: ListedFault) -> dict[str, Any]:
    return {
        "name": fault.name,
        "broken": fault.broken,
        "violates": list(fault.violates),
        "also": [],
        "seen": fault.seen,
        "area": fault.area,
        "trials": [
            _mutant_run(outcome)
            for outcome in campaign.outcomes
            if outcome.fault.name == fault.name
        ],
        "stock": _schemathesis_baseline(campaign, fault.name),
    }


def _mutant_run(outcome: FaultOutcome) -> dict[str, Any]:
    return {
        "dialect": outcome.dialect,
        "survived": outcome.survived,
        "claims": sorted(outcome.claims),
        "convictions": [asdict(detection) for detection in outcome.expected_detections],
        "duration_s": round(outcome.result.duration_s, 1),
    }


def _variant(campaign: Campaign, variant: VariantOutcome) -> dict[str, Any]:
    return {
        "name": variant.name,
        "dialect": variant.dialect,
        "difference": variant.difference,
        "acquitted": not variant.result.detections,
        "stock": _schemathesis_baseline(campaign, variant.name),
    }


def _schemathesis_baseline(campaign: Campaign, name: str) -> list[str] | None:
    """What plain schemathesis reported of a server; None where it was not run."""
    reported = (campaign.schemathesis_baseline or {}).get(name)
    return None if reported is None else list(reported)
