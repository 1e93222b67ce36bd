"""Whether a run passed: its thresholds, and what makes a run prove nothing."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from hookproof.load.figures import FIGURES, Unit
from hookproof.load.ledger.draining import DrainEnd
from hookproof.load.profile.load_profile import LoadProfile
from hookproof.load.profile.thresholds import Threshold
from hookproof.load.run.outcome import LoadOutcome

# Share of a core above which a process of ours measures itself rather than the target.
BUSY_SHARE: Final = 0.9
# Share of the machine's processors below which whoever runs there waits for them.
IDLE_SHARE: Final = 0.05
# What gets worse when the receiver or the machine is slow, besides all times and rates.
_SLOWED: Final = frozenset(
    {"late", "out_of_order", "overshoot", "allowance_used", "fairness", "waited"}
)
NOTHING_ARRIVED: Final = (
    "nothing arrived at any endpoint: can the target reach the receiver, does it trust"
    " the CA, and does it deliver to new endpoints without a further step (provision:"
    " after_endpoint_created in target.yaml)?"
)
# What gets worse when the receiver answers late.
_REPEATED: Final = frozenset({"duplicated"})


class Complaint(NamedTuple):
    """What is wrong with a run; `slowed` if a slow receiver or machine may be the whole reason."""

    text: str
    slowed: bool = False


def complaints(outcome: LoadOutcome, profile: LoadProfile) -> list[str]:
    """What is wrong with a run, one line each; empty for a run that passed."""
    return [complaint.text for complaint in _complaints(outcome, profile)]


def is_undecided(outcome: LoadOutcome, profile: LoadProfile) -> bool:
    """Whether a run says nothing of the target: all that is wrong may be our own doing."""
    found = _complaints(outcome, profile)
    limited = own_limit(outcome, profile) is not None
    return limited and bool(found) and all(complaint.slowed for complaint in found)


def own_limit(outcome: LoadOutcome, profile: LoadProfile) -> str | None:
    """Why the run measured generator, receiver or machine rather than the target, or None."""
    return (
        generator_overload(outcome, profile)
        or receiver_overload(outcome, profile)
        or machine_overload(outcome)
    )


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


def receiver_overload(outcome: LoadOutcome, profile: LoadProfile) -> str | None:
    """Why the run measured the receiver rather than the target, or None."""
    figures = outcome.figures
    share, late = figures.get("receiver_cpu") or 0.0, figures.get("receiver_lateness_p99") or 0.0
    if share > BUSY_SHARE:
        return f"the receiver used {share:.2f} of a core: it measured itself, not the target"
    if late > profile.keep_up_s:
        return (
            "the receiver could not keep up:"
            f" one of a hundred of its timers was more than {late:.2f} s late"
        )
    return None


def machine_overload(outcome: LoadOutcome) -> str | None:
    """Why the run measured how the machine divides its time, or None."""
    idle = outcome.figures.get("machine_idle")
    if idle is not None and idle < IDLE_SHARE:
        return (
            f"the machine had {Unit.SHARE.shown(idle)} of its processor time left:"
            " who runs on it waits, the target too if it does"
        )
    return None


def _complaints(outcome: LoadOutcome, profile: LoadProfile) -> list[Complaint]:
    """What is wrong, after our own limit if that may have made something worse.

    A generator that was the limit did not send what was asked for, whatever came of it. A receiver
    that was measured a target which met its thresholds nevertheless.
    """
    late = receiver_overload(outcome, profile)
    slowed = _SLOWED | _REPEATED if late else _SLOWED
    found = [*_of_the_run(outcome, profile), *_crossed(outcome, profile.fail_if, slowed)]
    limit = generator_overload(outcome, profile)
    if limit is None and any(complaint.slowed for complaint in found):
        limit = late or machine_overload(outcome)
    return [*([Complaint(limit, slowed=True)] if limit else []), *found]


def _of_the_run(outcome: LoadOutcome, profile: LoadProfile) -> Iterator[Complaint]:
    if not outcome.figures["accepted"]:
        yield Complaint("nothing was accepted, so nothing is proved")
    yield from _undelivered(outcome, profile)
    if profile.search is not None and (put_off := outcome.figures.get("limited")):
        yield Complaint(
            f"the target put off {put_off:,.0f} requests, so it was not loaded at this rate"
        )
    if outcome.unanswered:
        yield Complaint(f"{outcome.unanswered} requests were never answered", slowed=True)
    if outcome.unsent > 0 and not outcome.interrupted:
        yield Complaint(
            f"{outcome.unsent} slots were never sent:"
            " every user waited for an answer, far beyond the end",
            slowed=True,
        )
    for lost in outcome.lost_workers:
        yield Complaint(
            f"worker {lost.worker + 1} ({lost.name}) was lost after {lost.after_s:.0f} s:"
            f" {lost.accepted:,} broadcasts that the target had accepted from it by then,"
            " and all that its receiver saw, are not accounted for"
        )
    if outcome.interrupted:
        yield Complaint("interrupted before the end")
    if outcome.problem is not None:
        yield Complaint(outcome.problem)


def _undelivered(outcome: LoadOutcome, profile: LoadProfile) -> Iterator[Complaint]:
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
        yield Complaint(f"{pending:,.0f} deliveries were pending {reason}", slowed=True)
    if figures.get("lost") and not figures.get("delivered") and not figures.get("explained"):
        yield Complaint(NOTHING_ARRIVED)


def _crossed(
    outcome: LoadOutcome, thresholds: Sequence[Threshold], slowed: Collection[str]
) -> Iterator[Complaint]:
    for threshold in thresholds:
        problem = threshold.crossed(outcome.figures)
        if problem is not None:
            unit = FIGURES[threshold.figure].unit
            is_time = unit in (Unit.SECONDS, Unit.PER_SECOND)
            yield Complaint(problem, slowed=is_time or threshold.figure in slowed)
