"""What a run showed, in words, and whether it passed."""

from collections.abc import Mapping
from typing import Any, Final

from load.profile import Profile

BUSY_SHARE: Final = 0.9
"""Share of a core above which the generator measures itself rather than the target."""


def verdict_of(result: Mapping[str, Any]) -> str:
    """`pass`, or `fail` for anything lost, duplicated, unexpected or refused, and for a run that proves nothing."""
    return "fail" if any(complaints(result)) else "pass"


def complaints(result: Mapping[str, Any]) -> list[str]:
    """What is wrong with a run, each in one line; empty for a good one."""
    found = [f"{result[name]} {name}" for name in ("lost", "duplicated", "unexpected", "refused") if result[name]]
    if not result["accepted"]:
        found.append("nothing was accepted, so nothing is proved")
    if result["answers_missing"]:
        found.append(f"{result['answers_missing']} broadcasts were never answered")
    if result["interrupted"]:
        found.append("interrupted before the end")
    if result["witness_problem"]:
        found.append(result["witness_problem"])
    if result["generator_cpu_share"] > BUSY_SHARE:
        share = result["generator_cpu_share"]
        found.append(f"the generator used {share:.2f} of a core: it measured itself, not the target")
    return found


def console_report(profile: Profile, result: Mapping[str, Any]) -> str:
    """The figures and the verdict line."""
    counts = ("sent", "accepted", "delivered", "lost", "duplicated", "unexpected")
    lateness, cpu = milliseconds(result["generator_lateness_s"]), result["generator_cpu_share"]
    lines = [
        f"profile {profile.name}: {profile.rate:g}/s for {profile.duration_s:g} s",
        " · ".join(f"{name} {result[name]}" for name in counts),
        f"delivery latency, from the intended send time to arrival: {milliseconds(result['delivery_latency_s'])}",
        f"generator lateness: {lateness} · generator CPU {cpu:.2f} of a core",
    ]
    wrong = complaints(result)
    lines.append(f"FAIL  {'; '.join(wrong)}" if wrong else "PASS  every accepted broadcast arrived once")
    return "\n".join(lines)


def milliseconds(quantiles: Mapping[str, float] | None) -> str:
    """Percentiles in milliseconds."""
    if quantiles is None:
        return "none"
    return " · ".join(f"{name} {value * 1000:.1f} ms" for name, value in quantiles.items())
