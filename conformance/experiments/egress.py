"""Egress: endpoints, redirects and token URLs that lead to canaries, which a target must not reach (hygiene).

Only where target.yaml names canaries. Facts: `way`, how the case leads there; `visits`, how many connections the
canary had when the sentinel had arrived and the quiet time was over. A target may refuse such a URL at once: the
exchange plays the role "led astray".
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from typing import Final

from conformance.canary import Canary, NoCanary, listening
from conformance.evidence import Case
from conformance.experiments.bench import Bench, Obstacle, experiment
from conformance.experiments.credentials import oauth2_towards
from conformance.experiments.scene import Scene, played
from receiver.script import Reply

ASTRAY: Final = "led astray"
NO_CANARIES: Final = (
    "no canary is named; give target.yaml `egress_canaries`: addresses of the receiver's machine that the target must"
    " not reach"
)


@experiment("egress")
async def egress(bench: Bench) -> AsyncIterator[Case]:
    """Each way to each canary."""
    if not bench.canaries:
        raise Obstacle(NO_CANARIES)
    plays = {
        f"{way} {host}": partial(_led, host=host, way=way, lead=lead)
        for host in bench.canaries
        for way, lead in WAYS.items()
    }
    async for case in played(bench, plays):
        yield case


async def _led(scene: Scene, *, host: str, way: str, lead: "Lead") -> Case:
    """One way to one canary, and a sentinel that shows that deliveries go out meanwhile."""
    try:
        async with listening(host) as canary:
            listening_too = await scene.destination("sentinel's")
            try:
                await lead(scene, canary)
            except Obstacle:  # a target may refuse such a URL; the exchange tells
                return await scene.case(way=way, visits=len(canary.visitors))
            await scene.broadcast("event")
            sentinel = await scene.broadcast("sentinel")
            await scene.await_arrival(listening_too, sentinel)
            await scene.quiet()
            return await scene.case(way=way, visits=len(canary.visitors))
    except NoCanary as problem:
        raise Obstacle(str(problem)) from None


async def _as_endpoint(scene: Scene, canary: Canary) -> None:
    token = await scene.bench.receiver.new_token()
    await scene.endpoint(ASTRAY, token.token, url=canary.url)


async def _by_redirect(scene: Scene, canary: Canary) -> None:
    await scene.destination(ASTRAY, replies=[Reply(status=307, headers=(("Location", canary.url),))])


async def _as_token_url(scene: Scene, canary: Canary) -> None:
    scene.bench.refuse_lacking("oauth2")
    await scene.destination(ASTRAY, authentication=oauth2_towards(scene, canary.url))


Lead = Callable[[Scene, Canary], Awaitable[None]]
"""Makes an endpoint of which something leads to the canary; raises Obstacle if the target refuses it."""

WAYS: Final[Mapping[str, Lead]] = {
    "endpoint at": _as_endpoint,
    "redirect to": _by_redirect,
    "token URL at": _as_token_url,
}
