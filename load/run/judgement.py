"""Whether a run passed: its thresholds, and what keeps a run from proving anything."""

from collections.abc import Sequence
from typing import Final

from hookproof.load.profile.load_profile import Profile
from hookproof.load.profile.thresholds import Threshold
from hookproof.load.run.outcome import Outcome

# Share of a core above which the generator measures itself rather than the target.
BUSY_SHARE: Final = 0.9


def complaints(outcome: Outcome, profile: Profile) -> list[str]:
    """What is wrong with a run, each in one line; empty for a good one."""
    return [*_of_the_run(outcome, profile), *_crossed(outcome, profile.fail_if)]


def overstrained(outcome: Outcome, profile: Profile) -> str | None:
    """Why the generator measured itself rather than the target, or None."""
    share, late = outcome.figures["generator_cpu"] or 0.0, outcome.figures["lateness_p99"] or 0.0
    if share > BUSY_SHARE:
        return f"the generator used {share:.2f} of a core: it measured itself, not the target"
    if late > profile.keep_up_s:
        return f"the generator could not keep up: it sent one of a hundred requests more than {late:.2f} s late"
    return None


def _of_the_run(outcome: Outcome, profile: Profile) -> list[str]:
    found = list[str]()
    if not outcome.figures["accepted"]:
        found.append("nothing was accepted, so nothing is proved")
    if outcome.unanswered:
        found.append(f"{outcome.unanswered} requests were never answered")
    if outcome.unsent > 0 and not outcome.interrupted:
        found.append(
            f"{outcome.unsent} slots were never sent: every user waited for an answer, far beyond the end"
        )
    found += [
        f"worker {one.worker + 1} ({one.name}) was lost after {one.after_s:.0f} s: {one.accepted:,} broadcasts that the"
        " target had accepted from it by then, and all that its receiver saw, are not accounted for"
        for one in outcome.lost_workers
    ]
    if outcome.interrupted:
        found.append("interrupted before the end")
    if outcome.problem is not None:
        found.append(outcome.problem)
    strain = overstrained(outcome, profile)
    return [*found, *([strain] if strain else [])]


def _crossed(outcome: Outcome, thresholds: Sequence[Threshold]) -> list[str]:
    told = (threshold.crossed(outcome.figures) for threshold in thresholds)
    return [one for one in told if one is not None]
