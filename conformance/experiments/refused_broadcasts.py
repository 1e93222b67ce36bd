"""Broadcasts without the right key beside an endpoint that listens: nothing of them is delivered (section 5).

Facts besides destinations and events: `refused`, the markers of the broadcasts that were to be refused. The sentinel is
accepted, and proves that deliveries came through all the while.
"""

from collections.abc import AsyncIterator

from conformance.client import Key
from conformance.evidence import Case
from conformance.experiments.bench import Bench, experiment
from conformance.experiments.scene import MARKER, Scene, played


@experiment("refused_broadcasts")
async def refused_broadcasts(bench: Bench) -> AsyncIterator[Case]:
    """A broadcast with each kind of key that opens nothing, then a sentinel."""
    async for case in played(bench, {"refused": refused}):
        yield case


async def refused(scene: Scene) -> Case:
    """One endpoint; the broadcasts that are refused differ in their markers."""
    plain = await scene.destination("plain")
    await scene.await_arrival(plain, await scene.broadcast("before"))
    markers = []
    for key in (Key.NONE, Key.EMPTY, Key.WRONG, Key.TRUNCATED):
        markers.append(scene.bodies.word("refused"))
        body = scene.bodies.broadcast(data={MARKER: markers[-1]})
        await scene.trial.call("createBroadcastEvent", role="refused", body=body, key=key)
    await scene.await_arrival(plain, await scene.broadcast("sentinel"))
    await scene.quiet()
    return await scene.case(refused=markers)
