"""The ledger: what became of each requirement, how the three levels add up, and the verdict of the run."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from conformance.evidence import Exchange
from conformance.refusal import ExitCode
from conformance.verdict import Verdict
from receiver.delivery import ReceivedDelivery
from spec.catalogue import Level, Requirement


class RunVerdict(StrEnum):
    """What a run says of its target as a whole."""

    CONFORMS = "conforms"
    DOES_NOT_CONFORM = "does_not_conform"
    INCOMPLETE = "incomplete"
    ERROR = "error"

    @property
    def exit_code(self) -> ExitCode:
        """The exit code that goes with it; an error is a fault of hookproof's own."""
        return {
            RunVerdict.CONFORMS: ExitCode.CONFORMS,
            RunVerdict.DOES_NOT_CONFORM: ExitCode.DOES_NOT_CONFORM,
            RunVerdict.INCOMPLETE: ExitCode.INCOMPLETE,
            RunVerdict.ERROR: ExitCode.FAULT,
        }[self]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One defect as one check saw it, with the smallest proof out of `count` cases that show it."""

    requirement: str
    check: str
    message: str
    expected: str
    actual: str
    exchanges: tuple[Exchange, ...]
    deliveries: tuple[ReceivedDelivery, ...]
    count: int
    experiment: str
    case: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What is known of one requirement after the run.

    `exercised` counts the judgements that could have gone either way. `reasons` say why it is not exercised or not
    applicable, and what would change that, or what went wrong in hookproof itself.
    """

    requirement: Requirement
    verdict: Verdict
    exercised: int = 0
    checks: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The entries of all selected requirements, in the order of the document.

    `cut` says why the run ended before all was tried, `faults` what broke in hookproof itself.
    """

    entries: tuple[Entry, ...]
    cut: str | None = None
    faults: tuple[str, ...] = ()

    @property
    def totals(self) -> Mapping[Level, Mapping[Verdict, int]]:
        """How many requirements of each level have each verdict."""
        counts = Counter((entry.requirement.level, entry.verdict) for entry in self.entries)
        return {level: {verdict: counts[level, verdict] for verdict in Verdict} for level in Level}

    def verdict(self, *, strict: bool) -> RunVerdict:
        """The verdict of the run; with `strict`, hygiene counts like the other two levels."""
        totals = self.totals
        binding = [level for level in Level if strict or level is not Level.HYGIENE]
        if self.faults or any(totals[level][Verdict.ERROR] for level in Level):
            return RunVerdict.ERROR
        if any(totals[level][Verdict.FAIL] for level in binding):
            return RunVerdict.DOES_NOT_CONFORM
        nothing_judged = not any(entry.exercised for entry in self.entries)
        if nothing_judged or self.cut or totals[Level.STATED][Verdict.NOT_EXERCISED]:
            return RunVerdict.INCOMPLETE
        return RunVerdict.CONFORMS
