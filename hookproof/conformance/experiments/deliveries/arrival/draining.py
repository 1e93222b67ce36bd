"""Waiting for many events: as long as they keep arriving, a slow service is not given up."""

from typing import Final

from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.destinations import Destination

# How long that goes on at most, in seconds, by profile.
PATIENCE_S: Final = {Profile.QUICK: 20.0, Profile.STANDARD: 40.0, Profile.DEEP: 120.0}


async def await_drain(scenario: Scenario, destination: Destination) -> None:
    """Wait until all events have arrived, or none has for as long as one delivery may take."""
    deadline = scenario.context.loop.time() + PATIENCE_S[scenario.context.profile]
    before, arrived = -1, 0
    while before < arrived:
        left_s = deadline - scenario.context.loop.time()
        before = arrived
        arrived = len(
            await scenario.await_arrival(
                destination,
                *scenario.events,
                timeout_s=max(0.0, min(scenario.context.budgets.delivery_s, left_s)),
            )
        )
