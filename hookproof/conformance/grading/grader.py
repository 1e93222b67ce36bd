"""Judges the evidence: each check judges each of its observations once, for all requirements.

An exception in a check is an error of hookproof: its requirements get an error, and the run goes
on.
"""

import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from hookproof.conformance.grading.answers_in_the_way import as_sentence
from hookproof.conformance.grading.assumptions import standing, violated_in
from hookproof.conformance.grading.check_result import CheckResult
from hookproof.conformance.grading.not_exercised import (
    DOES_NOT_DECIDE,
    UNDECIDED,
    reasons_not_exercised,
    reasons_not_observed,
    reasons_not_run,
)
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import NotExaminedError, NotObserved, Observation
from hookproof.conformance.model.experiment_registry import Experiment, experiments_of
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.model.judgement import Judgement
from hookproof.conformance.model.ledger import Entry, Finding, FindingKey
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.results.consequences import Proof, explained_by
from hookproof.conformance.target.capabilities import Lack
from hookproof.spec.catalogue import Catalogue, Level, Requirement
from hookproof.spec.dialect.answer import Undecided, noted_preferences
from hookproof.spec.dialect.answers import readings, undecided_fields


class Grader:
    """Judges requirement by requirement.

    `gathered` waits for an experiment of the run and returns what it observed. `meanwhile` names
    the other experiments of the run that have ended, as they do, until the given one has: their
    observations are judged while there is nothing else to do. `every_experiment` holds also those
    that are not part of the run, which `experiments` names. `reported` names the requirements that
    the run reports: a finding may follow from theirs only.
    """

    def __init__(
        self,
        *,
        checks: Sequence[Check],
        context: CheckContext,
        catalogue: Catalogue,
        experiments: Sequence[str],
        every_experiment: Sequence[Experiment],
        profile: Profile,
        gathered: Callable[[str], Gathered],
        lacks: Mapping[str, Lack] | None = None,
        meanwhile: Callable[[str], Iterable[str]] = lambda _name: (),
        reported: Iterable[str] = (),
    ):
        self._checks = checks
        self._context = context
        self._catalogue = catalogue
        self._run = frozenset(experiments)
        self._needed = {check.name: experiments_of(check, every_experiment) for check in checks}
        self._missing = reasons_not_run(every_experiment, profile)
        self._gathered = gathered
        self._lacks = lacks or {}
        self._meanwhile = meanwhile
        self._reported = frozenset(reported)
        self._undecided = frozenset(undecided_fields(context.dialect))
        self._results: dict[str, Mapping[str, CheckResult]] = {}

    def entry(self, requirement: Requirement) -> Entry:
        """The entry of a requirement; waits for the experiments that its checks need."""
        if requirement.untestable:
            return Entry(
                requirement=requirement,
                verdict=Verdict.NOT_APPLICABLE,
                reasons=(as_sentence(requirement.untestable),),
            )
        if lack := self._lacks.get(requirement.id):
            verdict = Verdict.NOT_APPLICABLE if lack.allowed else Verdict.NOT_EXERCISED
            return Entry(requirement=requirement, verdict=verdict, reasons=(lack.reason,))
        results = self._of(requirement.id)
        findings = tuple(self._findings(requirement, results))
        exercised = sum(result.exercised[requirement.id] for result in results)
        verdict, reasons = self._verdict(
            requirement, results, exercised=exercised, failed=bool(findings)
        )
        proofs = (result.shown_by.get(requirement.id) for result in results)
        proof = next(filter(None, proofs), None) if verdict is Verdict.PASS else None
        return Entry(
            requirement=requirement,
            verdict=verdict,
            exercised=exercised,
            checks=tuple(result.check.name for result in results),
            findings=findings,
            shown_by=proof.words if proof else "",
            shown_in_s=round(proof.lasted_s, 3) if proof else 0.0,
            reasons=tuple(dict.fromkeys(reasons)),
        )

    def _of(self, requirement: str) -> list[CheckResult]:
        return [self._result(check) for check in self._checks if requirement in check.requirements]

    def _findings(
        self, requirement: Requirement, results: Sequence[CheckResult]
    ) -> Iterator[Finding]:
        """The findings of a requirement, each with what it follows from."""
        proofs = _proofs(requirement.id, results)
        upstream = self._upstream(requirement) if proofs else {}
        for result in results:
            for key, finding in result.findings.items():
                if key in proofs:
                    names = explained_by(proofs[key], upstream)
                    yield replace(finding, follows_from=names) if names else finding

    def _upstream(self, requirement: Requirement) -> dict[str, list[Proof]]:
        """The proofs against each requirement that this one may follow from."""
        names = self._catalogue.upstream(requirement.id) & self._reported
        return {
            name: [proof for proofs in _proofs(name, self._of(name)).values() for proof in proofs]
            for name in self._catalogue.requirements
            if name in names
        }

    def _verdict(
        self,
        requirement: Requirement,
        results: Sequence[CheckResult],
        *,
        exercised: int,
        failed: bool,
    ) -> tuple[Verdict, Sequence[str]]:
        if errors := [error for result in results for error in result.errors]:
            return Verdict.ERROR, errors
        if failed:
            return Verdict.FAIL, ()
        # An undecided answer agrees with everything, so that a pass would prove nothing.
        open_questions = undecided(requirement, self._catalogue, self._undecided)
        if requirement.level is Level.OPEN and open_questions:
            return Verdict.NOT_APPLICABLE, open_questions
        if assumed := _of_requirement(requirement, [result.assumed for result in results]):
            return Verdict.NOT_EXERCISED, assumed
        if exercised:
            return Verdict.PASS, ()
        return self._not_exercised(requirement, results, open_questions)

    def _not_exercised(
        self,
        requirement: Requirement,
        results: Sequence[CheckResult],
        open_questions: Sequence[str],
    ) -> tuple[Verdict, Sequence[str]]:
        """The verdict and its reasons; open questions are the reason where nothing else is."""
        ruled_out = _of_requirement(requirement, [result.ruled_out for result in results])
        if ruled_out:
            return Verdict.NOT_APPLICABLE, ruled_out
        checks = [result.check for result in results]
        needed = {check.name: self._needed[check.name] for check in checks}
        run = {
            name: self._gathered(name)
            for names in needed.values()
            for name in names
            if name in self._run
        }
        not_applicable = _of_requirement(requirement, [result.not_applicable for result in results])
        not_examined = _of_requirement(requirement, [result.not_examined for result in results])
        not_observed = (*reasons_not_observed(checks, needed, run, self._missing), *not_examined)
        known = [reason for reason in not_applicable if reason != UNDECIDED]
        # What is not part of the run could not have made it applicable.
        if not_applicable and set(not_observed) <= set(self._missing.values()):
            undecided_ones = open_questions if UNDECIDED in not_applicable else ()
            return Verdict.NOT_APPLICABLE, [*known, *undecided_ones] or not_applicable
        if open_questions:
            return Verdict.NOT_EXERCISED, [*not_observed, *open_questions]
        dialect = self._context.dialect
        return Verdict.NOT_EXERCISED, [
            *not_examined,
            *(as_sentence(f"As far as was seen, it does not apply: {each}") for each in known),
            *reasons_not_exercised(requirement, checks, needed, run, self._missing, dialect),
        ]

    def exercised_in(self, experiment: str) -> frozenset[str]:
        """The requirements that the evidence of one experiment has exercised."""
        return frozenset[str]().union(
            *(result.exercised for result in self._results_of(experiment).values())
        )

    def _result(self, check: Check) -> CheckResult:
        """The result of a check over all its evidence; waits for the experiments that it needs."""
        result = CheckResult(check)
        for name in self._needed[check.name]:
            if name in self._run:
                result.add(self._results_of(name)[check.name])
        return result

    def _results_of(self, experiment: str) -> Mapping[str, CheckResult]:
        for ended in self._meanwhile(experiment):
            if ended not in self._results:
                self._results[ended] = self._judge_experiment(ended)
        if experiment not in self._results:
            self._results[experiment] = self._judge_experiment(experiment)
        return self._results[experiment]

    def _judge_experiment(self, experiment: str) -> Mapping[str, CheckResult]:
        """The results of all checks for an experiment that has ended.

        All checks judge one observation before the next, because its parsed bodies are cached.
        """
        gathered = self._gathered(experiment)
        results = {
            check.name: CheckResult(check)
            for check in self._checks
            if experiment in self._needed[check.name]
        }
        if gathered.ending is Ending.CRASHED:
            for result in results.values():
                if not result.check.is_oracle:
                    result.errors.append(gathered.reason)
        # Most checks judge few kinds of evidence: which judge a kind is found out once. What there
        # is of an observation that could not be made is for oracles only.
        judging: dict[type, list[CheckResult]] = {}
        with noted_preferences() as preferences:
            for evidence in gathered.observations:
                kind = type(evidence)
                if kind not in judging:
                    judging[kind] = [each for each in results.values() if each.check.judges(kind)]
                observation = evidence if isinstance(evidence, Observation) else _as_far(evidence)
                for result in judging[kind]:
                    preferences.clear()
                    self._judge_observation(observation, result, preferences)
        return results

    def _judge_observation(
        self, observation: Observation, result: CheckResult, preferences: Collection[int]
    ) -> None:
        """Judge one observation; `preferences` are noted meanwhile."""
        check = result.check
        judgements: list[Judgement] = []
        try:
            try:
                judgements.extend(check.judgements(observation, self._context))
            finally:  # what was judged before it could not go on counts
                lenient = most_lenient(check, observation, judgements, preferences, self._context)
                result.add_standing(
                    standing(check, observation, lenient, self._context), observation, self._context
                )
        except Undecided:
            for name in check.requirements:
                result.not_applicable.setdefault(name, []).append(UNDECIDED)
        except NotExaminedError as reason:
            for name in check.requirements:
                result.not_examined.setdefault(name, []).append(as_sentence(str(reason)))
        except Exception as error:  # noqa: BLE001 an error in a check is ours and must not end the run
            result.errors.append(
                f"The check {check.name} broke on {observation.experiment}/{observation.name}:"
                f" {error_line(error)}"
            )


def most_lenient(
    check: Check,
    observation: Observation,
    judgements: Sequence[Judgement],
    preferences: Iterable[int],
    context: CheckContext,
) -> list[Judgement]:
    """Judge by each of the several values that the dialect allows for answers of which the check
    used the first, as noted in `preferences`: what holds by one of them is no violation.
    """
    lenient = list(judgements)
    failed = violated_in(lenient)
    for dialect in readings(context.dialect, frozenset(preferences)) if failed else ():
        try:
            others = list(check.judgements(observation, replace(context, dialect=dialect)))
        except Exception:  # noqa: BLE001, S112 what cannot be judged so explains nothing
            continue
        held = failed - violated_in(others)
        lenient = [each for each in lenient if each.requirement not in held]
        lenient.extend(each for each in others if each.requirement in held)
        failed -= held
        if not failed:
            break
    return lenient


def _as_far(missing: NotObserved) -> Observation:
    """What there is of an observation that could not be made: oracles judge its exchanges."""
    return Observation(
        experiment=missing.experiment,
        name=missing.name,
        exchanges=missing.exchanges,
        deliveries=missing.deliveries,
    )


def _proofs(
    requirement: str, results: Iterable[CheckResult]
) -> dict[FindingKey, Collection[Proof]]:
    return {
        key: proofs
        for result in results
        for key, proofs in result.proofs.items()
        if key.requirement == requirement
    }


def undecided(
    requirement: Requirement, catalogue: Catalogue, open_answers: Collection[str]
) -> list[str]:
    """The questions that a requirement depends on and the dialect leaves undecided, each with the
    fields that would answer it. `open_answers` are all fields that the dialect leaves open.
    """
    return [
        f"{DOES_NOT_DECIDE}: {gap.question} ({', '.join(fields)})"
        for gap, names in catalogue.depends_on(requirement)
        if (fields := [name for name in names if name in open_answers])
    ]


def error_line(error: BaseException) -> str:
    """An error of ours in one line: type, message, and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({PurePath(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return " ".join(f"{type(error).__name__}: {error}{place}".split())


def _of_requirement(
    requirement: Requirement, reasons: Iterable[Mapping[str, Sequence[str]]]
) -> list[str]:
    return [reason for by_name in reasons for reason in by_name.get(requirement.id, ())]
