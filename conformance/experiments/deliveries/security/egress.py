"""Egress: endpoints, redirects and token URLs that lead to canaries, which a target must not reach
(hygiene).

Only where target.yaml names canaries. Facts: `way`, how the case leads there; `visits`, how many
connections the canary had when the sentinel had arrived and the quiet time was over. A target may
refuse such a URL at once: the exchange plays the role "led astray".
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.deliveries.security.credentials import oauth2_towards
from hookproof.conformance.experiments.scenario import Scenario, run_scenarios
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.observations.case import Case
from hookproof.conformance.target.egress_probe import Canary, NoCanary, listening
from hookproof.receiver.replies.script import Reply

ASTRAY: Final = "led astray"
NO_CANARIES: Final = (
    "no canary is named; give target.yaml `egress_canaries`: addresses of the receiver's machine that the target must"
    " not reach"
)


@experiment("egress")
async def egress(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Each way to each canary."""
    if not context.canaries:
        raise PreconditionFailed(NO_CANARIES)
    scenarios = {
        f"{way} {host}": partial(_led, host=host, way=way, lead=lead)
        for host in context.canaries
        for way, lead in WAYS.items()
    }
    async for case in run_scenarios(context, scenarios):
        yield case


async def _led(scenario: Scenario, *, host: str, way: str, lead: "Lead") -> Case:
    """One way to one canary, and a sentinel that shows that deliveries go out meanwhile."""
    try:
        async with listening(host) as canary:
            listening_too = await scenario.destination("sentinel's")
            try:
                await lead(scenario, canary)
            except PreconditionFailed:  # a target may refuse such a URL; the exchange tells
                return await scenario.case(way=way, visits=len(canary.visitors))
            await scenario.broadcast("event")
            sentinel = await scenario.broadcast("sentinel")
            await scenario.await_arrival(listening_too, sentinel)
            await scenario.quiet()
            return await scenario.case(way=way, visits=len(canary.visitors))
    except NoCanary as problem:
        raise PreconditionFailed(str(problem)) from None


async def _as_endpoint(scenario: Scenario, canary: Canary) -> None:
    token = await scenario.context.receiver.new_token()
    await scenario.endpoint(ASTRAY, token.token, url=canary.url)


async def _by_redirect(scenario: Scenario, canary: Canary) -> None:
    await scenario.destination(
        ASTRAY, replies=[Reply(status=307, headers=(("Location", canary.url),))]
    )


async def _as_token_url(scenario: Scenario, canary: Canary) -> None:
    scenario.context.refuse_lacking("oauth2")
    await scenario.destination(ASTRAY, authentication=oauth2_towards(scenario, canary.url))


# Makes an endpoint of which something leads to the canary; raises Obstacle if the target refuses
# it.
Lead = Callable[[Scenario, Canary], Awaitable[None]]

WAYS: Final[Mapping[str, Lead]] = {
    "endpoint at": _as_endpoint,
    "redirect to": _by_redirect,
    "token URL at": _as_token_url,
}
