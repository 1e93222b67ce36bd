"""Many broadcasts, several at a time, to one endpoint: is any of them lost or doubled (sections 1
and 4.8)?
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.deliveries.arrival.draining import await_drain
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import run_scenarios
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.delivery.arrival.broadcasts import BroadcastFlood

# How many broadcasts there are, by profile.
MANY: Final = {Profile.QUICK: 30, Profile.STANDARD: 200, Profile.DEEP: 400}
# Where others have a hundred endpoints in the project, as many deliveries come from fewer events.
MANY_IF_SHARED: Final = {**MANY, Profile.STANDARD: 30}

AT_A_TIME: Final = 8


@experiment(
    "flood",
    observes=(BroadcastFlood,),
    sharing=Sharing.ALONE,
    sharing_in={Profile.QUICK: Sharing.CONFIRMED, Profile.STANDARD: Sharing.CONFIRMED},
)
async def flood(context: ExperimentContext) -> AsyncIterator[Evidence]:
    async for observation in run_scenarios(context, {"many": many_events}):
        yield observation


async def many_events(scenario: Scenario) -> BroadcastFlood:
    """Many events, and the silence after the last of them."""
    plain = await scenario.destination("plain")
    concurrency_limit = asyncio.Semaphore(AT_A_TIME)

    async def broadcast_one(number: int) -> None:
        async with concurrency_limit:
            await scenario.broadcast(f"event {number}", data={"number": number})

    context = scenario.context
    many = (MANY_IF_SHARED if context.shares_project else MANY)[context.profile]
    await asyncio.gather(*map(broadcast_one, range(many)))
    await await_drain(scenario, plain)
    await scenario.await_silence()
    return await scenario.observe(BroadcastFlood)
