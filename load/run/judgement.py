"""Whether a run passed: its thresholds, and what makes a run prove nothing."""

from collections.abc import Sequence
from typing import Final

from hookproof.load.profile.load_profile import LoadProfile
from hookproof.load.profile.thresholds import Threshold
from hookproof.load.run.outcome import LoadOutcome

# Share of a core above which the generator measures itself rather than the target.
BUSY_SHARE: Final = 0.9


def complaints(outcome: LoadOutcome, profile: LoadProfile) -> list[str]:
    """What is wrong with a run, one line each; empty for a run that passed."""
    return [*_of_the_run(outcome, profile), *_crossed(outcome, profile.fail_if)]


def generator_overload(outcome: LoadOutcome, profile: LoadProfile) -> str | None:
    """Why the run measured the generator rather than the target, or None."""
    share, late = outcome.figures["generator_cpu"] or 0.0, outcome.figures["lateness_p99"] or 0.0
    if share > BUSY_SHARE:
        return f"the generator used {share:.2f} of a core: it measured itself, not the target"
    if late > profile.keep_up_s:
        return (
            "the generator could not keep up:"
            f" it sent one of a hundred requests more than {late:.2f} s late"
        )
    return None


def _of_the_run(outcome: LoadOutcome, profile: LoadProfile) -> list[str]:
    problems = list[str]()
    if not outcome.figures["accepted"]:
        problems.append("nothing was accepted, so nothing is proved")
    if outcome.unanswered:
        problems.append(f"{outcome.unanswered} requests were never answered")
    if outcome.unsent > 0 and not outcome.interrupted:
        problems.append(
            f"{outcome.unsent} slots were never sent:"
            " every user waited for an answer, far beyond the end"
        )
    problems += [
        f"worker {lost.worker + 1} ({lost.name}) was lost after {lost.after_s:.0f} s:"
        f" {lost.accepted:,} broadcasts that the target had accepted from it by then,"
        " and all that its receiver saw, are not accounted for"
        for lost in outcome.lost_workers
    ]
    if outcome.interrupted:
        problems.append("interrupted before the end")
    if outcome.problem is not None:
        problems.append(outcome.problem)
    strain = generator_overload(outcome, profile)
    return [*problems, *([strain] if strain else [])]


def _crossed(outcome: LoadOutcome, thresholds: Sequence[Threshold]) -> list[str]:
    problems = (threshold.crossed(outcome.figures) for threshold in thresholds)
    return [problem for problem in problems if problem is not None]
