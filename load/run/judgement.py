"""Whether a run passed: its thresholds, and what makes a run prove nothing."""

from collections.abc import Iterator, Sequence
from typing import Final

from hookproof.load.figures import Unit
from hookproof.load.ledger.draining import DrainEnd
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
    problems += _undelivered(outcome, profile)
    if profile.search is not None and (put_off := outcome.figures.get("limited")):
        problems.append(
            f"the target put off {put_off:,.0f} requests, so it was not loaded at this rate"
        )
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


def _undelivered(outcome: LoadOutcome, profile: LoadProfile) -> Iterator[str]:
    """What is not known of missing deliveries, where the profile judges whether any is lost."""
    figures, drain = outcome.figures, outcome.drain
    if all(threshold.figure != "lost" for threshold in profile.fail_if):
        return
    if pending := figures.get("pending"):
        rate = Unit.PER_SECOND.shown(drain.arriving_rps)
        reason = {
            DrainEnd.INTERRUPTED: "when the wait for them was interrupted",
            DrainEnd.FAILED: "when the run broke off",
        }.get(
            drain.end,
            f"after {drain.waited_s:.0f} s, and others still arrived at {rate}"
            " (--drain-at-most waits longer)",
        )
        yield f"{pending:,.0f} deliveries were pending {reason}"
    if figures.get("lost") and not figures.get("delivered") and not figures.get("explained"):
        yield (
            "nothing arrived at any endpoint: can the target reach the receiver, does it trust"
            " the CA, and does it deliver to new endpoints without a further step (provision:"
            " after_endpoint_created in target.yaml)?"
        )


def _crossed(outcome: LoadOutcome, thresholds: Sequence[Threshold]) -> list[str]:
    problems = (threshold.crossed(outcome.figures) for threshold in thresholds)
    return [problem for problem in problems if problem is not None]
