"""One server on trial: it is started, experiments are made with it, and every check says what it
found.

A trial runs in a process of its own, so that several go on at once; what it is told and what it
tells are plain data.
"""

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.experiments.context import all_experiments
from hookproof.conformance.grading.grader import Grader
from hookproof.conformance.model.check_registry import CheckContext, all_checks
from hookproof.conformance.model.gathered_evidence import Ending, Gathered
from hookproof.conformance.model.ledger import Entry
from hookproof.conformance.model.verdict import Verdict
from hookproof.conformance.mutants.catalogue import spoken
from hookproof.conformance.run.runner import Plan, Runner
from hookproof.conformance.target.definition import Budgets, Profile
from hookproof.conformance.target.environment import Embedded
from hookproof.conformance.target.project_assignment import projects_needed
from hookproof.process.exit_codes import CommandError
from hookproof.spec.catalogue import load_catalogue
from hookproof.spec.contract.service_contract import contract_for
from hookproof.target.settings import ReceiverSettings

# How long a delivery is awaited; many mutants never send what is awaited.
DELIVERY_S: Final = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOrder:
    """What to try: the words that make the server deviate, and the experiments; checks in `without`
    are left out.
    """

    dialect: str
    deviations: tuple[str, ...]
    experiments: tuple[str, ...]
    profile: Profile
    seed: int
    without: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conviction:
    """A check that found a requirement violated, and its first words on it."""

    check: str
    requirement: str
    message: str
    expected: str
    actual: str
    experiment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """What came of a trial. `exercised` are the requirements that could be judged; `problems` are
    hookproof's own.
    """

    convictions: tuple[Conviction, ...]
    exercised: frozenset[str]
    problems: tuple[str, ...]
    duration_s: float

    @property
    def convicted(self) -> frozenset[str]:
        """The requirements that were found violated."""
        return frozenset(one.requirement for one in self.convictions)


def tried(order: TrialOrder) -> TrialResult:
    """Try one server from beginning to end."""
    started = time.monotonic()
    plan = _plan(order)
    try:
        with Runner(plan) as runner:
            runner.open()
            runner.begin(lambda _case: None)
            gathered = runner.all_gathered()
            entries = _judged(plan, order, runner)
    except CommandError as refusal:
        return TrialResult(
            convictions=(),
            exercised=frozenset(),
            problems=(str(refusal),),
            duration_s=time.monotonic() - started,
        )
    return TrialResult(
        convictions=tuple(_convictions(entries)),
        exercised=frozenset(
            one.requirement.id for one in entries if one.exercised and one.verdict != Verdict.ERROR
        ),
        problems=tuple(_problems(entries, gathered)),
        duration_s=time.monotonic() - started,
    )


def _plan(order: TrialOrder) -> Plan:
    speaking, experiments = spoken(order.dialect), all_experiments()
    subject = Embedded(
        dialect=speaking.dialect,
        dialect_name=speaking.word,
        seed=order.seed,
        projects=projects_needed(len(experiments)),
        receiver=ReceiverSettings(),
        budgets=Budgets(delivery_s=DELIVERY_S),
        deviations=order.deviations,
    )
    return Plan(
        subject=subject,
        experiments=[one for one in experiments if one.name in order.experiments],
        every_experiment=[one.name for one in experiments],
        dialect=speaking.dialect,
        contract=contract_for(speaking.dialect),
        profile=order.profile,
        seed=order.seed,
        nonce=secrets.token_hex(3),
    )


def _judged(plan: Plan, order: TrialOrder, runner: Runner) -> tuple[Entry, ...]:
    catalogue = load_catalogue()
    grader = Grader(
        checks=[check for check in all_checks() if check.name not in order.without],
        context=CheckContext(dialect=plan.dialect, contract=plan.contract),
        catalogue=catalogue,
        experiments=[one.name for one in plan.experiments],
        profile=plan.profile,
        gathered=runner.gathered,
    )
    return tuple(map(grader.entry, catalogue.requirements.values()))


def _convictions(entries: Sequence[Entry]) -> list[Conviction]:
    found = {
        (finding.check, finding.requirement): finding
        for entry in entries
        for finding in reversed(entry.findings)
    }
    return [
        Conviction(
            check=check,
            requirement=requirement,
            message=finding.message,
            expected=finding.expected,
            actual=finding.actual,
            experiment=finding.experiment,
        )
        for (check, requirement), finding in sorted(found.items())
    ]


def _problems(entries: Sequence[Entry], gathered: Sequence[Gathered]) -> list[str]:
    broken = [one.reason for one in gathered if one.ending is not Ending.COMPLETE]
    return [
        *broken,
        *dict.fromkeys(
            why for one in entries if one.verdict is Verdict.ERROR for why in one.reasons
        ),
    ]
