"""The same broadcast twice, with and without an idempotency_key: what is delivered again (section
4.8)?
"""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import ScenarioFunction, run_scenarios
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.delivery.arrival.repeated_broadcasts import (
    DUPLICATE,
    FIRST,
    ORIGINAL,
    SECOND,
    DuplicateBroadcast,
    RepeatedBroadcast,
)
from hookproof.conformance.observations.sentinel import SENTINEL

# A service that remembers keys for some seconds has forgotten one by then.
LATER_S: Final = 5.5


@experiment("repeats", observes=(DuplicateBroadcast, RepeatedBroadcast), sharing=Sharing.CONFIRMED)
async def repeats(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Repeat a broadcast with the same key, and one without any key."""
    scenarios: dict[str, ScenarioFunction] = {"same key": same_key, "no key": no_key}
    if context.profile >= Profile.STANDARD:
        scenarios["same key some seconds later"] = partial(same_key, after_s=LATER_S)
    async for observation in run_scenarios(context, scenarios):
        yield observation


async def same_key(scenario: Scenario, *, after_s: float = 0.0) -> DuplicateBroadcast:
    """The same body with the same key twice, `after_s` seconds apart, then a sentinel."""
    plain = await scenario.destination("plain")
    key, marker = scenario.bodies.word("key"), scenario.new_marker()
    await scenario.broadcast(
        ORIGINAL, marker=marker, idempotency_key=key, event_type="hookproof.repeat"
    )
    await asyncio.sleep(after_s)  # not synchronisation: a service may forget a key
    await scenario.broadcast(
        DUPLICATE, marker=marker, idempotency_key=key, event_type="hookproof.repeat"
    )
    sentinel = await scenario.broadcast(SENTINEL)
    await scenario.await_arrival(plain, sentinel)
    await scenario.await_silence()
    return await scenario.observe(DuplicateBroadcast)


async def no_key(scenario: Scenario) -> RepeatedBroadcast:
    """The same body twice without a key, where the dialect does not require one."""
    if "idempotency_key" in scenario.dialect.requests.create_broadcast_event_requires:
        return await scenario.observe(RepeatedBroadcast, key_required=True)
    plain = await scenario.destination("plain")
    marker = scenario.new_marker()
    first = await scenario.broadcast(FIRST, marker=marker, event_type="hookproof.repeat")
    await scenario.broadcast(SECOND, marker=marker, event_type="hookproof.repeat")
    await scenario.await_arrival(plain, first, count=2)
    return await scenario.observe(RepeatedBroadcast)
