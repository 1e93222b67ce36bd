"""Runs the scenarios of an experiment side by side."""

import asyncio
import inspect
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import get_type_hints

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.scenario import MARKER, Scenario
from hookproof.conformance.experiments.shared_broadcasts import SharedBroadcasts
from hookproof.conformance.experiments.support.request_bodies import RequestBodies
from hookproof.conformance.model.evidence import Evidence, Exchange, Observation, PreconditionFailed
from hookproof.conformance.observations.deliveries import DeliveryObservation

ScenarioFunction = Callable[[Scenario], Awaitable[DeliveryObservation]]


async def run_scenarios(
    context: ExperimentContext, scenarios: Mapping[str, ScenarioFunction]
) -> AsyncIterator[Evidence]:
    """Run all scenarios at once, and yield what each observes when it is complete.

    Where the precondition of a scenario fails, the reason is yielded instead. The return type of
    the scenario says which class of observation is missing then.
    """
    tasks = [
        asyncio.create_task(_run_scenario(context, name, scenario, context.random.getrandbits(64)))
        for name, scenario in scenarios.items()
    ]
    try:
        for task in asyncio.as_completed(tasks):
            yield await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def shared_broadcasts(context: ExperimentContext) -> SharedBroadcasts:
    """Those of the context's first project."""

    async def send(markers: Sequence[str]) -> Exchange:
        own, *others = markers
        data = {MARKER: own, **({"markers": others} if others else {})}
        body = RequestBodies.of(context).broadcast(data=data)
        trial = context.trial("shared broadcast")
        return await trial.call("createBroadcastEvent", role=MARKER, body=body)

    return SharedBroadcasts(send)


async def _run_scenario(
    context: ExperimentContext, name: str, function: ScenarioFunction, seed: int
) -> Evidence:
    # A seed for each scenario, so that the order in which they happen to run changes nothing.
    scenario = Scenario(replace(context, random=random.Random(seed)), name)
    try:
        return await function(scenario)
    except PreconditionFailed as failed:
        return scenario.trial.not_observed(observed_class(function), str(failed))
    finally:
        scenario.close()


def observed_class(function: ScenarioFunction) -> type[Observation] | None:
    """The class of observation that a scenario returns, if its annotation names one."""
    while isinstance(function, partial):
        function = function.func
    kind = get_type_hints(inspect.unwrap(function)).get("return")
    return kind if isinstance(kind, type) and issubclass(kind, Observation) else None
