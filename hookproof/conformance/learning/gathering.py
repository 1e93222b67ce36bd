"""Runs experiments of `check` under the dialect learned so far, for what is not seen yet."""

import secrets
from collections.abc import Mapping

from hookproof.conformance.checks import all_checks
from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.grading.candidate_answers import requirements_of
from hookproof.conformance.learning.learned_answers import LearnedAnswers
from hookproof.conformance.learning.regrading import unseen_fields
from hookproof.conformance.model.experiment_registry import Experiment, experiments_of
from hookproof.conformance.model.gathered_evidence import Gathered
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.run.intake import Intake
from hookproof.conformance.run.plan import RunPlan
from hookproof.conformance.run.runner import Runner
from hookproof.conformance.target.definition import Target
from hookproof.conformance.target.environment import Environment, beside
from hookproof.spec.contract.service_contract import contract_for
from hookproof.spec.dialect.model import Dialect


def experiments_for(answers: LearnedAnswers, profile: Profile) -> tuple[Experiment, ...]:
    """The experiments of a profile whose evidence may show a field that no probe asked for.

    What every exchange shows has been seen by the probes, and what a probe asked for in vain no
    experiment shows.
    """
    asked = [field for field in unseen_fields(answers) if not answers.has_reason(field)]
    wanted = {name for field in asked for name in requirements_of(field)}
    experiments = all_experiments()
    names = {
        name
        for check in all_checks()
        if not check.is_oracle and wanted.intersection(check.requirements)
        for name in experiments_of(check, experiments)
    }
    return tuple(each for each in experiments if each.name in names and each.profile <= profile)


def evidence_runner(
    target: Target, answers: LearnedAnswers, profile: Profile, opened: Environment
) -> Runner:
    """What gathers the evidence of these experiments beside what is still open."""
    dialect = answers.dialect
    plan = RunPlan(
        subject=target,
        experiments=experiments_for(answers, profile),
        every_experiment=all_experiments(),
        dialect=dialect,
        contract=contract_for(dialect),
        profile=profile,
        seed=0,
        nonce=secrets.token_hex(3),
    )
    return Runner(plan, beside(opened, target))


def gather_evidence(runner: Runner, dialect: Dialect) -> Mapping[str, Gathered]:
    """The evidence of all experiments; nothing if it was stopped before they began.

    Raises CommandError if they cannot begin.
    """
    with runner:
        try:
            runner.open()
        except KeyboardInterrupt:
            return {}
        runner.begin(Intake(runner.mask, dialect))
        gathered = {each.experiment: each for each in runner.all_gathered()}
    runner.hook_failures.mask(runner.mask.quotation)  # when nothing else uses the mask
    return gathered
