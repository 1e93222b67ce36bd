"""Each requirement has a check or a reason, and each check is bound to what exists."""

import pytest

from hookproof.conformance.checks import all_checks
from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.model.experiment_registry import Experiment, experiments_of
from hookproof.spec.catalogue import Requirement, load_catalogue

CHECKS = all_checks()
EXPERIMENTS = all_experiments()
REQUIREMENTS = load_catalogue().requirements

# Classes of observations whose exchanges are there for the oracles alone.
FOR_THE_ORACLES = {
    "GeneratedExchange",
    "LargestPageSize",
    "LinkedRequests",
    "OddRequest",
    "Preparation",
}


@pytest.mark.parametrize("requirement", REQUIREMENTS.values(), ids=REQUIREMENTS)
def test_a_requirement_has_a_check_or_a_reason(requirement: Requirement) -> None:
    checks = [check.name for check in CHECKS if requirement.id in check.requirements]
    if requirement.untestable:
        assert not checks, "it is untestable and has a check all the same"
    else:
        assert checks, requirement.text


@pytest.mark.parametrize("check", CHECKS, ids=[check.name for check in CHECKS])
def test_a_check_is_bound_to_what_exists(check: Check) -> None:
    assert set(check.requirements) <= set(REQUIREMENTS)
    assert experiments_of(check, EXPERIMENTS), "no experiment observes what it judges"


@pytest.mark.parametrize(
    "experiment", EXPERIMENTS, ids=[experiment.name for experiment in EXPERIMENTS]
)
def test_what_an_experiment_observes_is_judged_by_a_check(experiment: Experiment) -> None:
    typed = [check for check in CHECKS if not check.is_oracle]
    unjudged = {
        kind.__name__
        for kind in experiment.observes
        if not any(check.judges(kind) for check in typed)
    }
    assert unjudged <= FOR_THE_ORACLES
