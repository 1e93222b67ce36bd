"""How long an old secret stays valid after a roll, in the dialect's unit (section 4.3)."""

import math
from collections.abc import Sequence
from typing import Final

from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.model.evidence import PreconditionFailed
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.destinations import Destination
from hookproof.spec.dialect.groups.requests import least_expiration, most

# A window that is still open when the run is over.
LONG_S: Final = 600.0
# The longest window that is waited out, by profile.
PATIENCE_S: Final = {Profile.QUICK: 20.0, Profile.STANDARD: 20.0, Profile.DEEP: 90.0}


async def broadcast_everywhere(
    scenario: Scenario, destinations: Sequence[Destination], name: str
) -> None:
    """Broadcast an event and wait for it at all these destinations."""
    event = await scenario.broadcast(name)
    await scenario.await_everywhere(destinations, event)


def length_s(scenario: Scenario, expiration: int) -> float:
    """How long an expiration lasts in the dialect's unit, in seconds."""
    return expiration * scenario.dialect.rolling.expiration_unit.in_seconds


def expiration_lasting(scenario: Scenario, seconds: float) -> int:
    """The smallest expiration that lasts as long, within the dialect's bounds."""
    wanted = math.ceil(seconds / scenario.dialect.rolling.expiration_unit.in_seconds)
    rules = scenario.dialect.requests
    return min(max(wanted, 0, least_expiration(rules)), most(rules.expiration_maximum))


def waitable_expiration(
    scenario: Scenario, seconds: float, *, none_if_too_long: bool = False
) -> int:
    """The smallest expiration that lasts as long, within the dialect's bounds; on request the
    smallest of all if that is too long to be waited for.

    Raises PreconditionFailed if the dialect's unit is too long to be waited for.
    """
    expiration = expiration_lasting(scenario, seconds)
    if none_if_too_long and length_s(scenario, expiration) > PATIENCE_S[scenario.context.profile]:
        expiration = expiration_lasting(scenario, 0)
    if length_s(scenario, expiration) > PATIENCE_S[scenario.context.profile]:
        unit = scenario.dialect.rolling.expiration_unit
        raise PreconditionFailed(
            f"the dialect counts expiration in {unit}, and {expiration} of them are too long to be"
            " waited for; try the deep profile or a shorter unit"
        )
    return expiration
