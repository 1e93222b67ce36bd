"""The campaign as JSON: who was tried, who was convicted of what by whom, and what follows."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.mutants.results import Acquittal, Campaign, Outcome


def report_text(campaign: Campaign, checks: Sequence[Check]) -> str:
    """The report as indented JSON."""
    return json.dumps(report(campaign, checks), indent=1, ensure_ascii=False) + "\n"


def report(campaign: Campaign, checks: Sequence[Check]) -> dict[str, Any]:
    """The report as plain data."""
    kills = campaign.kills
    return {
        "flawless": campaign.flawless,
        "complete": campaign.complete,
        "interrupted": campaign.interrupted,
        "duration_s": round(campaign.duration_s, 1),
        "faults": [
            {
                "name": fault.name,
                "broken": fault.broken,
                "violates": list(fault.violates),
                "also": list(fault.also),
                "seen": fault.seen,
                "area": fault.area,
                "trials": [
                    _trial(one) for one in campaign.outcomes if one.fault.name == fault.name
                ],
                "stock": _stock(campaign, fault.name),
            }
            for fault in campaign.faults
        ],
        "innocents": [_innocent(campaign, one) for one in campaign.acquittals],
        "checks": [
            {
                "name": one.name,
                "requirements": list(one.requirements),
                "kills": sorted(kills[one.name]),
            }
            for one in checks
            if one.name in kills
        ],
        "survivors": [{"fault": name, "why": why} for name, why in campaign.survivors()],
        "false_accusations": [
            {"server": name, "dialect": dialect, **asdict(one)}
            for name, dialect, one in campaign.false_accusations()
        ],
        "problems": [
            {"server": name, "dialect": dialect, "why": why}
            for name, dialect, why in campaign.problems()
        ],
    }


def _trial(one: Outcome) -> dict[str, Any]:
    return {
        "dialect": one.dialect,
        "survived": one.survived,
        "claims": sorted(one.claims),
        "convictions": [asdict(conviction) for conviction in one.rightly],
        "duration_s": round(one.result.duration_s, 1),
    }


def _innocent(campaign: Campaign, one: Acquittal) -> dict[str, Any]:
    return {
        "name": one.name,
        "dialect": one.dialect,
        "difference": one.difference,
        "acquitted": not one.result.convictions,
        "stock": _stock(campaign, one.name),
    }


def _stock(campaign: Campaign, name: str) -> list[str] | None:
    """What plain schemathesis found in a server; None where it was not tried."""
    found = (campaign.stock or {}).get(name)
    return None if found is None else list(found)
