"""Which experiments are relevant for a fault: those that feed a check of a violated requirement."""

from collections.abc import Iterator, Sequence

from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.model.experiment_registry import Experiment, experiments_of
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.mutants.catalogue import ListedFault
from hookproof.conformance.run.selection import SHOWN_BY, SHOWN_MOST_BY
from hookproof.spec.catalogue import Catalogue, Requirement


def relevant_experiments(
    fault: ListedFault,
    catalogue: Catalogue,
    checks: Sequence[Check],
    experiments: Sequence[Experiment],
    profile: Profile,
) -> tuple[Experiment, ...]:
    """The experiments of the profile in which the fault can be detected."""
    names = set(fault.shows_in) or {
        name
        for requirement in fault.violates
        for check in checks
        if requirement in check.requirements
        for name in (
            _oracle_experiments(catalogue.requirements[requirement])
            if check.is_oracle
            else experiments_of(check, experiments)
        )
    }
    return tuple(
        experiment
        for experiment in experiments
        if experiment.profile <= profile and experiment.name in names
    )


def _oracle_experiments(requirement: Requirement) -> Iterator[str]:
    yield from SHOWN_MOST_BY.get(requirement.section, ())
    for operation_id in requirement.operations:
        yield SHOWN_BY[operation_id]
