"""Receivers that are silent, slow or endless: when does the service give them up (section 8)?"""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from conformance.dispatch import Destination, Event, ended
from conformance.evidence import Case
from conformance.experiments.bench import Bench, Obstacle, experiment
from conformance.experiments.scene import Scene, played
from conformance.target import Profile
from conformance.tolerance import LATE_S
from receiver.script import Reply

TIMEOUT_S: Final = 2
PATIENT_S: Final = 6
"""The http_timeout of the endpoint that answers slowly but in time."""

SLOW_S: Final = 2.5
"""How long that endpoint takes: longer than the others' time-out, and much shorter than its own."""

DRIP_S: Final = 0.2
STEP_S: Final = 0.1
"""How often the receiver is asked whether the service has gone; it cannot be waited for."""

DEFAULT_PATIENCE_S: Final = {Profile.QUICK: 3.0, Profile.STANDARD: 5.0, Profile.DEEP: 40.0}
"""The longest default time-out that is waited out, by profile."""


@experiment("timeout", alone=True)
async def timeout(bench: Bench) -> AsyncIterator[Case]:
    """Broadcast to endpoints that keep the service waiting."""
    async for case in played(bench, {"given time": given_time, "default time": default_time}):
        yield case


async def given_time(scene: Scene) -> Case:
    """One event to a silent endpoint, one whose answer never ends, and one that answers late but in time."""
    bounds = scene.dialect.requests
    short = min(max(TIMEOUT_S, bounds.http_timeout_minimum), bounds.http_timeout_maximum)
    kept_waiting = [
        await scene.destination("silent", replies=[Reply(hang=True)], http_timeout=short),
        await scene.destination("endless", replies=[Reply(drip_s=DRIP_S)], http_timeout=short),
    ]
    slow = await scene.destination("slow", replies=[Reply(delay_s=SLOW_S)], http_timeout=PATIENT_S)
    event = await scene.broadcast("event")
    await scene.await_everywhere([*kept_waiting, slow], event)
    await asyncio.gather(*(await_end(scene, one, event, short + LATE_S) for one in kept_waiting))
    await await_end(scene, slow, event, SLOW_S + LATE_S)
    return await scene.case(timeout_s=short, patient_s=PATIENT_S, slow_s=SLOW_S)


async def default_time(scene: Scene) -> Case:
    """One event to a silent endpoint that was given no time-out."""
    default = scene.dialect.delivery.default_timeout_s
    if not default.decided:
        raise Obstacle("the dialect does not decide how long an endpoint without http_timeout is waited for")
    if default.value > DEFAULT_PATIENCE_S[scene.bench.profile]:
        raise Obstacle(f"the default time-out of {default.value} s is too long to wait; try the deep profile")
    silent = await scene.destination("silent", replies=[Reply(hang=True)])
    event = await scene.broadcast("event")
    await scene.await_arrival(silent, event)
    await await_end(scene, silent, event, default.value + LATE_S)
    return await scene.case(timeout_s=default.value)


async def await_end(scene: Scene, destination: Destination, event: Event, timeout_s: float) -> None:
    """Wait until the first attempt is answered or given up, a second one has come, or the time is over."""
    deadline = scene.bench.loop.time() + timeout_s
    while scene.bench.loop.time() < deadline:
        attempts = await scene.await_arrival(destination, event, timeout_s=0)
        if not attempts or len(attempts) > 1 or ended(attempts[0]) is not None:
            return
        await asyncio.sleep(STEP_S)
