"""Custom headers that the service sets itself, and some that are not allowed (sections 4.8, 6)."""

from collections.abc import AsyncIterator
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import run_scenarios
from hookproof.conformance.model.evidence import Evidence
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.observations.delivery.security.custom_headers import (
    HostileHeaders,
    SentHeader,
    reserved_headers,
)
from hookproof.conformance.observations.sentinel import SENTINEL

FORGED: Final = "forged"
INJECTED: Final = "X-Injected"
BROKEN: Final = (
    SentHeader(
        event="line break in a value",
        name="X-Broken",
        content=f"a\r\n{INJECTED}: yes\r\n\r\ninjected",
    ),
    SentHeader(event="line feed in a value", name="X-Broken", content=f"a\n{INJECTED}: yes"),
    SentHeader(event="line break in a name", name=f"X-Broken: a\r\n{INJECTED}", content="yes"),
)


@experiment("custom_headers", observes=(HostileHeaders,), sharing=Sharing.YIELDING)
async def custom_headers(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast with each reserved header in turn, and with line breaks in names and values."""
    async for observation in run_scenarios(context, {"hostile headers": hostile_headers}):
        yield observation


async def hostile_headers(scenario: Scenario) -> HostileHeaders:
    """An event for each header, refused or not, and a sentinel without any, to endpoints of both
    formats.
    """
    destinations = [
        await scenario.destination("simple", advanced_signatures=False),
        await scenario.destination("advanced", advanced_signatures=True),
    ]
    reserved = tuple(
        SentHeader(event=f"reserved: {name}", name=name, content=FORGED)
        for name in reserved_headers(scenario.dialect)
    )
    for header in (*reserved, *BROKEN):
        await scenario.try_broadcast(header.event, custom_headers={header.name: header.content})
    await scenario.broadcast(SENTINEL)
    await scenario.await_everywhere(destinations, *scenario.events)
    return await scenario.observe(
        HostileHeaders, reserved=reserved, broken=BROKEN, injected=INJECTED
    )
