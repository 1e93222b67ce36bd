"""Tries answers by judging stored evidence again: what is a finding of `check` decides here too.

A field's candidates are judged by the checks of the requirements that depend on its question. An
answer is kept if none of them finds a violation under it and some pass by it; where every answer is
kept, the evidence does not show which is right.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from hookproof.conformance.checks import all_checks
from hookproof.conformance.grading.candidate_answers import (
    candidate_values,
    checks_of,
    judgements_of,
    requirements_of,
)
from hookproof.conformance.grading.check_result import proof_in_words
from hookproof.conformance.learning.learned_answers import LearnedAnswer, LearnedAnswers
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import NotObserved, Observation
from hookproof.conformance.model.gathered_evidence import Gathered
from hookproof.conformance.model.judgement import Judgement
from hookproof.conformance.model.verdict import Verdict
from hookproof.spec.catalogue import Level, load_catalogue
from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.model import Dialect

# So many observations and exchanges of a kind say what more of them would say.
MOST_JUDGED: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How one candidate was judged; `proof` is one pass in words."""

    value: Any
    failures: int
    passes: int
    proof: str


def learn_by_regrading(
    answers: LearnedAnswers, evidence: Mapping[str, Gathered], examined_by: Dialect
) -> None:
    """Learn the fields that were not seen, as far as this evidence shows them; and correct those
    that it contradicts, if it shows another answer.
    """
    every = [each for gathered in evidence.values() for each in gathered.observations]
    observations = [each for each in every if isinstance(each, Observation)]
    for field in unseen_fields(answers):
        fits = _fits(answers, field, observations, examined_by)
        if fits and not answers.has_reason(field):
            answers.miss(field, _why_not(fits))
        keep_fitting(answers, field, fits)
    for field in contradicted_fields(answers, observations, examined_by):
        before = answers.answer(field)
        keep_fitting(answers, field, _fits(answers, field, observations, examined_by))
        _keep_both(answers, before)
    _note_reasons(answers, [each for each in every if isinstance(each, NotObserved)])


def _keep_both(answers: LearnedAnswers, before: LearnedAnswer) -> None:
    """What was seen now in this way and now in that may be either."""
    after = answers.answer(before.field)
    if after != before:
        values = [*before.values, *(value for value in after.values if value not in before.values)]
        answers.see(after.field, *values, shown_by=after.shown_by, count=after.count)


def contradicted_fields(
    answers: LearnedAnswers, observations: Sequence[Observation], examined_by: Dialect
) -> list[str]:
    """The fields that were seen, and on which an open requirement depends that is violated."""
    dialect = answers.dialect
    context = CheckContext(dialect=dialect, contract=contract_for(dialect), examined_by=examined_by)
    catalogue = load_catalogue()
    is_open = frozenset(
        one.id for one in catalogue.requirements.values() if one.level is Level.OPEN
    )
    violated = {
        judgement.requirement
        for _, judgement in _judgements(is_open, observations, context)
        if judgement.verdict is Verdict.FAIL
    }
    return [
        field
        for field in answers.fields
        if answers.is_seen(field) and answers.may_stay_open(field)
        if violated & _known(answers, field)
    ]


def _note_reasons(answers: LearnedAnswers, missing: Sequence[NotObserved]) -> None:
    """Why an experiment could not show a field, where nothing better is known."""
    for field in unseen_fields(answers):
        kinds = {
            kind.__name__
            for check in checks_of(requirements_of(field), _checks())
            for kind in check.evidence
        }
        reason = next((each.reason for each in missing if each.observation in kinds), None)
        if reason and not answers.has_reason(field):
            answers.miss(field, reason)


@cache
def _checks() -> tuple[Check, ...]:
    return all_checks()


def _fits(
    answers: LearnedAnswers,
    field: str,
    observations: Sequence[Observation],
    examined_by: Dialect,
) -> list[Fit]:
    """How each candidate of a field is judged; none without evidence."""
    judged = _judged(answers, field, observations)
    values = candidate_values(field, observations) if judged else ()
    return [
        fit
        for value in values
        if (fit := judge(answers, field, value, judged, examined_by)) is not None
    ]


def unseen_fields(answers: LearnedAnswers) -> list[str]:
    """The fields that may stay open and were not seen."""
    return [
        field
        for field in answers.fields
        if answers.may_stay_open(field) and not answers.is_seen(field)
    ]


def _known(answers: LearnedAnswers, field: str) -> frozenset[str]:
    """The requirements that depend on a field, and on no other that is a guess."""
    return frozenset(
        name for name in requirements_of(field) if not rests_on_guess(answers, field, name)
    )


def _judged(
    answers: LearnedAnswers, field: str, observations: Sequence[Observation]
) -> list[Observation]:
    """The observations that a check judges which depends on a field."""
    checks = checks_of(_known(answers, field), _checks())
    return [each for each in observations if any(check.judges(type(each)) for check in checks)]


def keep_fitting(answers: LearnedAnswers, field: str, fits: Sequence[Fit]) -> None:
    """Learn the values of a field that nothing contradicts, if something contradicts the others."""
    kept = [fit for fit in fits if not fit.failures and fit.passes]
    if not kept or len(kept) == len(fits) > 1:
        return
    if any(fit.failures for fit in fits) or len(fits) == 1:
        answers.see(
            field, *(fit.value for fit in kept), shown_by=kept[0].proof, count=kept[0].passes
        )


def _why_not(fits: Sequence[Fit]) -> str:
    if all(fit.failures for fit in fits):
        return f"what was seen agrees with none of {', '.join(str(fit.value) for fit in fits)}"
    return "no experiment that was run tells one answer from another"


def judge(
    answers: LearnedAnswers,
    field: str,
    value: Any,
    observations: Sequence[Observation],
    examined_by: Dialect,
) -> Fit | None:
    """How a value of a field fares; None if it contradicts other answers."""
    dialect = answers.with_answer(field, value)
    if dialect is None:
        return None
    context = CheckContext(dialect=dialect, contract=contract_for(dialect), examined_by=examined_by)
    failures = passes = 0
    proof = ""
    for observation, judgement in _judgements(_known(answers, field), observations, context):
        if judgement.verdict is Verdict.FAIL:
            failures += 1
        elif judgement.verdict is Verdict.PASS:
            passes += 1
            proof = proof or proof_in_words(judgement, observation)
    return Fit(value=value, failures=failures, passes=passes, proof=proof)


def _judgements(
    requirements: frozenset[str], observations: Sequence[Observation], context: CheckContext
) -> Iterator[tuple[Observation, Judgement]]:
    for check in checks_of(requirements, _checks()):
        judged = [each for each in observations if check.judges(type(each))][:MOST_JUDGED]
        for observation in judged:
            for judgement in judgements_of(check, observation, context):
                if judgement.requirement in requirements:
                    yield observation, judgement


def rests_on_guess(answers: LearnedAnswers, field: str, requirement: str) -> bool:
    """Whether a requirement depends on another field whose answer is not known, but must be one.

    Because of a wrong guess there the right answer would fail here.
    """
    catalogue = load_catalogue()
    return any(
        answers.is_guessed(other)
        for gap in catalogue.requirements[requirement].gaps
        for other in catalogue.gaps[gap].dialect
        if other != field
    )
