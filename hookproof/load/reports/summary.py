"""A run as text and as JSON; every other report is made from `report.json` alone.

The members of that file are described in the documentation. `summary` makes it; `console_report`
makes the lines at the end of a run.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from hookproof.load.figures import FIGURES
from hookproof.load.latency import stretch_s
from hookproof.load.profile.load_profile import LoadProfile
from hookproof.load.run.outcome import LoadOutcome
from hookproof.process.exit_codes import ExitCode
from hookproof.target.connection import NOT_VERIFIED, UNVERIFIED
from hookproof.target.hooks.removable_endpoints import slowing_words

# The figures as the console shows them, a line each.
GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "sent": (
        "sent",
        "accepted",
        "refused",
        "errors",
        "limited",
        "held_back",
        "ingest_rps",
        "requests_rps",
    ),
    "ingest": ("ingest_p50", "ingest_p95", "ingest_p99", "ingest_max"),
    "ledger": (
        "expected",
        "delivered",
        "lost",
        "pending",
        "arriving_rps",
        "explained",
        "unaccounted",
    ),
    "wrong": (
        "duplicated",
        "duplicated_by_receiver",
        "unverifiable",
        "altered",
        "unexpected",
        "late",
        "out_of_order",
    ),
    "delivery": (
        "delivery_rps",
        "delivery_p50",
        "delivery_p95",
        "delivery_p99",
        "delivery_max",
        "drain_s",
    ),
    "limits": ("overshoot", "allowance_used", "fairness"),
    "generator": ("lateness_p50", "lateness_p99", "waited", "generator_cpu"),
    "receiver": (
        "receiver_lateness_p50",
        "receiver_lateness_p99",
        "receiver_cpu",
        "machine_idle",
    ),
    "search": ("knee",),
}


def summary(
    *,
    profile: LoadProfile,
    target: str,
    dialect: str,
    version: str,
    outcome: LoadOutcome,
    wrong: Sequence[str],
    interrupted: bool,
    undecided: bool = False,
    left_out: Mapping[str, str],
    hooks: Mapping[str, int],
    warnings: Sequence[str] = (),
    workers: int = 1,
    trials: Sequence[Mapping[str, Any]] = (),
    knee_limited_by: str | None = None,
    knee_spread: tuple[float, float] | None = None,
) -> dict[str, Any]:
    """The content of `report.json`, but for what is left after the clean-up; `wrong` is why the run
    fails.

    One that was interrupted is only incomplete, unless it has crossed a threshold by then; so is
    one that is `undecided`, as we ourselves were the limit.
    """
    crossed = {threshold.text: threshold.crossed(outcome.figures) for threshold in profile.fail_if}
    verdict, exit_code = "pass", ExitCode.OK
    if wrong:
        verdict, exit_code = "fail", ExitCode.FAILED
    if undecided or (interrupted and not any(crossed.values())):
        verdict, exit_code = "incomplete", ExitCode.INCOMPLETE
    return {
        "tool": {"name": "hookproof", "version": version},
        "profile": profile.name,
        "target": target,
        "dialect": dialect,
        "started_at": datetime.fromtimestamp(outcome.started_at, UTC).isoformat(
            timespec="milliseconds"
        ),
        "rate": profile.rate,
        "duration_s": profile.duration_s,
        "users": profile.users,
        "workers": workers,
        "verdict": verdict,
        "exit_code": int(exit_code),
        "warnings": list(warnings),
        "complaints": list(wrong),
        "thresholds": [{"text": text, "crossed": why is not None} for text, why in crossed.items()],
        "figures": {name: outcome.figures.get(name) for name in FIGURES},
        "endpoints": list(outcome.endpoints),
        "samples": dict(outcome.samples),
        "stretch_s": stretch_s(profile.duration_s),
        "over_time": dict(outcome.over_time),
        "distribution": list(outcome.distribution),
        "trials": [dict(trial) for trial in trials],
        "knee_limited_by": knee_limited_by,
        "knee_spread": None if knee_spread is None else list(knee_spread),
        "left_out": dict(left_out),
        "hooks": dict(hooks),
        "drain": {"ended": outcome.drain.end, "waited_s": outcome.drain.waited_s},
    }


def console_report(report: Mapping[str, Any]) -> str:
    """The figures, the samples of what is wrong, and the verdict line."""
    lines = [f"profile {report['profile']}: {what_was_run(report)}"]
    for group, names in GROUPS.items():
        shown = _shown(names, report["figures"])
        if shown:
            lines.append(f"  {group:<10}{shown}")
    if report["knee_limited_by"] is not None:
        lines.append(f"  the knee is {report['knee_limited_by']}")
    if spread := report.get("knee_spread"):
        lines.append(
            f"  by all trials it lies between {spread[0]:,.0f}/s and {spread[1]:,.0f}/s:"
            " no trial below failed, and none above passed"
        )
    lines += [
        f"  left out  {operation_id}: {why}" for operation_id, why in report["left_out"].items()
    ]
    if hooks := report.get("hooks"):
        calls = " · ".join(f"{name} {count:,}" for name, count in hooks.items())
        lines.append(f"  {'hooks':<10}{calls}")
    if report["figures"].get("limited"):
        lines.append(f"  {put_off(report['figures'])}")
    lines += [f"  {kind}, for example {samples[0]}" for kind, samples in report["samples"].items()]
    lines += [f"  {line}" for line in left_lines(report)]
    lines += [f"  {warning}" for warning in report.get("warnings", ())]
    verdict = "; ".join(report["complaints"]) or "no threshold was crossed"
    lines.append(f"{report['verdict'].upper()}  {verdict}{not_verified(report)}")
    return "\n".join(lines)


def not_verified(report: Mapping[str, Any]) -> str:
    """What goes with the verdict if it is not certain whose answers it is about."""
    return f" · {NOT_VERIFIED}" if UNVERIFIED in report.get("warnings", ()) else ""


def left_lines(report: Mapping[str, Any]) -> list[str]:
    """What this run and earlier ones left at the target, and the hooks that failed then."""
    left, lines = report.get("left_at_target") or {}, list[str]()
    if endpoints := left.get("endpoints"):
        active = sum(not endpoint["is_disabled"] for endpoint in endpoints)
        lines.append(
            f"{len(endpoints):,} endpoints are left at the target, {active:,} of them active, with"
            " URLs that lead nowhere: report.json names them"
        )
    if removed := left.get("removed"):
        lines.append(f"the hook remove_endpoint removed {removed:,} endpoints")
    if earlier := left.get("earlier"):
        lines.append(slowing_words(earlier))
    return lines + [f"your provision hook {words}" for words in report.get("failed_hooks", ())]


def put_off(figures: Mapping[str, float | None]) -> str:
    """How a target that limits its API was loaded within its limit."""
    limited, held_back = (figures[name] or 0 for name in ("limited", "held_back"))
    return (
        f"the target limits its API: it put off {limited:,.0f} requests, and {held_back:,.0f} slots"
        " were left out as it asked"
    )


def what_was_run(report: Mapping[str, Any]) -> str:
    """Rate, time and target, and the number of workers if there are several."""
    workers = report.get("workers", 1)
    by = f" by {workers} workers" if workers > 1 else ""
    return f"{report['rate']:g}/s for {report['duration_s']:g} s{by} at {report['target']}"


def trial_line(trial: Mapping[str, Any]) -> str:
    """One trial of a search in a line."""
    words = "; ".join(trial["complaints"]) or "passes"
    return f"trial at {trial['rate']:,.0f}/s: {words}"


def _shown(names: Sequence[str], figures: Mapping[str, float | None]) -> str:
    values = ((name, figures[name]) for name in names)
    return " · ".join(
        f"{name} {FIGURES[name].unit.shown(value)}" for name, value in values if value is not None
    )
