"""Egress: endpoints, redirects and token URLs that lead to canaries, which a target must not reach
(hygiene).

Only where target.yaml names canaries. A target may refuse such a URL at once.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.deliveries.token_server import oauth2_towards
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import run_scenarios
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.observations.sentinel import SENTINEL
from hookproof.conformance.subjects.egress.evidence import CANARY, EgressProbeVisits
from hookproof.conformance.target.egress_probe import (
    EgressProbe,
    ProbeUnavailable,
    listen_for_egress,
)
from hookproof.receiver.replies.script import Reply

NO_CANARIES: Final = (
    "no canary is named; give target.yaml `egress_canaries`: addresses of the receiver's machine"
    " that the target must not reach"
)


@experiment("egress", observes=(EgressProbeVisits,), endpoints=1, broadcasts=1)
async def egress(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Each way to each canary."""
    if not context.egress_probes:
        raise PreconditionFailed(NO_CANARIES)
    scenarios = {
        f"{way} {host}": partial(_lead_to, host=host, way=way, lead=lead)
        for host in context.egress_probes
        for way, lead in WAYS.items()
    }
    async for observation in run_scenarios(context, scenarios):
        yield observation


async def _lead_to(scenario: Scenario, *, host: str, way: str, lead: "Lead") -> EgressProbeVisits:
    """One way to one canary, and a sentinel that shows that deliveries go out meanwhile."""
    try:
        async with listen_for_egress(host) as probe:
            listening = await scenario.destination("sentinel's")
            try:
                await lead(scenario, probe)
            except PreconditionFailed:  # a target may refuse such a URL; the exchange shows it
                return await scenario.observe(EgressProbeVisits, way=way, visits=len(probe.peers))
            await scenario.broadcast("event")
            sentinel = await scenario.broadcast(SENTINEL)
            await scenario.await_arrival(listening, sentinel)
            await scenario.await_silence()
            return await scenario.observe(EgressProbeVisits, way=way, visits=len(probe.peers))
    except ProbeUnavailable as problem:
        raise PreconditionFailed(str(problem)) from None


async def _as_endpoint(scenario: Scenario, probe: EgressProbe) -> None:
    token = await scenario.context.receiver.new_token()
    await scenario.endpoint(CANARY, token.token, url=probe.url)


async def _by_redirect(scenario: Scenario, probe: EgressProbe) -> None:
    await scenario.destination(
        CANARY, replies=[Reply(status=307, headers=(("Location", probe.url),))]
    )


async def _as_token_url(scenario: Scenario, probe: EgressProbe) -> None:
    scenario.context.require_capability("oauth2")
    await scenario.destination(CANARY, authentication=oauth2_towards(scenario, probe.url))


# Creates an endpoint of which something leads to the canary; raises PreconditionFailed if the
# target refuses it.
Lead = Callable[[Scenario, EgressProbe], Awaitable[None]]

WAYS: Final[Mapping[str, Lead]] = {
    "endpoint at": _as_endpoint,
    "redirect to": _by_redirect,
    "token URL at": _as_token_url,
}
