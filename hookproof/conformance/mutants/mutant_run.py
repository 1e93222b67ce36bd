"""A mutant run: one server is started, experiments are made with it, and every check judges them.

Each run has a process of its own, so that several run at once; its order and its result are plain
data.
"""

import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from hookproof.conformance.checks import all_checks
from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.grading.grader import Grader
from hookproof.conformance.model.check_registry import CheckContext
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.model.judgement import quoting
from hookproof.conformance.model.ledger import Entry, Finding
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.mutants.catalogue import find_dialect
from hookproof.conformance.results.consequences import fold_consequences
from hookproof.conformance.run.intake import Intake
from hookproof.conformance.run.plan import RunPlan
from hookproof.conformance.run.runner import Runner
from hookproof.conformance.target.definition import Budgets
from hookproof.conformance.target.environment import Embedded
from hookproof.conformance.target.project_assignment import projects_needed
from hookproof.process.exit_codes import CommandError
from hookproof.receiver.client.forked_process import can_fork
from hookproof.spec.catalogue import load_catalogue
from hookproof.spec.contract.service_contract import Contract, contract_for
from hookproof.target.settings import ReceiverSettings

# How long to wait for a delivery. Many mutants never send it.
DELIVERY_S: Final = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantRunOrder:
    """What to run. `deviations` are the server's command-line words: one fault, or variants.

    The checks in `without` do not take part.
    """

    dialect: str
    deviations: tuple[str, ...]
    experiments: tuple[str, ...]
    profile: Profile
    seed: int
    without: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """A check that found a requirement violated, with its first finding.

    `follows_from` names the requirements that all its findings follow from (`consequences.py`); it
    is empty if one of them stands for itself, which is shown then.
    """

    check: str
    requirement: str
    message: str
    expected: str
    actual: str
    experiment: str
    follows_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantRunResult:
    """The result of a run. `exercised` are the requirements that could be judged, `exercised_in`
    those that each experiment has exercised.

    `problems` are errors of hookproof itself.
    """

    detections: tuple[Detection, ...]
    exercised: frozenset[str]
    problems: tuple[str, ...]
    duration_s: float
    exercised_in: tuple[tuple[str, frozenset[str]], ...] = ()

    @property
    def detected(self) -> frozenset[str]:
        return frozenset(detection.requirement for detection in self.detections)

    def exercised_by(self, experiments: Collection[str]) -> frozenset[str]:
        return frozenset[str]().union(
            *(exercised for name, exercised in self.exercised_in if name in experiments)
        )


def run_mutant(order: MutantRunOrder) -> MutantRunResult:
    started = time.monotonic()
    plan = _plan(order)
    try:
        with Runner(plan) as runner:
            runner.open()
            runner.begin(Intake(runner.mask, plan.dialect))
            gathered = runner.all_gathered()
            grader = _grader(plan, order, runner)
            with quoting(runner.mask.quoted):
                entries = _judged(grader)
    except CommandError as refusal:
        return MutantRunResult(
            detections=(),
            exercised=frozenset(),
            problems=(str(refusal),),
            duration_s=time.monotonic() - started,
        )
    exercised = frozenset(
        entry.requirement.id
        for entry in entries
        if entry.exercised and entry.verdict != Verdict.ERROR
    )
    return MutantRunResult(
        detections=tuple(
            _masked(detection, runner.mask.quotation) for detection in detections_of(entries)
        ),
        exercised=exercised,
        problems=tuple(map(runner.mask.quotation, _problems(entries, gathered))),
        duration_s=time.monotonic() - started,
        exercised_in=tuple(
            (experiment.name, exercised & grader.exercised_in(experiment.name))
            for experiment in plan.experiments
        ),
    )


def _plan(order: MutantRunOrder) -> RunPlan:
    named, experiments = find_dialect(order.dialect), all_experiments()
    subject = Embedded(
        dialect=named.dialect,
        dialect_name=named.word,
        seed=order.seed,
        projects=projects_needed(len(experiments)),
        receiver=ReceiverSettings(),
        budgets=Budgets(delivery_s=DELIVERY_S),
        deviations=order.deviations,
        forked=can_fork(),
    )
    return RunPlan(
        subject=subject,
        experiments=[item for item in experiments if item.name in order.experiments],
        every_experiment=experiments,
        dialect=named.dialect,
        contract=_contract_under(order.dialect),
        profile=order.profile,
        seed=order.seed,
        nonce=secrets.token_hex(3),
    )


@cache
def _contract_under(word: str) -> Contract:
    """One for all runs of a worker under this dialect."""
    return contract_for(find_dialect(word).dialect)


def _grader(plan: RunPlan, order: MutantRunOrder, runner: Runner) -> Grader:
    catalogue = load_catalogue()
    return Grader(
        checks=[check for check in all_checks() if check.name not in order.without],
        context=CheckContext(dialect=plan.dialect, contract=plan.contract),
        catalogue=catalogue,
        experiments=[item.name for item in plan.experiments],
        every_experiment=all_experiments(),
        profile=plan.profile,
        gathered=runner.gathered,
        reported=catalogue.requirements,
    )


def _judged(grader: Grader) -> tuple[Entry, ...]:
    requirements = load_catalogue().requirements.values()
    return fold_consequences([*map(grader.entry, requirements)])


def detections_of(entries: Sequence[Entry]) -> list[Detection]:
    by_check: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for entry in entries:
        for finding in entry.findings:
            by_check[finding.check, finding.requirement].append(finding)
    return [_detection(findings) for _, findings in sorted(by_check.items())]


def _detection(findings: Sequence[Finding]) -> Detection:
    own = [finding for finding in findings if not finding.follows_from]
    first, *_ = own or findings
    roots = () if own else (root for finding in findings for root in finding.follows_from)
    return Detection(
        check=first.check,
        requirement=first.requirement,
        message=first.message,
        expected=first.expected,
        actual=first.actual,
        experiment=first.experiment,
        follows_from=tuple(dict.fromkeys(roots)),
    )


def _masked(detection: Detection, mask: Callable[[str], str]) -> Detection:
    return replace(
        detection,
        message=mask(detection.message),
        expected=mask(detection.expected),
        actual=mask(detection.actual),
    )


def _problems(entries: Sequence[Entry], gathered: Sequence[Gathered]) -> list[str]:
    broken = [item.reason for item in gathered if item.ending is not Ending.COMPLETE]
    return [
        *broken,
        *dict.fromkeys(
            reason
            for entry in entries
            if entry.verdict is Verdict.ERROR
            for reason in entry.reasons
        ),
    ]
