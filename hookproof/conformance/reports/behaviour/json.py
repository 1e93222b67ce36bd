"""Two runs side by side, for programs."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hookproof.conformance.reports.behaviour.two_runs import TwoBehaviours
from hookproof.conformance.results.behaviour.answers import quantile
from hookproof.conformance.results.behaviour.behaviour import DeliveryBehaviour
from hookproof.conformance.results.behaviour.shapes import FieldShape
from hookproof.conformance.results.comparison import Difference
from hookproof.conformance.results.run_file import Run


def run_json(run: Run) -> dict[str, Any]:
    """What distinguishes a run from others, and its verdict."""
    header = run.header
    return {
        "target": header.target,
        "dialect": header.dialect,
        "profile": header.profile,
        "seed": header.seed,
        "version": header.tool_version,
        "started_at": header.started_at,
        "round_trip_s": header.round_trip_s,
        "verdict": run.footer.verdict.value,
        "exit_code": run.footer.exit_code,
        "cut": run.footer.cut,
    }


def change_json(difference: Difference) -> dict[str, Any]:
    requirement = difference.entry.requirement
    return {
        "id": requirement.id,
        "level": requirement.level.value,
        "text": requirement.text,
        "change": difference.change.value,
        "before": difference.before.verdict.key if difference.before else None,
        "after": difference.after.verdict.key if difference.after else None,
    }


def behaviour_json(both: TwoBehaviours) -> dict[str, Any]:
    count, others = both.other_statuses
    first, second = both.deliveries
    return {
        "operations": {
            name: {
                "statuses": {"before": dict(before.statuses), "after": dict(after.statuses)},
                "took_s": {"before": _times(before.took_s), "after": _times(after.took_s)},
            }
            for name, before, after in both.operations
        },
        "requests_in_both": count,
        "other_statuses": [asdict(each) for each in others],
        "differing_fields": [
            {
                "kind": each.kind,
                "path": each.path,
                "before": _shape(each.before),
                "after": _shape(each.after),
            }
            for each in both.differing_shapes
        ],
        "deliveries": {"before": _deliveries(first), "after": _deliveries(second)},
    }


def _shape(shape: FieldShape | None) -> dict[str, Any] | None:
    if shape is None:
        return None
    return {"seen": shape.seen, "of": shape.of, "types": dict(shape.types)}


def _times(took_s: Sequence[float]) -> dict[str, Any] | None:
    if not took_s:
        return None
    names = {"p50": 0.5, "p95": 0.95, "max": 1.0}
    quantiles = {name: round(quantile(took_s, share), 6) for name, share in names.items()}
    return {"count": len(took_s), **quantiles}


def _deliveries(deliveries: DeliveryBehaviour) -> dict[str, Any]:
    return {
        "arrived": deliveries.arrived,
        "took_s": _times(deliveries.took_s),
        "ordered": deliveries.ordered,
        "disordered": deliveries.disordered,
    }
