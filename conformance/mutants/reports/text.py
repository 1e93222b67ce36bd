"""What a campaign tells on the terminal: one line for each trial, and at the end whoever survived
or was accused.
"""

from collections.abc import Iterator, Sequence

from hookproof.conformance.mutants.mutant_run import Conviction
from hookproof.conformance.mutants.results import Acquittal, Campaign, Outcome


def told(tried: Outcome | Acquittal) -> str:
    """One trial in one line."""
    return _outcome(tried) if isinstance(tried, Outcome) else _acquittal(tried)


def summary(campaign: Campaign) -> Iterator[str]:
    """Survivors, false accusations, problems of our own, checks that killed nothing, and the line
    that counts.
    """
    survivors = list(campaign.survivors())
    yield from _listed("Survivors", [f"{name}: {why}" for name, why in survivors])
    accused = [
        f"{name} ({dialect}): {_charge(one)}" for name, dialect, one in campaign.false_accusations()
    ]
    yield from _listed("False accusations", accused)
    yield from _listed(
        "Hookproof's own problems",
        [f"{name} ({where}): {why}" for name, where, why in campaign.problems()],
    )
    yield from _listed("Checks that killed nothing", campaign.idle_checks)
    killed = len(campaign.faults) - len({name for name, _ in survivors})
    working = sum(map(bool, campaign.kills.values()))
    yield (
        f"{campaign.verdict}  killed {killed}/{len(campaign.faults)} faults in"
        f" {len(campaign.outcomes)} trials · checks that killed {working}/{len(campaign.checks)} · false accusations"
        f" {len(accused)} · innocents {len(campaign.acquittals)} · {campaign.duration_s:.0f} s"
    )


def _outcome(one: Outcome) -> str:
    word = (
        "broke"
        if one.result.problems
        else "FALSE"
        if one.falsely
        else "SURVIVED"
        if one.survived
        else "killed"
    )
    return f"{word:9}{one.fault.name} ({one.dialect}, {one.result.duration_s:.1f} s){_by(one)}"


def _by(one: Outcome) -> str:
    """Who convicted it: of what it does not do, if anybody did, or else of what it does."""
    if one.falsely:
        requirements = dict.fromkeys(conviction.requirement for conviction in one.falsely)
        return f" convicted of {', '.join(requirements)}{_checks(one.falsely)}"
    return _checks(one.rightly)


def _checks(convictions: Sequence[Conviction]) -> str:
    checks = list(dict.fromkeys(conviction.check for conviction in convictions))
    more = f" and {len(checks) - 1} more" if len(checks) > 1 else ""
    return f" by {checks[0]}{more}" if checks else ""


def _acquittal(one: Acquittal) -> str:
    word = "broke" if one.result.problems else "FALSE" if one.result.convictions else "acquitted"
    return f"{word:9} {one.name} ({one.dialect}, {one.result.duration_s:.1f} s)"


def _charge(one: Conviction) -> str:
    return f"{one.check} convicts it of {one.requirement} in {one.experiment}: {one.message}; {one.actual}"


def _listed(title: str, lines: list[str] | tuple[str, ...]) -> Iterator[str]:
    if lines:
        yield f"{title}:"
        yield from (f"  {line}" for line in lines)
        yield ""
