"""The same broadcast twice, with and without an idempotency_key: what is delivered again (section 4.8)?"""

from collections.abc import AsyncIterator

from conformance.evidence import Case
from conformance.experiments.bench import Bench, experiment
from conformance.experiments.scene import Scene, played


@experiment("repeats")
async def repeats(bench: Bench) -> AsyncIterator[Case]:
    """Repeat a broadcast with the same key, and one without any key."""
    async for case in played(bench, {"same key": same_key, "no key": no_key}):
        yield case


async def same_key(scene: Scene) -> Case:
    """The same body with the same key twice, then a sentinel."""
    plain = await scene.destination("plain")
    key, marker = scene.bodies.word("key"), scene.bodies.word("event")
    await scene.broadcast("original", marker=marker, idempotency_key=key, event_type="hookproof.repeat")
    await scene.broadcast("duplicate", marker=marker, idempotency_key=key, event_type="hookproof.repeat")
    sentinel = await scene.broadcast("sentinel")
    await scene.await_arrival(plain, sentinel)
    await scene.quiet()
    return await scene.case()


async def no_key(scene: Scene) -> Case:
    """The same body twice without a key, where the dialect allows to leave it out."""
    if "idempotency_key" in scene.dialect.requests.create_broadcast_event_requires:
        return await scene.case(key_required=True)
    plain = await scene.destination("plain")
    marker = scene.bodies.word("event")
    first = await scene.broadcast("first", marker=marker, event_type="hookproof.repeat")
    await scene.broadcast("second", marker=marker, event_type="hookproof.repeat")
    await scene.await_arrival(plain, first, count=2)
    return await scene.case()
