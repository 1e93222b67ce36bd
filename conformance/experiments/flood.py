"""Many broadcasts, several at a time, to one endpoint: is any of them lost or doubled (sections 1 and 4.8)?"""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from conformance.evidence import Case
from conformance.experiments.bench import Bench, experiment
from conformance.experiments.scene import Scene, played
from conformance.target import Profile

MANY: Final = {Profile.QUICK: 30, Profile.STANDARD: 200, Profile.DEEP: 400}
"""How many broadcasts there are, by profile."""

AT_A_TIME: Final = 8


@experiment("flood", alone=True)
async def flood(bench: Bench) -> AsyncIterator[Case]:
    """Broadcast many events."""
    async for case in played(bench, {"many": many}):
        yield case


async def many(scene: Scene) -> Case:
    """Many events, and the quiet time after the last of them."""
    plain = await scene.destination("plain")
    places = asyncio.Semaphore(AT_A_TIME)

    async def one(number: int) -> None:
        async with places:
            await scene.broadcast(f"event {number}", data={"number": number})

    await asyncio.gather(*(one(number) for number in range(MANY[scene.bench.profile])))
    await scene.await_arrival(plain, *scene.events)
    await scene.quiet()
    return await scene.case()
