"""Endpoints come and change while nothing is broadcast: does the service send webhooks of its own
(section 6)?
"""

from collections.abc import AsyncIterator

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.deliveries.security.expirations import expiration_lasting
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import run_scenarios
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.observations.delivery.arrival.resource_changes import ResourceChanges
from hookproof.conformance.observations.sentinel import SENTINEL


@experiment("own_events", observes=(ResourceChanges,), sharing=Sharing.FIRST)
async def own_events(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Create and roll beside an endpoint that listens, then a sentinel."""
    async for observation in run_scenarios(context, {"changes": changes}):
        yield observation


async def changes(scenario: Scenario) -> ResourceChanges:
    """A listening endpoint, a second one that is created and rolled, and a sentinel to both."""
    # The others' deliveries are told apart by the markers of this run.
    scenario.context.let_others_broadcast(only_marked=True)
    listening = await scenario.destination("listening")
    changing = await scenario.destination("changing")
    await scenario.roll("roll", changing, expiration_lasting(scenario, 0))
    sentinel = await scenario.broadcast(SENTINEL)
    await scenario.await_arrival(listening, sentinel)
    await scenario.await_silence()
    return await scenario.observe(ResourceChanges)
