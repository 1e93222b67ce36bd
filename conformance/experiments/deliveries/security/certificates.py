"""Endpoints whose certificate is faulty: does the service deliver to them (hygiene of section 6)?

The receiver has a listener for each such certificate, at a port of its own, and counts who connects
there: an endpoint that was never tried shows nothing.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import run_scenarios
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.delivery.security.certificates import (
    CERTIFICATES,
    EVENT,
    TRUSTED,
    FaultyCertificates,
)
from hookproof.conformance.observations.destinations import Destination

NO_LISTENERS: Final = (
    "the receiver's public_url leads elsewhere than to its own port, as behind a proxy, so that its"
    " listeners with faulty certificates cannot be reached; let bind and public_url have one port"
)

# How often the receiver is asked who has connected: it cannot report that by itself.
STEP_S: Final = 0.1


@experiment(
    "certificates",
    observes=(FaultyCertificates,),
    profile=Profile.STANDARD,
    sharing=Sharing.CONFIRMED,
)
async def certificates(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast to endpoints with a trusted certificate and with faulty ones."""
    context.require_capability("tls_verification")
    async for observation in run_scenarios(context, {"faulty certificates": faulty_certificates}):
        yield observation


async def faulty_certificates(scenario: Scenario) -> FaultyCertificates:
    """An endpoint for each certificate, and one event."""
    receiver = scenario.context.receiver
    listeners = await receiver.tls_faults()
    if not listeners:
        raise PreconditionFailed(NO_LISTENERS)
    before = await receiver.tls_fault_handshakes()
    trusted = await scenario.destination(TRUSTED)
    for name in CERTIFICATES:
        with contextlib.suppress(PreconditionFailed):  # a service may visit the URL and refuse it
            await at_listener(scenario, name, listeners[name])
    event = await scenario.broadcast(EVENT)
    await scenario.await_arrival(trusted, event)
    await await_handshakes(scenario, before)
    await scenario.await_silence()
    begun = await receiver.tls_fault_handshakes()
    return await scenario.observe(
        FaultyCertificates,
        handshakes={name: begun[name] - before[name] for name in CERTIFICATES},
    )


async def at_listener(scenario: Scenario, name: str, url: str) -> Destination:
    """A destination at another listener than the receiver's own."""
    token = await scenario.context.receiver.new_token()
    return await scenario.endpoint(name, token.token, url=f"{url}/{token.token}")


async def await_handshakes(scenario: Scenario, before: Mapping[str, int]) -> None:
    """Wait until each of the endpoints was tried, or the time for a delivery is over."""
    deadline = scenario.context.loop.time() + scenario.context.budgets.delivery_s
    tried = [destination.name for destination in scenario.destinations]
    awaited = [name for name in CERTIFICATES if name in tried]
    while awaited and scenario.context.loop.time() < deadline:
        begun = await scenario.context.receiver.tls_fault_handshakes()
        awaited = [name for name in awaited if begun[name] <= before[name]]
        if awaited:
            await asyncio.sleep(STEP_S)
