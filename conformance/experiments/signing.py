"""Endpoints in both signature formats, with given and with made secrets: who signs what (sections 2.3, 2.4 and 6)?"""

from collections.abc import AsyncIterator
from typing import Any

from conformance.evidence import Case
from conformance.experiments.bench import Bench, experiment
from conformance.experiments.scene import Scene, played


@experiment("signing")
async def signing(bench: Bench) -> AsyncIterator[Case]:
    """Several events to endpoints that differ in format and secret."""
    async for case in played(bench, {"formats": formats}):
        yield case


async def formats(scene: Scene) -> Case:
    """Each endpoint gets each of three events, one of them with text outside ASCII."""
    settings: dict[str, dict[str, Any]] = {
        "format not given": {},
        "simple": {"advanced_signatures": False},
        "advanced": {"advanced_signatures": True},
        "simple, secret made by the service": {"advanced_signatures": False, "secret": None},
        "advanced, secret made by the service": {"advanced_signatures": True, "secret": None},
        "another simple": {"advanced_signatures": False},
        "another advanced": {"advanced_signatures": True},
    }
    made = [await scene.destination(name, **chosen) for name, chosen in settings.items()]
    sent = [
        await scene.broadcast("short"),
        await scene.broadcast("unicode", data={"text": "Grüße 😀"}),
        await scene.broadcast("long", data={"text": "0123456789" * 1000}),
    ]
    await scene.await_everywhere(made, *sent)
    return await scene.case()
