"""Secrets are rolled while broadcasts go on: which secret signs when (section 4.3)?

Cases: `overlap` (a window that nobody waits out), `expiry` (a short one, watched from the roll until it is over), `two
rolls` (a long window, then a short one), `at once` (expiration 0) and `simple format`.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from typing import Final

from conformance.dispatch import Destination
from conformance.evidence import Case
from conformance.experiments.bench import Bench, Obstacle, experiment
from conformance.experiments.scene import Scene, played
from conformance.target import Profile
from conformance.tolerance import EXPIRY_S
from receiver.delivery import ReceivedDelivery

WINDOWS_S: Final = (3.0, 9.0, 18.0)
"""How long an old secret lives; the longer ones are tried if the first was over before anything had arrived."""

LONG_S: Final = 600.0
"""A window that is still open when the run is over."""

PATIENCE_S: Final = {Profile.QUICK: 20.0, Profile.STANDARD: 20.0, Profile.DEEP: 90.0}
"""The longest window that is waited out, by profile."""

STEP_S: Final = 0.4
"""How long to wait between two broadcasts of a window that is watched."""


@experiment("roll")
async def roll(bench: Bench) -> AsyncIterator[Case]:
    """Roll secrets in both formats, with windows of several lengths."""
    plays = {
        "overlap": overlap,
        "expiry": expiry,
        "two rolls": two_rolls,
        "at once": at_once,
        "simple format": simple_format,
    }
    async for case in played(bench, plays):
        yield case


async def overlap(scene: Scene) -> Case:
    """An event before the roll, and two after it while both secrets live."""
    rolling = await scene.destination("rolling", advanced_signatures=True)
    await announce(scene, [rolling], "before")
    rolling = await scene.roll("roll", rolling, units(scene, LONG_S))
    await announce(scene, [rolling], "after")
    await announce(scene, [rolling], "again")
    return await scene.case()


async def expiry(scene: Scene) -> Case:
    """Events one after the other from the roll until the old secret has expired."""
    return await watched(scene, advanced=True)


async def simple_format(scene: Scene) -> Case:
    """The same with simple signatures."""
    return await watched(scene, advanced=False)


async def watched(scene: Scene, *, advanced: bool) -> Case:
    """Roll and broadcast until the window is over; again with a longer one if nothing came in its time."""
    for window_s in WINDOWS_S:
        expiration = waitable(scene, window_s)
        rolling = await scene.destination(f"rolling {expiration}", advanced_signatures=advanced)
        in_time = scene.bench.clock() + length_s(scene, expiration) - EXPIRY_S
        rolling = await scene.roll(f"roll {expiration}", rolling, expiration)
        arrived = await broadcast_until_over(scene, rolling, f"{expiration}", expiration)
        if arrived[0].arrived_at < in_time:
            break
    return await scene.case()


async def two_rolls(scene: Scene) -> Case:
    """A long window, then a short one: the first secret outlives the second."""
    expiration = waitable(scene, WINDOWS_S[0])
    rolling = await scene.destination("rolling", advanced_signatures=True)
    rolling = await scene.roll("first roll", rolling, units(scene, LONG_S))
    rolling = await scene.roll("second roll", rolling, expiration)
    await broadcast_until_over(scene, rolling, "event", expiration)
    return await scene.case()


async def at_once(scene: Scene) -> Case:
    """No window at all, in both formats."""
    made = [
        await scene.destination("advanced", advanced_signatures=True),
        await scene.destination("simple", advanced_signatures=False),
    ]
    rolled = [await scene.roll(f"roll {one.name}", one, 0) for one in made]
    await asyncio.sleep(EXPIRY_S + STEP_S)
    await announce(scene, rolled, "after")
    return await scene.case()


async def broadcast_until_over(
    scene: Scene, rolling: Destination, stem: str, expiration: int
) -> tuple[ReceivedDelivery, ...]:
    """Events in steps until `expiration` is certainly over, and one more; what arrived of them, or Obstacle."""
    over = scene.bench.loop.time() + length_s(scene, expiration) + EXPIRY_S + STEP_S
    number = 0
    while scene.bench.loop.time() < over:
        number += 1
        await scene.broadcast(f"{stem} {number}")
        await asyncio.sleep(STEP_S)
    await scene.broadcast(f"{stem} {number + 1}")
    arrived = await scene.await_arrival(rolling, *(one for one in scene.events if one.name.startswith(f"{stem} ")))
    if not arrived:
        raise Obstacle(
            "nothing arrived at the endpoint whose secret was rolled; its signatures show when something does"
        )
    return arrived


async def announce(scene: Scene, made: Sequence[Destination], name: str) -> None:
    """Broadcast an event and wait for it everywhere."""
    event = await scene.broadcast(name)
    await scene.await_everywhere(made, event)


def length_s(scene: Scene, expiration: int) -> float:
    """How long an expiration lasts in the dialect's unit, in seconds."""
    return expiration * scene.dialect.rolling.expiration_unit.in_seconds


def units(scene: Scene, seconds: float) -> int:
    """The smallest expiration that lasts as long, within the dialect's bounds."""
    wanted = math.ceil(seconds / scene.dialect.rolling.expiration_unit.in_seconds)
    return min(wanted, scene.dialect.requests.expiration_maximum)


def waitable(scene: Scene, seconds: float) -> int:
    """The same; raises Obstacle if the unit is too long to be waited for."""
    expiration = units(scene, seconds)
    if length_s(scene, expiration) > PATIENCE_S[scene.bench.profile]:
        unit = scene.dialect.rolling.expiration_unit
        raise Obstacle(
            f"the dialect counts expiration in {unit}, and {expiration} of them are too long to be waited for;"
            " try the deep profile or a shorter unit"
        )
    return expiration
