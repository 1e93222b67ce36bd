"""The same broadcast twice, with and without an idempotency_key: what is delivered again (section
4.8)?
"""

from collections.abc import AsyncIterator

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.scenario import Scenario, run_scenarios
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.observations.case import Case


@experiment("repeats")
async def repeats(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Repeat a broadcast with the same key, and one without any key."""
    async for case in run_scenarios(context, {"same key": same_key, "no key": no_key}):
        yield case


async def same_key(scenario: Scenario) -> Case:
    """The same body with the same key twice, then a sentinel."""
    plain = await scenario.destination("plain")
    key, marker = scenario.bodies.word("key"), scenario.bodies.word("event")
    await scenario.broadcast(
        "original", marker=marker, idempotency_key=key, event_type="hookproof.repeat"
    )
    await scenario.broadcast(
        "duplicate", marker=marker, idempotency_key=key, event_type="hookproof.repeat"
    )
    sentinel = await scenario.broadcast("sentinel")
    await scenario.await_arrival(plain, sentinel)
    await scenario.quiet()
    return await scenario.case()


async def no_key(scenario: Scenario) -> Case:
    """The same body twice without a key, where the dialect allows to leave it out."""
    if "idempotency_key" in scenario.dialect.requests.create_broadcast_event_requires:
        return await scenario.case(key_required=True)
    plain = await scenario.destination("plain")
    marker = scenario.bodies.word("event")
    first = await scenario.broadcast("first", marker=marker, event_type="hookproof.repeat")
    await scenario.broadcast("second", marker=marker, event_type="hookproof.repeat")
    await scenario.await_arrival(plain, first, count=2)
    return await scenario.case()
