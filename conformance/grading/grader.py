"""Judges the evidence: each check looks at its cases once, and each requirement gets its entry in
the ledger.

A check that raises is a fault of hookproof: its requirements get an error, and the run goes on.
"""

import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from hookproof.conformance.grading.not_exercised import hindrances, sentence, silences
from hookproof.conformance.grading.root_cause import cause
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import Case
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.model.ledger import Entry, Finding
from hookproof.conformance.model.verdict import Judgement, Verdict
from hookproof.conformance.results.defects import ProofSize, proof_size
from hookproof.conformance.target.capabilities import Lack
from hookproof.conformance.target.definition import Profile
from hookproof.spec.catalogue import Catalogue, Level, Requirement
from hookproof.spec.dialect.answers import undecided_fields
from hookproof.spec.dialect.model import Dialect, Undecided


@dataclass(slots=True)
class CheckResult:
    """What one check says, over all its cases, of each requirement that it is bound to.

    Of two findings of one defect the one whose proof has the smaller `size` stays.
    """

    check: Check
    size: ProofSize
    exercised: Counter[str] = field(default_factory=Counter)
    not_applicable: dict[str, list[str]] = field(default_factory=dict)
    findings: dict[tuple[str, str], Finding] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def take(self, judgement: Judgement, case: Case, context: CheckContext) -> None:
        """Add one judgement of a case; raises ValueError for a requirement that the check is not
        bound to.
        """
        name = judgement.requirement
        if name not in self.check.requirements:
            raise ValueError(f"it judges {name}, to which it is not bound")
        if judgement.verdict is Verdict.NOT_APPLICABLE:
            self.not_applicable.setdefault(name, []).append(judgement.message)
            return
        self.exercised[name] += 1
        if judgement.verdict is Verdict.FAIL:
            why = cause(judgement, case, context) if judgement.cause is None else judgement.cause
            found = self._finding(judgement, case, why)
            known = self.findings.get((name, found.message))
            self.findings[name, found.message] = (
                found if known is None else self._joined(known, found)
            )

    def add(self, later: "CheckResult") -> None:
        """Add what the check said of further cases."""
        self.exercised.update(later.exercised)
        self.faults.extend(later.faults)
        for name, reasons in later.not_applicable.items():
            self.not_applicable.setdefault(name, []).extend(reasons)
        for place, found in later.findings.items():
            known = self.findings.get(place)
            self.findings[place] = found if known is None else self._joined(known, found)

    def _joined(self, known: Finding, found: Finding) -> Finding:
        """The finding with the smaller proof, the earlier of two alike, for both."""
        smaller = found if self.size(found) < self.size(known) else known
        return replace(smaller, count=known.count + found.count)

    def _finding(self, judgement: Judgement, case: Case, why: str) -> Finding:
        return Finding(
            requirement=judgement.requirement,
            check=self.check.name,
            message=judgement.message,
            expected=judgement.expected,
            actual=judgement.actual,
            exchanges=judgement.exchanges,
            deliveries=judgement.deliveries,
            count=1,
            experiment=case.experiment,
            case=case.name,
            cause=why,
        )


class Grader:
    """Judges requirement by requirement; `gathered` waits for an experiment of the run and gives
    what it brought.

    `meanwhile` names the other experiments that have ended, as they do, until the given one has:
    what they brought is judged while nothing else could be done. `judge` stands between a check and
    its cases, for whoever keeps or replaces what the check says; `size` measures the proofs that
    findings are chosen by.
    """

    def __init__(
        self,
        *,
        checks: Sequence[Check],
        context: CheckContext,
        catalogue: Catalogue,
        experiments: Sequence[str],
        profile: Profile,
        gathered: Callable[[str], Gathered],
        lacks: Mapping[str, Lack] | None = None,
        judge: Callable[[Check, Case, CheckContext], Iterable[Judgement]] | None = None,
        size: ProofSize = proof_size,
        meanwhile: Callable[[str], Iterable[str]] = lambda _name: (),
    ):
        self._checks = checks
        self._alike: dict[tuple[str, ...], list[Check]] = {}
        for check in checks:
            self._alike.setdefault(check.experiments, []).append(check)
        self._context = context
        self._catalogue = catalogue
        self._experiments = experiments
        self._profile = profile
        self._gathered = gathered
        self._lacks = lacks or {}
        self._judge_case = judge or (lambda check, case, context: check.judge(case, context))
        self._size = size
        self._meanwhile = meanwhile
        self._check_results: dict[str, CheckResult] = {}
        self._parts: dict[tuple[tuple[str, ...], str], Sequence[CheckResult]] = {}

    def entry(self, requirement: Requirement) -> Entry:
        """The entry of a requirement; waits for the experiments that its checks need."""
        if requirement.untestable:
            return Entry(
                requirement=requirement,
                verdict=Verdict.NOT_APPLICABLE,
                reasons=(sentence(requirement.untestable),),
            )
        if lack := self._lacks.get(requirement.id):
            verdict = Verdict.NOT_APPLICABLE if lack.allowed else Verdict.NOT_EXERCISED
            return Entry(requirement=requirement, verdict=verdict, reasons=(lack.reason,))
        check_results = [
            self._check_result(check)
            for check in self._checks
            if requirement.id in check.requirements
        ]
        found = [
            finding
            for check_result in check_results
            for (name, _), finding in check_result.findings.items()
            if name == requirement.id
        ]
        exercised = sum(check_result.exercised[requirement.id] for check_result in check_results)
        verdict, reasons = self._verdict(
            requirement, check_results, exercised=exercised, failed=bool(found)
        )
        return Entry(
            requirement=requirement,
            verdict=verdict,
            exercised=exercised,
            checks=tuple(check_result.check.name for check_result in check_results),
            findings=tuple(found),
            reasons=tuple(dict.fromkeys(reasons)),
        )

    def _verdict(
        self,
        requirement: Requirement,
        check_results: Sequence[CheckResult],
        *,
        exercised: int,
        failed: bool,
    ) -> tuple[Verdict, Sequence[str]]:
        if faults := [fault for check_result in check_results for fault in check_result.faults]:
            return Verdict.ERROR, faults
        if failed:
            return Verdict.FAIL, ()
        # An undecided answer agrees with everything, so that a pass would prove nothing (section
        # 2.9 and others).
        open_questions = undecided(requirement, self._catalogue, self._context.dialect)
        if requirement.level is Level.OPEN and open_questions:
            return Verdict.NOT_APPLICABLE, [
                f"The dialect does not decide: {question}" for question in open_questions
            ]
        return (Verdict.PASS, ()) if exercised else self._silence(requirement, check_results)

    def _silence(
        self, requirement: Requirement, check_results: Sequence[CheckResult]
    ) -> tuple[Verdict, Sequence[str]]:
        """What is said of a requirement that nothing exercised, and why nothing did."""
        checks = [check_result.check for check_result in check_results]
        run = {
            name: self._gathered(name)
            for check in checks
            for name in self._those(check.experiments)
        }
        declined = [
            reason
            for check_result in check_results
            for reason in check_result.not_applicable.get(requirement.id, ())
        ]
        hindered = hindrances(checks, run)
        if declined and not hindered:
            return Verdict.NOT_APPLICABLE, declined
        return Verdict.NOT_EXERCISED, [
            *hindered,
            *silences(requirement, checks, run, self._profile),
        ]

    def _check_result(self, check: Check) -> CheckResult:
        if check.name not in self._check_results:
            self._check_results |= {
                check_result.check.name: check_result
                for check_result in self._judged(check.experiments)
            }
        return self._check_results[check.name]

    def _judged(self, experiments: tuple[str, ...]) -> Sequence[CheckResult]:
        """What the checks of these experiments say of all their cases."""
        check_results = [CheckResult(check, self._size) for check in self._alike[experiments]]
        for name in self._those(experiments):
            for check_result, part in zip(
                check_results, self._part(experiments, name), strict=True
            ):
                check_result.add(part)
        return check_results

    def _part(self, experiments: tuple[str, ...], name: str) -> Sequence[CheckResult]:
        """What the checks of these experiments say of the cases of one of them; waits until it has
        ended.
        """
        for ended in self._meanwhile(name):
            self._judge_ahead(ended)
        place = experiments, name
        if place not in self._parts:
            self._parts[place] = self._said_of(self._gathered(name), self._alike[experiments])
        return self._parts[place]

    def _judge_ahead(self, name: str) -> None:
        """Let every check of an experiment that has ended judge it before it is asked."""
        for experiments, checks in self._alike.items():
            if name in self._those(experiments) and (experiments, name) not in self._parts:
                self._parts[experiments, name] = self._said_of(self._gathered(name), checks)

    def _said_of(self, gathered: Gathered, checks: Sequence[Check]) -> Sequence[CheckResult]:
        """What checks say of an experiment; they look at a case one after the other, while it is
        parsed.
        """
        check_results = [CheckResult(check, self._size) for check in checks]
        if gathered.ending is Ending.CRASHED:
            for check_result in check_results:
                if check_result.check.experiments:
                    check_result.faults.append(gathered.reason)
        for case in gathered.cases:
            if case.obstacle is None:
                for check_result in check_results:
                    self._judge(case, check_result)
        return check_results

    def _judge(self, case: Case, check_result: CheckResult) -> None:
        check = check_result.check
        try:
            for judgement in self._judge_case(check, case, self._context):
                check_result.take(judgement, case, self._context)
        except Undecided:
            for name in check.requirements:
                check_result.not_applicable.setdefault(name, []).append(
                    "The dialect does not decide what it depends on."
                )
        except Exception as error:  # noqa: BLE001 whatever a check raises is our fault, and must not end the run
            check_result.faults.append(
                f"The check {check.name} broke on {case.experiment}/{case.name}: {told(error)}"
            )

    def _those(self, experiments: tuple[str, ...]) -> Sequence[str]:
        """Those of a check's experiments that are part of the run: all of it for an oracle."""
        return [name for name in experiments or self._experiments if name in self._experiments]


def undecided(requirement: Requirement, catalogue: Catalogue, dialect: Dialect) -> list[str]:
    """The questions which a requirement depends on and the dialect leaves undecided."""
    gaps = [catalogue.gaps[name] for name in requirement.gaps]
    open_answers = set(undecided_fields(dialect))
    return [gap.question for gap in gaps if not open_answers.isdisjoint(gap.dialect)]


def told(error: BaseException) -> str:
    """An error of our own in one line: its type, its message, and the place in our code that raised
    it.
    """
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({PurePath(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return " ".join(f"{type(error).__name__}: {error}{place}".split())
