"""Which experiments can matter for a fault: those that a check of a requirement that it violates
looks at.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from hookproof.conformance.model.check_registry import Check
from hookproof.conformance.model.experiment_registry import Experiment, experiments_of
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.mutants.catalogue import Fault
from hookproof.spec.catalogue import Catalogue, Requirement

# An oracle judges every exchange, so one light experiment with exchanges of each operation is
# enough for it.
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

# Where oracles on requests that are refused see most of them (section 7).
REFUSALS: Final = ("refusals", "hostile")


def mattering(
    fault: Fault,
    catalogue: Catalogue,
    checks: Sequence[Check],
    experiments: Sequence[Experiment],
    profile: Profile,
) -> tuple[Experiment, ...]:
    """The experiments of the profile that a quick pass starts."""
    names = set(fault.shows_in) or {
        name
        for requirement in fault.violates
        for check in checks
        if requirement in check.requirements
        for name in (
            _views(catalogue.requirements[requirement])
            if check.is_oracle
            else experiments_of(check, experiments)
        )
    }
    return tuple(one for one in experiments if one.profile <= profile and one.name in names)


def _views(requirement: Requirement) -> Iterator[str]:
    if requirement.section == "7":
        yield from REFUSALS
    for operation_id in requirement.operations:
        yield SHOWN_BY[operation_id]
