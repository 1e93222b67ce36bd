"""Judges the evidence: each check looks at its cases once, and each requirement gets its entry in the ledger.

A check that raises is a fault of hookproof: its requirements get an error, and the run goes on.
"""

import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from conformance.capability import Lack
from conformance.cause import cause
from conformance.checks.registry import Check, Yardstick
from conformance.defects import proof_size
from conformance.evidence import Case
from conformance.gathered import Ending, Gathered
from conformance.ledger import Entry, Finding
from conformance.silence import hindrances, sentence, silences
from conformance.target import Profile
from conformance.verdict import Judgement, Verdict
from spec.catalogue import Catalogue, Level, Requirement
from spec.dialect import Answer, Dialect, Undecided


@dataclass(slots=True)
class Opinion:
    """What one check says, over all its cases, of each requirement that it is bound to."""

    check: Check
    exercised: Counter[str] = field(default_factory=Counter)
    not_applicable: dict[str, list[str]] = field(default_factory=dict)
    findings: dict[tuple[str, str], Finding] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def take(self, judgement: Judgement, case: Case, yardstick: Yardstick) -> None:
        """Add one judgement of a case; raises ValueError for a requirement that the check is not bound to."""
        name = judgement.requirement
        if name not in self.check.requirements:
            raise ValueError(f"it judges {name}, to which it is not bound")
        if judgement.verdict is Verdict.NOT_APPLICABLE:
            self.not_applicable.setdefault(name, []).append(judgement.message)
            return
        self.exercised[name] += 1
        if judgement.verdict is Verdict.FAIL:
            why = cause(judgement, case, yardstick) if judgement.cause is None else judgement.cause
            found = self._finding(judgement, case, why)
            known = self.findings.get((name, found.message))
            smaller = found if known is None or proof_size(found) < proof_size(known) else known
            self.findings[name, found.message] = replace(smaller, count=known.count + 1 if known else 1)

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


class Judging:
    """Judges requirement by requirement; `gathered` waits for an experiment of the run and gives what it brought.

    `judge` stands between a check and its cases, for whoever keeps or replaces what the check says.
    """

    def __init__(
        self,
        *,
        checks: Sequence[Check],
        yardstick: Yardstick,
        catalogue: Catalogue,
        experiments: Sequence[str],
        profile: Profile,
        gathered: Callable[[str], Gathered],
        lacks: Mapping[str, Lack] | None = None,
        judge: Callable[[Check, Case, Yardstick], Iterable[Judgement]] | None = None,
    ):
        self._checks = checks
        self._yardstick = yardstick
        self._catalogue = catalogue
        self._experiments = experiments
        self._profile = profile
        self._gathered = gathered
        self._lacks = lacks or {}
        self._judge_case = judge or (lambda check, case, yardstick: check.judge(case, yardstick))
        self._opinions: dict[str, Opinion] = {}

    def entry(self, requirement: Requirement) -> Entry:
        """The entry of a requirement; waits for the experiments that its checks need."""
        if requirement.untestable:
            return Entry(
                requirement=requirement, verdict=Verdict.NOT_APPLICABLE, reasons=(sentence(requirement.untestable),)
            )
        if lack := self._lacks.get(requirement.id):
            verdict = Verdict.NOT_APPLICABLE if lack.allowed else Verdict.NOT_EXERCISED
            return Entry(requirement=requirement, verdict=verdict, reasons=(lack.reason,))
        opinions = [self._opinion(check) for check in self._checks if requirement.id in check.requirements]
        found = [
            finding for opinion in opinions for (name, _), finding in opinion.findings.items() if name == requirement.id
        ]
        exercised = sum(opinion.exercised[requirement.id] for opinion in opinions)
        verdict, reasons = self._verdict(requirement, opinions, exercised=exercised, failed=bool(found))
        return Entry(
            requirement=requirement,
            verdict=verdict,
            exercised=exercised,
            checks=tuple(opinion.check.name for opinion in opinions),
            findings=tuple(found),
            reasons=tuple(dict.fromkeys(reasons)),
        )

    def _verdict(
        self, requirement: Requirement, opinions: Sequence[Opinion], *, exercised: int, failed: bool
    ) -> tuple[Verdict, Sequence[str]]:
        if faults := [fault for opinion in opinions for fault in opinion.faults]:
            return Verdict.ERROR, faults
        if failed:
            return Verdict.FAIL, ()
        # An undecided answer agrees with everything, so that a pass would prove nothing (section 2.9 and others).
        open_questions = undecided(requirement, self._catalogue, self._yardstick.dialect)
        if requirement.level is Level.OPEN and open_questions:
            return Verdict.NOT_APPLICABLE, [f"The dialect does not decide: {question}" for question in open_questions]
        return (Verdict.PASS, ()) if exercised else self._silence(requirement, opinions)

    def _silence(self, requirement: Requirement, opinions: Sequence[Opinion]) -> tuple[Verdict, Sequence[str]]:
        """What is said of a requirement that nothing exercised, and why nothing did."""
        checks = [opinion.check for opinion in opinions]
        run = {gathered.experiment: gathered for check in checks for gathered in self._needed(check)}
        declined = [reason for opinion in opinions for reason in opinion.not_applicable.get(requirement.id, ())]
        hindered = hindrances(checks, run)
        if declined and not hindered:
            return Verdict.NOT_APPLICABLE, declined
        return Verdict.NOT_EXERCISED, [*hindered, *silences(requirement, checks, run, self._profile)]

    def _opinion(self, check: Check) -> Opinion:
        if check.name not in self._opinions:
            alike = [one for one in self._checks if one.experiments == check.experiments]
            self._opinions |= {opinion.check.name: opinion for opinion in self._judged(alike)}
        return self._opinions[check.name]

    def _judged(self, checks: Sequence[Check]) -> Sequence[Opinion]:
        """What checks of the same experiments say; they look at a case one after the other, while it is parsed."""
        opinions = [Opinion(check) for check in checks]
        for gathered in self._needed(checks[0]):
            if checks[0].experiments and gathered.ending is Ending.CRASHED:
                for opinion in opinions:
                    opinion.faults.append(gathered.reason)
            for case in gathered.cases:
                if case.obstacle is None:
                    for opinion in opinions:
                        self._judge(case, opinion)
        return opinions

    def _judge(self, case: Case, opinion: Opinion) -> None:
        check = opinion.check
        try:
            for judgement in self._judge_case(check, case, self._yardstick):
                opinion.take(judgement, case, self._yardstick)
        except Undecided:
            for name in check.requirements:
                opinion.not_applicable.setdefault(name, []).append("The dialect does not decide what it depends on.")
        except Exception as error:  # noqa: BLE001 whatever a check raises is our fault, and must not end the run
            opinion.faults.append(f"The check {check.name} broke on {case.experiment}/{case.name}: {told(error)}")

    def _needed(self, check: Check) -> Iterator[Gathered]:
        for name in check.experiments or self._experiments:
            if name in self._experiments:
                yield self._gathered(name)


def undecided(requirement: Requirement, catalogue: Catalogue, dialect: Dialect) -> list[str]:
    """The questions which a requirement depends on and the dialect leaves undecided."""
    gaps = [catalogue.gaps[name] for name in requirement.gaps]
    return [gap.question for gap in gaps if any(_is_undecided(dialect, path) for path in gap.dialect)]


def told(error: BaseException) -> str:
    """An error of our own in one line: its type, its message, and the place in our code that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({PurePath(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return " ".join(f"{type(error).__name__}: {error}{place}".split())


def _is_undecided(dialect: Dialect, path: str) -> bool:
    answer: object = dialect
    for name in path.split("."):
        answer = getattr(answer, name)
    return isinstance(answer, Answer) and not answer.decided
