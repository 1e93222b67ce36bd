"""Judges the observations of run files by the checks that are imported, and prints what they say.

    python -P judge.py FILE...

A line of JSON for each observation and requirement: the file, the experiment, the observation, the
requirement, and the verdicts of its checks, without how often. Then one for each requirement of the
file, with an empty experiment. It imports nothing of the tests, so that it judges by another
checkout as well, whose sources are on PYTHONPATH.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from hookproof.conformance.checks import all_checks
from hookproof.conformance.model.check_registry import Check, CheckContext
from hookproof.conformance.model.evidence import Observation
from hookproof.conformance.results.run_file import read_run
from hookproof.conformance.results.stored_evidence import read_evidence
from hookproof.conformance.run.regrading import judged_again
from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.reader import load_dialect_mapping

Judged = tuple[str, str, str, str, list[str]]


def judged(path: Path) -> Iterator[Judged]:
    """What the checks say of the evidence in a run file."""
    run = read_run(path)
    dialect = load_dialect_mapping(run.header.answers, f"{path}: answers")
    repetitions = read_evidence(path)
    context = CheckContext(dialect=dialect, contract=contract_for(dialect), examined_by=dialect)
    checks = all_checks()
    counted: dict[tuple[str, str], int] = defaultdict(int)
    for repetition in repetitions:
        for evidence in repetition.observations:
            if not isinstance(evidence, Observation):
                continue
            counted[evidence.experiment, evidence.name] += 1
            name = f"{evidence.name} #{counted[evidence.experiment, evidence.name]}"
            verdicts: dict[str, set[str]] = defaultdict(set)
            for check in checks:
                if check.judges(type(evidence)):
                    for requirement, verdict in judgements(check, evidence, context):
                        verdicts[requirement].add(verdict)
            for requirement, each in verdicts.items():
                yield str(path), evidence.experiment, name, requirement, sorted(each)
    for entry in judged_again(run, repetitions, dialect, dialect).entries:
        yield str(path), "", "", entry.requirement.id, [entry.verdict.key]


def judgements(
    check: Check, evidence: Observation, context: CheckContext
) -> Iterator[tuple[str, str]]:
    """The requirements that a check judges, each with the verdict; an error is one, too."""
    try:
        for judgement in check.judgements(evidence, context):
            yield judgement.requirement, judgement.verdict.key
    except Exception as error:  # noqa: BLE001 what cannot be judged is compared as well
        for requirement in check.requirements:
            yield requirement, type(error).__name__


def main() -> None:
    for path in sys.argv[1:]:
        for each in judged(Path(path)):
            print(json.dumps(each))  # noqa: T201


if __name__ == "__main__":
    main()
