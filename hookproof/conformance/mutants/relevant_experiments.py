"""Which experiments are relevant for a fault: those that feed a check of a violated requirement."""

from collections.abc import Iterator, Sequence
from typing import Final

from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.model.experiment_registry import Experiment, experiments_of
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.mutants.catalogue import ListedFault
from hookproof.spec.catalogue import Catalogue, Requirement

# An oracle judges every exchange, so one light experiment with exchanges of an operation is enough.
SHOWN_BY: Final = {
    "createEndpoint": "round_trip",
    "getEndpoint": "round_trip",
    "expireEndpointSecret": "roll_answers",
    "listPortalLinks": "portal_links",
    "getPortalLink": "portal_links",
    "updatePortalLink": "portal_links",
    "listSources": "isolation",
    "createBroadcastEvent": "broadcast_answers",
}

# The experiments in which oracles see most of what a section is about: pages, refused requests.
SHOWN_MOST_BY: Final = {"2.2": ("paging",), "7": ("refusals", "hostile")}


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
