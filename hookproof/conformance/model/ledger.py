"""The ledger: the entry of each requirement, the totals of the levels, the verdict of the run."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from hookproof.conformance.model.evidence import Exchange, lasted_s
from hookproof.conformance.model.judgement import NO_MARKS, Marks
from hookproof.conformance.model.verdict import Verdict
from hookproof.process.exit_codes import ExitCode
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.spec.catalogue import Level, Requirement


class RunVerdict(StrEnum):
    """The verdict of a run on its target."""

    CONFORMS = "conforms"
    DOES_NOT_CONFORM = "does_not_conform"
    INCOMPLETE = "incomplete"
    ERROR = "error"

    @property
    def exit_code(self) -> ExitCode:
        """The exit code for the verdict; an error is one of hookproof itself."""
        return {
            RunVerdict.CONFORMS: ExitCode.CONFORMS,
            RunVerdict.DOES_NOT_CONFORM: ExitCode.DOES_NOT_CONFORM,
            RunVerdict.INCOMPLETE: ExitCode.INCOMPLETE,
            RunVerdict.ERROR: ExitCode.INTERNAL_ERROR,
        }[self]


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingKey:
    """What identifies a finding in a run."""

    requirement: str
    check: str
    message: str
    cause: str
    operation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A requirement that a check saw violated, with the smallest of `count` proofs.

    `cause` is what else the proof shows to be wrong, in words; findings with the same cause are one
    defect (`defects.py`). `shrunk` tells that the request of the proof was made smaller afterwards
    (`shrinking.py`). `case` is the name of the observation. `follows_from` names the requirements
    whose own findings explain all of this one (`consequences.py`). `marks` are what is wrong in the
    deliveries.
    """

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
    cause: str = ""
    shrunk: bool = False
    follows_from: tuple[str, ...] = ()
    marks: Marks = NO_MARKS

    @property
    def operation(self) -> str:
        """The operation that its proof ends with; empty where a delivery is the proof."""
        if self.deliveries or not self.exchanges:
            return ""
        return self.exchanges[-1].operation_id or ""

    @property
    def key(self) -> FindingKey:
        """What identifies a finding in a run: another operation or cause is another finding."""
        return FindingKey(
            requirement=self.requirement,
            check=self.check,
            message=self.message,
            cause=self.cause,
            operation=self.operation,
        )

    @property
    def sightings(self) -> str:
        """How often it was seen and where first, in words."""
        times = "once" if self.count == 1 else f"{self.count} times"
        smaller = "; with a smaller request since" if self.shrunk else ""
        return f"{times}, first in {self.experiment}: {self.case}{smaller}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The result of a run for one requirement.

    `exercised` counts the judgements that passed or failed. `shown_by` names the exchange or
    delivery that proves a pass, which took `shown_in_s`. `reasons` state why it is not exercised or
    not applicable and what would change that, or which error occurred in hookproof itself. `judged`
    is false if the run ended before. `accepted` is the reason why the baseline accepts the verdict.
    `seen` holds the verdicts of the repetitions, in order, if they differ.
    """

    requirement: Requirement
    verdict: Verdict
    exercised: int = 0
    checks: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    shown_by: str = ""
    shown_in_s: float = 0.0
    reasons: tuple[str, ...] = ()
    judged: bool = True
    accepted: str | None = None
    seen: tuple[Verdict, ...] = ()

    @property
    def own_findings(self) -> tuple[Finding, ...]:
        """The findings that do not merely follow from those of other requirements."""
        return tuple(finding for finding in self.findings if not finding.follows_from)

    @property
    def lasted_s(self) -> float:
        """Seconds that what shows the verdict took, of the longest finding if there are several."""
        return max(
            (lasted_s(each.exchanges, each.deliveries) for each in self.findings),
            default=self.shown_in_s,
        )

    @property
    def follows_from(self) -> tuple[str, ...]:
        """The requirements that all its findings follow from; empty if one stands for itself."""
        if self.verdict is not Verdict.FAIL or self.own_findings:
            return ()
        return tuple(
            dict.fromkeys(name for finding in self.findings for name in finding.follows_from)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The entries of all selected requirements, in the order of the document.

    `cut` states why the run ended early, `faults` the errors of hookproof itself, `hooks` which
    hooks of the user failed, `stale` the entries of the baseline that are no longer right.
    `uncovered` states what was seen of the document, if that is less than was required.
    """

    entries: tuple[Entry, ...]
    cut: str | None = None
    faults: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    uncovered: str = ""

    @property
    def totals(self) -> Mapping[Level, Mapping[Verdict, int]]:
        """How many requirements of each level have each verdict."""
        counts = Counter((entry.requirement.level, entry.verdict) for entry in self.entries)
        return {level: {verdict: counts[level, verdict] for verdict in Verdict} for level in Level}

    @property
    def consequences(self) -> Mapping[Level, int]:
        """How many of the failed requirements of each level only follow from others."""
        counts = Counter(entry.requirement.level for entry in self.entries if entry.follows_from)
        return {level: counts[level] for level in Level}

    def verdict(self, *, strict: bool) -> RunVerdict:
        """The verdict of the run; with `strict`, hygiene counts like the other two levels."""
        if self.faults or any(entry.verdict is Verdict.ERROR for entry in self.entries):
            return RunVerdict.ERROR
        if self.stale or any(counts(entry, strict=strict) for entry in self.entries):
            return RunVerdict.DOES_NOT_CONFORM
        nothing_judged = not any(entry.exercised for entry in self.entries)
        if (
            nothing_judged
            or self.cut
            or self.uncovered
            or any(is_missing(entry) and not entry.accepted for entry in self.entries)
        ):
            return RunVerdict.INCOMPLETE
        return RunVerdict.CONFORMS


def counts(entry: Entry, *, strict: bool) -> bool:
    """Whether an entry is a failure that keeps the target from conforming."""
    binding = strict or entry.requirement.level is not Level.HYGIENE
    return binding and entry.verdict is Verdict.FAIL and entry.accepted is None


def is_missing(entry: Entry) -> bool:
    """Whether it is a stated requirement that was not exercised."""
    return entry.requirement.level is Level.STATED and entry.verdict is Verdict.NOT_EXERCISED


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftEndpoint:
    """An endpoint that was created; `uid` is empty if no answer showed it."""

    project: str
    uid: str
    is_disabled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftBehind:
    """The endpoints that are left, how many a hook removed, and how many of earlier runs get what
    this one broadcast.
    """

    endpoints: tuple[LeftEndpoint, ...] = ()
    removed: int = 0
    earlier: int = 0

    @property
    def active(self) -> int:
        """How many were created to get deliveries."""
        return sum(not endpoint.is_disabled for endpoint in self.endpoints)

    def masked(self, mask: Callable[[str], str]) -> "LeftBehind":
        """The same without credentials: an identifier is what a target likes it to be."""
        endpoints = (replace(each, uid=mask(each.uid)) for each in self.endpoints)
        return replace(self, endpoints=tuple(endpoints))

    def with_those_of(self, later: "LeftBehind") -> "LeftBehind":
        """What this and a later repetition leave; to the later one this one is an earlier run."""
        return LeftBehind(
            endpoints=(*self.endpoints, *later.endpoints),
            removed=self.removed + later.removed,
            earlier=self.earlier,
        )
