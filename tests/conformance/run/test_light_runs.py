"""What any exchange shows is looked at in a few experiments, where only that is asked for."""

from hookproof.conformance.checks import all_checks
from hookproof.conformance.experiments import all_experiments
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.run.selection import needed_checks, needed_experiments
from hookproof.spec.catalogue import Requirement, load_catalogue

BY_ANY_EXCHANGE = [
    requirement
    for requirement in load_catalogue().requirements.values()
    if (judging := needed_checks([requirement], all_checks()))
    and all(check.is_oracle for check in judging)
]


def names(*requirements: Requirement, light: bool) -> set[str]:
    needed = needed_experiments(
        requirements, all_checks(), all_experiments(), Profile.QUICK, light=light
    )
    return {experiment.name for experiment in needed}


def test_what_any_exchange_shows_needs_few_experiments() -> None:
    assert len(BY_ANY_EXCHANGE) > 50
    for requirement in BY_ANY_EXCHANGE:
        assert 0 < len(names(requirement, light=True)) <= 5, requirement.id
        assert len(names(requirement, light=False)) > 30


def test_that_a_request_succeeds_needs_one_experiment() -> None:
    succeeding = [
        requirement
        for requirement in load_catalogue().requirements.values()
        if requirement.about.law == "succeeds"
    ]
    assert len(succeeding) == 8
    for requirement in succeeding:
        (needed,) = names(requirement, light=True)
        assert needed in names(requirement, light=False), requirement.id


def test_what_an_experiment_was_made_for_is_not_left_out() -> None:
    requirement = load_catalogue().requirements["4.3-2"]
    assert names(requirement, light=True) == names(requirement, light=False)
