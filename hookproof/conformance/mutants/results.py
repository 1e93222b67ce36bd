"""The results of a campaign: what the suites detected in each server, and what follows.

A *claim* is a requirement that a fault says it violates. It counts under a dialect in which the run
against the clean server exercised it: a requirement that is not exercised cannot be detected.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from hookproof.conformance.mutants.catalogue import ListedFault
from hookproof.conformance.mutants.mutant_run import Detection, MutantRunResult
from hookproof.process.exit_codes import ExitCode

# The result of a run that has not started.
NOT_RUN: Final = MutantRunResult(detections=(), exercised=frozenset(), problems=(), duration_s=0.0)


class CampaignVerdict(StrEnum):
    """The verdict on the suites. An interrupted campaign found no flaw in what it ran."""

    FLAWLESS = "FLAWLESS"
    FLAWED = "FLAWED"
    INTERRUPTED = "INTERRUPTED"

    @property
    def exit_code(self) -> ExitCode:
        return {
            CampaignVerdict.FLAWLESS: ExitCode.CONFORMS,
            CampaignVerdict.FLAWED: ExitCode.DOES_NOT_CONFORM,
            CampaignVerdict.INTERRUPTED: ExitCode.INCOMPLETE,
        }[self]


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultOutcome:
    """A fault under one dialect, and what was detected; `claims` could be detected there."""

    fault: ListedFault
    dialect: str
    claims: frozenset[str]
    result: MutantRunResult

    @property
    def expected_detections(self) -> tuple[Detection, ...]:
        return tuple(
            detection
            for detection in self.result.detections
            if detection.requirement in self.fault.violates
        )

    @property
    def false_positives(self) -> tuple[Detection, ...]:
        """The detections of what the fault does not break.

        What only follows from another failure is not a detection: what it follows from is one
        of its own, and is counted as one.
        """
        return tuple(
            detection
            for detection in self.result.detections
            if not (detection.follows_from or detection.requirement in self.fault.violates)
        )

    @property
    def survived(self) -> bool:
        """Whether nothing that the fault violates was detected, although it could have been."""
        return bool(self.undetected)

    @property
    def undetected(self) -> tuple[ListedFault, ...]:
        """The defects of which nothing was detected, although it could have been."""
        detected = {detection.requirement for detection in self.expected_detections}
        return tuple(
            defect
            for defect in self.fault.defects
            if self.claims.intersection(defect.violates) and detected.isdisjoint(defect.violates)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantOutcome:
    """A server that conforms, and what was detected: every detection is a false positive."""

    name: str
    dialect: str
    difference: str
    result: MutantRunResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """All runs. `checks` are the names of the checks that took part.

    `complete`: every dialect was tried, so that each fault must be killed by all that it violates.
    `whole`: every fault was tried too, so that each check must kill one. Neither is true of an
    `interrupted` campaign. `schemathesis_baseline` holds what plain schemathesis reported for each
    fault and variant; None if nothing is recorded.
    """

    outcomes: tuple[FaultOutcome, ...]
    variants: tuple[VariantOutcome, ...]
    checks: tuple[str, ...]
    complete: bool
    whole: bool
    duration_s: float
    interrupted: bool = False
    schemathesis_baseline: Mapping[str, Sequence[str]] | None = None

    @property
    def faults(self) -> tuple[ListedFault, ...]:
        """The faults that were tried, each once."""
        return tuple({outcome.fault.name: outcome.fault for outcome in self.outcomes}.values())

    @property
    def kills(self) -> Mapping[str, frozenset[str]]:
        """The names of the faults that each check killed, by the check's name."""
        killed: dict[str, set[str]] = {name: set() for name in self.checks}
        for outcome in self.outcomes:
            for detection in outcome.expected_detections:
                killed[detection.check].add(outcome.fault.name)
        return {check: frozenset(faults) for check, faults in killed.items()}

    @property
    def idle_checks(self) -> tuple[str, ...]:
        """The checks that killed nothing although every fault was tried."""
        return tuple(check for check, faults in self.kills.items() if self.whole and not faults)

    def survivors(self) -> Iterator[tuple[str, str]]:
        """Faults that survived, and under which dialect or by which requirement."""
        for outcome in self.outcomes:
            for defect in outcome.undetected:
                named = "" if defect is outcome.fault else f"{defect.name} "
                yield outcome.fault.name, f"{named}not detected under {outcome.dialect}"
        if self.complete:
            for fault, missed in self._missed_claims().items():
                yield fault, f"not detected by {', '.join(sorted(missed))}"

    def false_positives(self) -> Iterator[tuple[str, str, Detection]]:
        """Server, dialect and detection of what the server does not violate."""
        for variant in self.variants:
            for detection in variant.result.detections:
                yield variant.name, variant.dialect, detection
        for outcome in self.outcomes:
            for detection in outcome.false_positives:
                yield outcome.fault.name, outcome.dialect, detection

    def problems(self) -> Iterator[tuple[str, str, str]]:
        """Server, dialect and what went wrong in hookproof itself."""
        runs = [
            *((variant.name, variant.dialect, variant.result) for variant in self.variants),
            *((outcome.fault.name, outcome.dialect, outcome.result) for outcome in self.outcomes),
        ]
        for name, dialect, result in runs:
            for problem in result.problems:
                yield name, dialect, problem

    @property
    def flawless(self) -> bool:
        return self.verdict is CampaignVerdict.FLAWLESS

    @property
    def verdict(self) -> "CampaignVerdict":
        flaws = (self.survivors(), self.false_positives(), self.problems(), self.idle_checks)
        if any(True for kind in flaws for _ in kind):
            return CampaignVerdict.FLAWED
        return CampaignVerdict.INTERRUPTED if self.interrupted else CampaignVerdict.FLAWLESS

    def _missed_claims(self) -> Mapping[str, set[str]]:
        """What each fault violates and no dialect detected, even if no dialect exercised it."""
        missed: dict[str, set[str]] = defaultdict(set)
        for fault in self.faults:
            missed[fault.name] = set(fault.violates)
        for outcome in self.outcomes:
            missed[outcome.fault.name] -= outcome.result.detected
        return {name: claims for name, claims in missed.items() if claims}
