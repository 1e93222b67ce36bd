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
from hookproof.conformance.experiments.support.existing_resources import NO_SECOND_PROJECT
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.answer import refused_as_duplicate
from hookproof.conformance.observations.delivery.arrival.repeated_broadcasts import (
    DUPLICATE,
    FIRST,
    ORIGINAL,
    OWN_KEY,
    SAME_KEY,
    SECOND,
    THERE,
    USED,
    DuplicateBroadcast,
    KeysOfTwoProjects,
    RepeatedBroadcast,
)
from hookproof.conformance.observations.sentinel import SENTINEL

# A service that remembers keys for some seconds has forgotten one by then.
LATER_S: Final = 5.5


@experiment(
    "repeats",
    observes=(DuplicateBroadcast, RepeatedBroadcast, KeysOfTwoProjects),
    sharing=Sharing.CONFIRMED,
)
async def repeats(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Repeat a broadcast with the same key, one without any key, and keys in another project."""
    scenarios: dict[str, ScenarioFunction] = {
        "same key": same_key,
        "no key": no_key,
        "same keys in another project": same_keys_elsewhere,
    }
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
    try:
        await scenario.broadcast(
            DUPLICATE, marker=marker, idempotency_key=key, event_type="hookproof.repeat"
        )
    except PreconditionFailed:
        if not refused_as_duplicate(scenario.trial.exchanges[-1], scenario.dialect):
            raise
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


async def same_keys_elsewhere(scenario: Scenario) -> KeysOfTwoProjects:
    """Keys that one project uses in events of another, among events with keys of their own."""
    if len(scenario.context.projects) < 2:  # noqa: PLR2004
        raise PreconditionFailed(NO_SECOND_PROJECT)
    here, there = scenario.context.projects[:2]
    place = await scenario.destination(THERE, project=there)
    keys = {name: scenario.bodies.word("key") for name in (*USED, *OWN_KEY)}
    keys |= dict(zip(SAME_KEY, map(keys.__getitem__, USED), strict=True))
    for each in USED:
        await scenario.broadcast(each, project=here, idempotency_key=keys[each])
    # In this order, so that what is lost for its place is not taken for what is lost for its key.
    # That a key is refused which another project has used is judged as well.
    sent = [
        await scenario.try_broadcast(each, project=there, idempotency_key=keys[each])
        for each in (SAME_KEY[0], *OWN_KEY, SAME_KEY[1])
    ]
    await scenario.await_arrival(place, *filter(None, sent))
    return await scenario.observe(KeysOfTwoProjects)
