"""Broadcasts without the right key beside an endpoint that listens: nothing of them is delivered
(section 5).

The sentinel is accepted, and proves that deliveries came through all the while.
"""

from collections.abc import AsyncIterator

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.scenario import MARKER, Scenario
from hookproof.conformance.experiments.scenario_run import run_scenarios
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.observations.sentinel import SENTINEL
from hookproof.conformance.subjects.refused_broadcasts.evidence import (
    REFUSED,
    RefusedBroadcasts,
)
from hookproof.conformance.target.client import Key


@experiment(
    "refused_broadcasts",
    observes=(RefusedBroadcasts,),
    sharing=Sharing.CONFIRMED,
    endpoints=1,
    broadcasts=2,
)
async def refused_broadcasts(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """A broadcast with each kind of key that is not valid, then a sentinel."""
    async for observation in run_scenarios(context, {"refused": refused}):
        yield observation


async def refused(scenario: Scenario) -> RefusedBroadcasts:
    """One endpoint; the broadcasts that are refused differ in their markers."""
    plain = await scenario.destination("plain")
    await scenario.await_arrival(plain, await scenario.broadcast("before"))
    markers = []
    for key in (Key.NONE, Key.EMPTY, Key.WRONG, Key.TRUNCATED):
        markers.append(scenario.bodies.word("refused"))
        body = scenario.bodies.broadcast(data={MARKER: markers[-1]})
        await scenario.trial.call("createBroadcastEvent", role=REFUSED, body=body, key=key)
    await scenario.await_arrival(plain, await scenario.broadcast(SENTINEL))
    await scenario.await_silence()
    return await scenario.observe(RefusedBroadcasts, markers=tuple(markers))
