"""The campaign on the terminal: a line for each run, and a summary at the end."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from hookproof.conformance.mutants.generated import OperatorSummary
from hookproof.conformance.mutants.hiding.measurement import HidingOutcome, Loss
from hookproof.conformance.mutants.mutant_run import Detection
from hookproof.conformance.mutants.results import Campaign, FaultOutcome, VariantOutcome


def render_outcome(outcome: FaultOutcome | VariantOutcome) -> str:
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


def render_loss(loss: Loss) -> Iterator[str]:
    """One server, with what it hid for no known reason."""
    named = "lost" if loss.server.generated else "named"
    word = "broke" if loss.problems else "UNNAMED" if loss.unnamed else named
    yield (
        f"{word:8}{len(loss.lost):4} of {loss.exercised} ({loss.share:.0%})  {loss.server.name}"
        f"{'  TOO MUCH' if loss.is_too_much else ''}"
    )
    yield from (f"        {problem}" for problem in loss.problems)
    if loss.unnamed:
        yield f"        for no reason that is named: {' '.join(loss.unnamed)}"
    elif loss.is_too_much:
        yield f"        {' '.join(loss.lost)}"


def render_hiding(outcome: HidingOutcome) -> str:
    unnamed = sum(bool(loss.unnamed) for loss in outcome.losses)
    word = "WITHIN BOUNDS" if outcome.is_within_bounds else "BEYOND BOUNDS"
    return (
        f"{'INTERRUPTED' if outcome.interrupted else word}  servers {len(outcome.losses)}"
        f" · lost {outcome.mean_share:.1%} on average"
        f" · too much {sum(loss.is_too_much for loss in outcome.losses)}"
        f" · with losses that are not named {unnamed} · {outcome.duration_s:.0f} s"
    )


def render_operators(summaries: Sequence[OperatorSummary], dialect: str) -> Iterator[str]:
    """A paragraph for each group, two lines for each operator, and the totals."""
    for group, members in groupby(summaries, key=lambda item: item.group):
        yield f"{group.capitalize()}:"
        for item in members:
            yield f"  {item.name}  {item.sentence}: {item.applies_to}."
            yield f"      {_counts(item)}"
        yield ""
    yield (
        f"{sum(item.faults for item in summaries)} faults by {len(summaries)} operators under"
        f" {dialect}; {sum(item.equivalent for item in summaries)} equivalent,"
        f" {sum(item.unnamed for item in summaries)} without a requirement"
    )


def _counts(item: OperatorSummary) -> str:
    counts = [f"{item.faults} faults at {item.places} places"]
    if item.equivalent:
        counts.append(f"{item.equivalent} equivalent")
    if item.unnamed:
        counts.append(f"{item.unnamed} without a requirement")
    return ", ".join(counts)
