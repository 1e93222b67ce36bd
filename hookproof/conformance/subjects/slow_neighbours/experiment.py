"""Endpoints that keep the service waiting: do they delay deliveries to another (hygiene of section
1)?

The events before show how long a delivery takes anyway.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import run_scenarios
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.observations.destinations import Destination, Event
from hookproof.conformance.subjects.slow_neighbours.evidence import (
    BEFORE,
    ENDLESS,
    EVENT,
    MEANWHILE,
    PROMPT,
    SILENT,
    SlowNeighbours,
)
from hookproof.receiver.replies.script import Reply
from hookproof.spec.dialect.given_settings import timeout_in_force

# The http_timeout of the slow endpoints; so long they can delay another.
TIMEOUT_S: Final = 3

# Between the events before: a service that sends at intervals shows them.
STEP_S: Final = 0.3

DRIP_S: Final = 0.2


@experiment(
    "slow_neighbours", observes=(SlowNeighbours,), sharing=Sharing.LATE, endpoints=3, broadcasts=8
)
async def slow_neighbours(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast to an endpoint that answers at once, alone and beside slow ones."""
    async for observation in run_scenarios(context, {"slow neighbours": beside_slow_ones}):
        yield observation


async def beside_slow_ones(scenario: Scenario) -> SlowNeighbours:
    """Some events, two slow endpoints and an event that keeps them busy, and some events more."""
    prompt = await scenario.destination(PROMPT)
    for name in BEFORE:
        await scenario.broadcast(name)
        await asyncio.sleep(STEP_S)  # paces the load
    await scenario.await_arrival(prompt, *scenario.events)
    timeout = timeout_in_force(scenario.dialect, TIMEOUT_S)
    slow = [
        await scenario.destination(SILENT, replies=[Reply(hang=True)], http_timeout=timeout),
        await scenario.destination(ENDLESS, replies=[Reply(drip_s=DRIP_S)], http_timeout=timeout),
    ]
    event = await scenario.broadcast(EVENT)
    await await_first(scenario, slow, event)
    meanwhile = [await scenario.broadcast(name) for name in MEANWHILE]
    # A service that makes one attempt at a time comes to them when it has given up both.
    patience_s = len(slow) * timeout + scenario.context.budgets.delivery_s
    await scenario.await_arrival(prompt, *meanwhile, timeout_s=patience_s)
    for destination in slow:
        await scenario.trial.arrivals(destination.token, count=0, timeout_s=0)
    return await scenario.observe(SlowNeighbours)


async def await_first(scenario: Scenario, slow: list[Destination], event: Event) -> None:
    """Wait until the event has arrived at one of these, and a moment for the other.

    A service that makes one attempt at a time comes to the other only when it has given up the
    first. Raises PreconditionFailed if it arrives at neither.
    """
    tasks = [
        asyncio.create_task(scenario.await_arrival(destination, event)) for destination in slow
    ]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait(tasks, timeout=STEP_S)
        if not any(task.done() and task.result() for task in tasks):
            raise PreconditionFailed(
                "nothing arrived at the endpoints that were to be slow; a delivery would help"
            )
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
