"""What a campaign found out: each server that was on trial, and what follows from it.

A *claim* is a requirement that a fault says it violates. It counts under a dialect in which the
clean server's run exercised it: what is not exercised can convict nobody.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from hookproof.conformance.mutants.catalogue import Fault
from hookproof.conformance.mutants.mutant_run import Conviction, TrialResult
from hookproof.process.exit_codes import ExitCode

# The result of a trial that has not begun.
NOTHING: Final = TrialResult(convictions=(), exercised=frozenset(), problems=(), duration_s=0.0)


class CampaignVerdict(StrEnum):
    """What a campaign says of the suites; one that was interrupted knows of no flaw, and has not
    seen all.
    """

    FLAWLESS = "FLAWLESS"
    FLAWED = "FLAWED"
    INTERRUPTED = "INTERRUPTED"

    @property
    def exit_code(self) -> ExitCode:
        """The exit code that goes with it."""
        return {
            CampaignVerdict.FLAWLESS: ExitCode.CONFORMS,
            CampaignVerdict.FLAWED: ExitCode.DOES_NOT_CONFORM,
            CampaignVerdict.INTERRUPTED: ExitCode.INCOMPLETE,
        }[self]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A fault under one dialect, and what the suites said; `claims` are those that could be
    convicted there.
    """

    fault: Fault
    dialect: str
    claims: frozenset[str]
    result: TrialResult

    @property
    def rightly(self) -> tuple[Conviction, ...]:
        """The convictions of what the fault violates."""
        return tuple(
            one for one in self.result.convictions if one.requirement in self.fault.violates
        )

    @property
    def falsely(self) -> tuple[Conviction, ...]:
        """The convictions of what neither it violates nor breaks with it."""
        return tuple(
            one for one in self.result.convictions if not self.fault.breaks(one.requirement)
        )

    @property
    def survived(self) -> bool:
        """Whether nothing that the fault violates was convicted, although it could have been."""
        return bool(self.claims) and not self.rightly


@dataclass(frozen=True, slots=True, kw_only=True)
class Acquittal:
    """A server that the document allows, and what the suites said: nothing, if they are right."""

    name: str
    dialect: str
    difference: str
    result: TrialResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """All trials. `checks` are the names of the checks that took part.

    `complete` says that every dialect had its turn, so that each fault can be held to all that it
    violates, and `whole` that every fault was tried, so that each check can be held to kill one. An
    `interrupted` one is neither. `stock` tells for each fault, and for each innocent, what plain
    schemathesis found; None if it was not asked.
    """

    outcomes: tuple[Outcome, ...]
    acquittals: tuple[Acquittal, ...]
    checks: tuple[str, ...]
    complete: bool
    whole: bool
    duration_s: float
    interrupted: bool = False
    stock: Mapping[str, Sequence[str]] | None = None

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults that were on trial, each once."""
        return tuple({one.fault.name: one.fault for one in self.outcomes}.values())

    @property
    def kills(self) -> Mapping[str, frozenset[str]]:
        """The faults that each check killed, by the check's name."""
        killed: dict[str, set[str]] = {name: set() for name in self.checks}
        for outcome in self.outcomes:
            for conviction in outcome.rightly:
                killed[conviction.check].add(outcome.fault.name)
        return {check: frozenset(faults) for check, faults in killed.items()}

    @property
    def idle_checks(self) -> tuple[str, ...]:
        """The checks that killed nothing although every fault was tried."""
        return tuple(check for check, faults in self.kills.items() if self.whole and not faults)

    def survivors(self) -> Iterator[tuple[str, str]]:
        """Faults that survived, with the dialect or the requirement in which they did."""
        for outcome in self.outcomes:
            if outcome.survived:
                yield outcome.fault.name, f"nothing convicts it under {outcome.dialect}"
        if self.complete:
            for fault, missed in self._missed().items():
                yield fault, f"nothing convicts it of {', '.join(sorted(missed))}"

    def false_accusations(self) -> Iterator[tuple[str, str, Conviction]]:
        """Server, dialect and conviction wherever somebody was convicted of what it does not do."""
        for acquittal in self.acquittals:
            for conviction in acquittal.result.convictions:
                yield acquittal.name, acquittal.dialect, conviction
        for outcome in self.outcomes:
            for conviction in outcome.falsely:
                yield outcome.fault.name, outcome.dialect, conviction

    def problems(self) -> Iterator[tuple[str, str, str]]:
        """Server, dialect and what went wrong in hookproof itself."""
        trials = [
            *((one.name, one.dialect, one.result) for one in self.acquittals),
            *((one.fault.name, one.dialect, one.result) for one in self.outcomes),
        ]
        for name, dialect, result in trials:
            for problem in result.problems:
                yield name, dialect, problem

    @property
    def flawless(self) -> bool:
        """Whether every fault was killed by its own checks, nobody else was accused, and no check
        was idle.
        """
        return self.verdict is CampaignVerdict.FLAWLESS

    @property
    def verdict(self) -> "CampaignVerdict":
        """What the campaign says of the suites."""
        flaws = (self.survivors(), self.false_accusations(), self.problems(), self.idle_checks)
        if any(True for kind in flaws for _ in kind):
            return CampaignVerdict.FLAWED
        return CampaignVerdict.INTERRUPTED if self.interrupted else CampaignVerdict.FLAWLESS

    def _missed(self) -> Mapping[str, set[str]]:
        """The claims that no dialect convicted, by the fault's name; those that no dialect
        exercised are among them.
        """
        missed: dict[str, set[str]] = defaultdict(set)
        for fault in self.faults:
            missed[fault.name] = set(fault.violates)
        for outcome in self.outcomes:
            missed[outcome.fault.name] -= outcome.result.convicted
        return {name: claims for name, claims in missed.items() if claims}
