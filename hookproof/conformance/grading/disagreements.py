"""Finds the fields of the dialect that alone explain findings: under another answer, all passes.

A dialect that is wrong in one field makes a finding of every operation and field that shows it. The
same evidence is judged under each answer that the question can have. One explains a requirement if
all that fails under the dialect's answer passes under it, and nothing fails; and if nothing speaks
for the dialect: what passes under its answer passes under every other, so that it shows nothing. A
service that does otherwise in some places only is thus never explained away. Neither are
requirements that do not depend on the question: no stated one does.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, Final

from hookproof.conformance.grading.candidate_answers import (
    candidate_values,
    checks_of,
    judgements_of,
    requirements_of,
    shown_values,
)
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.disagreement import Disagreement
from hookproof.conformance.model.evidence import Evidence, Observation
from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.model.verdict import Verdict
from hookproof.spec.catalogue import Level, load_catalogue
from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.answer import Answer
from hookproof.spec.dialect.answers import answers_of
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.reader import load_dialect_mapping
from hookproof.spec.dialect.writer import written_dialect
from hookproof.spec.strict_yaml.file_problem import FileProblems

# A single finding is as short as what would be said in its place.
FEWEST_FINDINGS: Final = 2


def disagreements(
    entries: Sequence[Entry],
    evidence: Iterable[Evidence],
    dialect: Dialect,
    examined_by: Dialect,
    checks: Sequence[Check],
) -> tuple[Disagreement, ...]:
    """The fields that explain findings, those that explain most first; each finding once.

    `examined_by` is the dialect under which the evidence was taken in, `checks` are all that judge.
    """
    failed = {entry.requirement.id: entry for entry in entries if _may_be_explained(entry)}
    fields = _fields_behind(failed, dialect)
    if not fields:
        return ()
    observations = [each for each in evidence if isinstance(each, Observation)]
    contexts = _Contexts(observations, dialect, examined_by, checks)
    known = {entry.requirement.id: entry for entry in entries}
    explained = {
        field: _explanations(field, answer, contexts, known, failed)
        for field, answer in fields.items()
    }
    found = []
    while failed:
        field, (names, values) = max(
            ((field, _best(values, failed)) for field, values in explained.items()),
            key=lambda pair: _findings(pair[1][0], failed),
        )
        if _findings(names, failed) < FEWEST_FINDINGS:
            break
        group = [failed.pop(name) for name in names]
        found.append(_disagreement(field, fields[field], values, group))
    return tuple(found)


def _may_be_explained(entry: Entry) -> bool:
    return (
        entry.requirement.level is Level.OPEN
        and entry.verdict is Verdict.FAIL
        and entry.accepted is None
        and bool(entry.own_findings)
    )


def _fields_behind(failed: Mapping[str, Entry], dialect: Dialect) -> dict[str, Answer[Any]]:
    """The decided answers that one of these requirements depends on."""
    catalogue = load_catalogue()
    gaps = {gap for entry in failed.values() for gap in entry.requirement.gaps}
    names = {field for gap in gaps for field in catalogue.gaps[gap].dialect}
    return {
        name: answer
        for name, answer in answers_of(dialect)
        if name in names and isinstance(answer, Answer) and answer.decided
    }


def _explanations(
    field: str,
    answer: Answer[Any],
    contexts: "_Contexts",
    known: Mapping[str, Entry],
    failed: Mapping[str, Entry],
) -> dict[Any, tuple[str, ...]]:
    """For each other value of a field, the failed requirements that it explains."""
    depending = [name for name in sorted(requirements_of(field)) if name in known]
    others = contexts.others(field, answer)
    explained: dict[Any, list[str]] = {value: [] for value in others}
    for name in depending:
        if name in failed:
            for value in contexts.explaining(name, others):
                explained[value].append(name)
    passing = [name for name in depending if known[name].verdict is Verdict.PASS]
    return {
        value: tuple(names)
        for value, names in explained.items()
        if names and not any(contexts.fails(name, others[value]) for name in passing)
    }


class Verdicts:
    """The verdicts of checks under one dialect: each judges evidence once, for all requirements."""

    def __init__(self, context: CheckContext) -> None:
        self._context = context
        self._of_evidence: dict[tuple[str, int], Mapping[str, Verdict]] = {}

    def of(self, requirement: str, check: Check, evidence: Observation) -> Verdict | None:
        """The worst judgement on one requirement; None if there is none.

        The evidence is known by its identity, so whoever asks keeps it.
        """
        key = check.name, id(evidence)
        if key not in self._of_evidence:
            worst: dict[str, Verdict] = {}
            for judgement in judgements_of(check, evidence, self._context):
                before = worst.get(judgement.requirement, judgement.verdict)
                worst[judgement.requirement] = max(before, judgement.verdict)
            self._of_evidence[key] = worst
        return self._of_evidence[key].get(requirement)


class _Contexts:
    """The evidence of a run, and its dialect with other answers.

    `examined_by` is the dialect under which the evidence was taken in.
    """

    def __init__(
        self,
        observations: Sequence[Observation],
        dialect: Dialect,
        examined_by: Dialect,
        checks: Sequence[Check],
    ) -> None:
        self._observations = observations
        self._checks = checks
        self._exchanges = [
            replace(observation, exchanges=(exchange,), deliveries=())
            for observation in observations
            for exchange in observation.exchanges
        ]
        self._dialect = dialect
        self._examined_by = examined_by
        self._own = self._verdicts(dialect)

    def _verdicts(self, dialect: Dialect) -> Verdicts:
        contract = contract_for(dialect)
        return Verdicts(
            CheckContext(dialect=dialect, contract=contract, examined_by=self._examined_by)
        )

    def others(self, field: str, answer: Answer[Any]) -> dict[Any, Verdicts]:
        """Verdicts under each value that the dialect does not allow, and that may be another's."""
        tried = [
            *candidate_values(field, self._observations),
            *shown_values(field, self._observations),
        ]
        dialects = {
            value: _with_answer(self._dialect, field, value)
            for value in tried
            if not answer.allows(value)
        }
        return {
            value: self._verdicts(other) for value, other in dialects.items() if other is not None
        }

    def explaining(self, requirement: str, others: Mapping[Any, Verdicts]) -> list[Any]:
        """The values under which all that fails passes; none if anything speaks for the dialect."""
        left = dict(others)
        for check, evidence in self._judged(requirement):
            before = self._own.of(requirement, check, evidence)
            for value, verdicts in others.items():
                if value not in left and before is not Verdict.PASS:
                    continue
                after = verdicts.of(requirement, check, evidence)
                if before is Verdict.PASS and after is Verdict.FAIL:
                    return []
                if after is Verdict.FAIL or (before is Verdict.FAIL and after is not Verdict.PASS):
                    left.pop(value, None)
            if not left:
                return []
        return list(left)

    def fails(self, requirement: str, verdicts: Verdicts) -> bool:
        return any(
            verdicts.of(requirement, check, evidence) is Verdict.FAIL
            for check, evidence in self._judged(requirement)
        )

    def _judged(self, requirement: str) -> Iterator[tuple[Check, Observation]]:
        """What each check of a requirement judges, each exchange of an oracle by itself."""
        for check in checks_of(frozenset({requirement}), self._checks):
            for evidence in self._exchanges if check.is_oracle else self._observations:
                if check.judges(type(evidence)):
                    yield check, evidence


def _with_answer(dialect: Dialect, field: str, value: Any) -> Dialect | None:
    """The dialect with another answer in one field; None if it contradicts the others."""
    mapping = deepcopy(written_dialect(dialect))
    *groups, last = field.split(".")
    group = mapping
    for name in groups:
        group = group[name]
    group[last] = value
    try:
        return load_dialect_mapping(mapping, "an answer that is tried")
    except FileProblems:
        return None


def _best(
    values: Mapping[Any, tuple[str, ...]], failed: Mapping[str, Entry]
) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """The requirements that the best value of a field explains, and all values that do so."""
    left = {
        value: tuple(name for name in names if name in failed) for value, names in values.items()
    }
    most = max(left.values(), key=lambda names: _findings(names, failed), default=())
    return most, tuple(value for value, names in left.items() if names == most)


def _findings(names: Iterable[str], failed: Mapping[str, Entry]) -> int:
    return sum(len(failed[name].own_findings) for name in names)


def _disagreement(
    field: str, answer: Answer[Any], values: tuple[Any, ...], group: Sequence[Entry]
) -> Disagreement:
    findings = [finding for entry in group for finding in entry.own_findings]
    return Disagreement(
        field=field,
        said=tuple(answer.allowed),
        seen=values,
        requirements=tuple(entry.requirement.id for entry in group),
        findings=len(findings),
        count=sum(finding.count for finding in findings),
        example=findings[0].actual,
    )
