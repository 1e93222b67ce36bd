"""Runs the scenarios of an experiment side by side."""

import asyncio
import inspect
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import get_type_hints

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.model.evidence import Evidence, Observation, PreconditionFailed
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
