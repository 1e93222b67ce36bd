"""Endpoints whose certificate is faulty: does the service deliver to them (hygiene of section 6)?

The receiver has a listener for each such certificate, at a port of its own, and counts who connects
there: an endpoint that was never tried shows nothing.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.deliveries.listeners import at_listener, faulty_listeners
from hookproof.conformance.experiments.deliveries.retry_waiting import wait_for_another
from hookproof.conformance.experiments.deliveries.token_server import (
    new_token_server,
    oauth2_towards,
)
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import ScenarioFunction, run_scenarios
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.tolerances import LATE_S
from hookproof.conformance.subjects.certificates.evidence import (
    CERTIFICATES,
    EVENT,
    NO_TLS,
    SECOND,
    TRUSTED,
    WITH_OAUTH2,
    FaultyCertificates,
    WithoutTls,
)

# How often the receiver is asked who has connected: it cannot report that by itself.
STEP_S: Final = 0.1


@experiment(
    "certificates",
    observes=(FaultyCertificates, WithoutTls),
    profile=Profile.STANDARD,
    # Each later event in the project is tried at all its endpoints in vain, again and again.
    sharing=Sharing.LATE,
    endpoints=14,
    broadcasts=2,
)
async def certificates(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Broadcast to endpoints with a trusted certificate and with faulty ones.

    Where no TLS is spoken nothing shows which event led to a connection, so that is tried alone.
    """
    scenarios: list[dict[str, ScenarioFunction]] = [
        {"faulty certificates": faulty_certificates},
        {"no TLS": without_tls},
    ]
    for one_after_the_other in scenarios:
        async for observation in run_scenarios(context, one_after_the_other):
            yield observation


async def faulty_certificates(scenario: Scenario) -> FaultyCertificates:
    """An endpoint for each certificate, one for each as that of a token URL, and one event."""
    scenario.context.require_capability("tls_verification")
    receiver, listeners = scenario.context.receiver, await faulty_listeners(scenario)
    before = await receiver.tls_fault_handshakes()
    trusted = await scenario.destination(TRUSTED)
    for name in CERTIFICATES:
        with contextlib.suppress(PreconditionFailed):  # a service may visit the URL and refuse it
            await at_listener(scenario, name, listeners[name])
    token_servers = await endpoints_with_token_urls(scenario, listeners)
    event = await scenario.broadcast(EVENT)
    await scenario.await_arrival(trusted, event)
    tried = [destination.name for destination in scenario.destinations]
    await await_handshakes(scenario, before, [name for name in CERTIFICATES if name in tried])
    await await_token_requests(scenario, before, token_servers)
    await scenario.await_silence()
    for token in token_servers.values():
        await scenario.trial.arrivals(token, count=0, timeout_s=0)
    begun = await receiver.tls_fault_handshakes()
    since = {name: begun[name] - before[name] for name in before}
    return await scenario.observe(
        FaultyCertificates,
        handshakes={name: since[name] for name in CERTIFICATES},
        token_servers=token_servers,
        token_handshakes={name: since[f"{name}{SECOND}"] for name in CERTIFICATES},
    )


async def without_tls(scenario: Scenario) -> WithoutTls:
    """An endpoint with a trusted certificate, one with an https URL where no TLS is spoken, and one
    event, until it should have been tried again.
    """
    receiver, listeners = scenario.context.receiver, await faulty_listeners(scenario)
    before = await receiver.tls_fault_handshakes()
    trusted = await scenario.destination(TRUSTED)
    with contextlib.suppress(PreconditionFailed):  # a service may visit the URL and refuse it
        await at_listener(scenario, NO_TLS, listeners[NO_TLS])
    visited = await receiver.tls_fault_handshakes()
    event = await scenario.broadcast(EVENT)
    await scenario.await_arrival(trusted, event)
    again_s = wait_for_another(scenario.context)
    if any(destination.name == NO_TLS for destination in scenario.destinations):
        await await_handshakes(scenario, visited, [NO_TLS])
        if again_s is not None:
            patience_s = again_s + scenario.context.distant(LATE_S)
            await await_handshakes(scenario, visited, [NO_TLS], count=2, timeout_s=patience_s)
    await scenario.await_silence()
    begun = (await receiver.tls_fault_handshakes())[NO_TLS]
    return await scenario.observe(
        WithoutTls,
        connections=begun - before[NO_TLS],
        tries=begun - visited[NO_TLS],
        is_tried_again=again_s is not None,
    )


async def endpoints_with_token_urls(
    scenario: Scenario, listeners: Mapping[str, str]
) -> dict[str, str]:
    """Create endpoints with oauth2 whose token URLs have the trusted certificate and faulty ones.

    Returns the receiver's tokens behind the token URLs of those that were accepted, by certificate.
    """
    token_servers: dict[str, str] = {}
    if scenario.context.why_lacking("oauth2"):
        return token_servers
    for name in (TRUSTED, *CERTIFICATES):
        server = await new_token_server(scenario)
        url = server.url if name == TRUSTED else f"{listeners[name + SECOND]}/{server.token}"
        authentication = oauth2_towards(scenario, url, **server.members)
        with contextlib.suppress(PreconditionFailed):
            await scenario.destination(WITH_OAUTH2.format(name), authentication=authentication)
            token_servers[name] = server.token
    return token_servers


async def await_token_requests(
    scenario: Scenario, before: Mapping[str, int], token_servers: Mapping[str, str]
) -> None:
    """Wait until each token URL was tried, if a token was requested at the trusted one."""
    if TRUSTED not in token_servers:
        return
    token = token_servers[TRUSTED]
    if await scenario.trial.arrivals(token, count=1, timeout_s=scenario.context.budgets.quiet_s):
        names = [f"{name}{SECOND}" for name in CERTIFICATES if name in token_servers]
        await await_handshakes(scenario, before, names)


async def await_handshakes(
    scenario: Scenario,
    before: Mapping[str, int],
    names: Iterable[str],
    *,
    count: int = 1,
    timeout_s: float | None = None,
) -> None:
    """Wait until each of these listeners was tried so many times, or the time is over: by default
    that for a delivery.
    """
    patience_s = scenario.context.budgets.delivery_s if timeout_s is None else timeout_s
    deadline = scenario.context.loop.time() + patience_s
    awaited = list(names)
    while awaited and scenario.context.loop.time() < deadline:
        begun = await scenario.context.receiver.tls_fault_handshakes()
        awaited = [name for name in awaited if begun[name] < before[name] + count]
        if awaited:
            await asyncio.sleep(STEP_S)
