"""Broadcasts without the right key beside an endpoint that listens: nothing of them is delivered
(section 5).

Facts besides destinations and events: `refused`, the markers of the broadcasts that were to be
refused. The sentinel is accepted, and proves that deliveries came through all the while.
"""

from collections.abc import AsyncIterator

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.scenario import MARKER, Scenario, run_scenarios
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.observations.case import Case
from hookproof.conformance.target.client import Key


@experiment("refused_broadcasts")
async def refused_broadcasts(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """A broadcast with each kind of key that opens nothing, then a sentinel."""
    async for case in run_scenarios(context, {"refused": refused}):
        yield case


async def refused(scenario: Scenario) -> Case:
    """One endpoint; the broadcasts that are refused differ in their markers."""
    plain = await scenario.destination("plain")
    await scenario.await_arrival(plain, await scenario.broadcast("before"))
    markers = []
    for key in (Key.NONE, Key.EMPTY, Key.WRONG, Key.TRUNCATED):
        markers.append(scenario.bodies.word("refused"))
        body = scenario.bodies.broadcast(data={MARKER: markers[-1]})
        await scenario.trial.call("createBroadcastEvent", role="refused", body=body, key=key)
    await scenario.await_arrival(plain, await scenario.broadcast("sentinel"))
    await scenario.quiet()
    return await scenario.case(refused=markers)
