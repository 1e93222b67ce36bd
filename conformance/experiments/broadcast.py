"""Broadcasts of many payloads to endpoints of each content type: does all of it arrive (sections 2.3, 4.8, 6)?"""

from collections.abc import AsyncIterator
from typing import Final

from conformance.evidence import Case
from conformance.experiments.bench import Bench, experiment
from conformance.experiments.payloads import payloads
from conformance.experiments.scene import Scene, played

FORM: Final = "application/x-www-form-urlencoded"


@experiment("broadcast")
async def broadcast(bench: Bench) -> AsyncIterator[Case]:
    """Broadcast every payload, and one event to every content type."""
    async for case in played(bench, {"payloads": every_payload, "content types": content_types}):
        yield case


async def every_payload(scene: Scene) -> Case:
    """Each payload with custom headers of its own, to an endpoint with the default content type."""
    plain = await scene.destination("plain")
    limit = scene.dialect.requests.size_limit
    for name in payloads("", size_limit=limit):
        marker = scene.bodies.word("event")
        await scene.broadcast(
            name,
            marker=marker,
            raw_data=payloads(marker, size_limit=limit)[name],
            custom_headers={"X-Hookproof-Marker": marker, "x-order-number": scene.bodies.word("order")},
        )
    await scene.broadcast("without custom headers")
    await scene.await_arrival(plain, *scene.events)
    return await scene.case()


async def content_types(scene: Scene) -> Case:
    """One event to an endpoint that says JSON, one that asks for a form, and one that says nothing."""
    made = [
        await scene.destination("without content type"),
        await scene.destination("json", content_type="application/json"),
        await scene.destination("form", content_type=FORM),
    ]
    event = await scene.broadcast("event", data={"city": "Zürich & Bern", "sum": "1+1=2", "empty": ""})
    await scene.await_everywhere(made, event)
    return await scene.case()
