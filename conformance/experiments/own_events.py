"""Endpoints come and change while nothing is broadcast: does the service send webhooks of its own (section 6)?"""

from collections.abc import AsyncIterator

from conformance.evidence import Case
from conformance.experiments.bench import Bench, experiment
from conformance.experiments.scene import Scene, played


@experiment("own_events", alone=True)
async def own_events(bench: Bench) -> AsyncIterator[Case]:
    """Create and roll beside an endpoint that listens, then a sentinel."""
    async for case in played(bench, {"changes": changes}):
        yield case


async def changes(scene: Scene) -> Case:
    """A listening endpoint, a second one that is created and rolled, and a sentinel to both."""
    listening = await scene.destination("listening")
    changing = await scene.destination("changing")
    await scene.roll("roll", changing, 0)
    sentinel = await scene.broadcast("sentinel")
    await scene.await_arrival(listening, sentinel)
    await scene.quiet()
    return await scene.case()
