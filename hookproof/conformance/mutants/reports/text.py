"""The campaign on the terminal: a line for each run, and a summary at the end."""

from collections.abc import Iterator, Sequence

from hookproof.conformance.mutants.mutant_run import Detection
from hookproof.conformance.mutants.results import Campaign, FaultOutcome, VariantOutcome


def render_outcome(outcome: FaultOutcome | VariantOutcome) -> str:
    """One run in one line."""
    if isinstance(outcome, FaultOutcome):
        return _fault_line(outcome)
    return _variant_line(outcome)


def render_summary(campaign: Campaign) -> Iterator[str]:
    """Survivors, false positives, problems, checks that killed nothing, and the verdict line."""
    survivors = list(campaign.survivors())
    yield from _section("Survivors", [f"{name}: {reason}" for name, reason in survivors])
    false_positives = [
        f"{name} ({dialect}): {_detection_text(detection)}"
        for name, dialect, detection in campaign.false_positives()
    ]
    yield from _section("False positives", false_positives)
    yield from _section(
        "Hookproof's own problems",
        [f"{name} ({dialect}): {problem}" for name, dialect, problem in campaign.problems()],
    )
    yield from _section("Checks that killed nothing", campaign.idle_checks)
    yield from _named_defects(campaign)
    killed = len(campaign.faults) - len({name for name, _ in survivors})
    killing_checks = sum(map(bool, campaign.kills.values()))
    # Users parse this line, so its words stay as they are: a trial is a mutant run, a false
    # accusation a false positive, an innocent a conforming variant.
    yield (
        f"{campaign.verdict}  killed {killed}/{len(campaign.faults)} faults in"
        f" {len(campaign.outcomes)} trials"
        f" · checks that killed {killing_checks}/{len(campaign.checks)}"
        f" · false accusations {len(false_positives)} · innocents {len(campaign.variants)}"
        f" · {campaign.duration_s:.0f} s"
    )


def _named_defects(campaign: Campaign) -> Iterator[str]:
    """Of servers with several faults, how many of these were detected."""
    compounds = [outcome for outcome in campaign.outcomes if outcome.fault.parts]
    if compounds:
        defects = sum(len(outcome.fault.parts) for outcome in compounds)
        named = defects - sum(len(outcome.undetected) for outcome in compounds)
        yield f"named {named}/{defects} defects in {len(compounds)} servers"


def _fault_line(outcome: FaultOutcome) -> str:
    if outcome.result.problems:
        word = "broke"
    elif outcome.false_positives:
        word = "FALSE"
    else:
        word = "SURVIVED" if outcome.survived else "killed"
    server = f"{outcome.fault.name} ({outcome.dialect}, {outcome.result.duration_s:.1f} s)"
    return f"{word:9}{server}{_detected_by(outcome)}"


def _detected_by(outcome: FaultOutcome) -> str:
    """The checks with false positives if there are any, or else those that killed the fault."""
    return _false_positives(outcome.false_positives) or _checks(outcome.expected_detections)


def _false_positives(detections: Sequence[Detection]) -> str:
    requirements = dict.fromkeys(detection.requirement for detection in detections)
    return (
        f" false positive on {', '.join(requirements)}{_checks(detections)}" if detections else ""
    )


def _checks(detections: Sequence[Detection]) -> str:
    checks = list(dict.fromkeys(detection.check for detection in detections))
    more = f" and {len(checks) - 1} more" if len(checks) > 1 else ""
    return f" by {checks[0]}{more}" if checks else ""


def _variant_line(outcome: VariantOutcome) -> str:
    if outcome.result.problems:
        word = "broke"
    else:
        word = "FALSE" if outcome.result.detections else "passed"
    server = f"{outcome.name} ({outcome.dialect}, {outcome.result.duration_s:.1f} s)"
    return f"{word:9}{server}{_false_positives(outcome.result.detections)}"


def _detection_text(detection: Detection) -> str:
    return (
        f"{detection.check} reports {detection.requirement} in {detection.experiment}:"
        f" {detection.message}; {detection.actual}"
    )


def _section(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"{title}:"
        yield from (f"  {line}" for line in lines)
        yield ""
