"""More broadcasts than rate_limit allows, to endpoints with and without one: what arrives when (sections 2.3 and 8)?

The burst comes late in the window that a first, single event opens: a server that counts in fixed windows then sends
twice the limit around the edge, which the hygiene requirement is about.
"""

import asyncio
import math
from collections.abc import AsyncIterator
from typing import Any, Final

from conformance.evidence import Case
from conformance.experiments.bench import Bench, Obstacle, experiment
from conformance.experiments.scene import Scene, played
from conformance.target import Profile
from receiver.script import Reply
from spec.vocabulary import Excess, TimeUnit, ZeroLimit

LIMIT: Final = 5
BURST: Final = 11
"""More than twice the limit, so that no cut of the windows excuses a burst that comes at once."""

DURATION_S: Final = 2.0
BURST_AT: Final = 0.6
"""When the burst comes, as a share of the window."""

PATIENCE_S: Final = {Profile.QUICK: 10.0, Profile.STANDARD: 10.0, Profile.DEEP: 60.0}
"""The longest rate_limit_duration that is waited out, by profile."""


@experiment("rate_limit", alone=True)
async def rate_limit(bench: Bench) -> AsyncIterator[Case]:
    """A burst to endpoints with limits of their own, and to one without."""
    async for case in played(bench, {"burst": burst}):
        yield case


async def burst(scene: Scene) -> Case:
    """One event, then the burst; wait until what was held back has come."""
    scene.bench.refuse_lacking("rate_limit")
    duration = rate_duration(scene)
    limit: dict[str, Any] = {"rate_limit": LIMIT, "rate_limit_duration": duration}
    making = [scene.destination(name, **limit) for name in ("limited", "limited as well")]
    making.append(scene.destination("without limit"))
    making.append(scene.destination("limited and failing", replies=[Reply(status=500)], **limit))
    making.append(scene.destination("limited without duration", rate_limit=LIMIT))
    if scene.dialect.delivery.zero_rate_limit.allowed == (ZeroLimit.UNLIMITED,):
        making.append(scene.destination("limit of 0", rate_limit=0, rate_limit_duration=duration))
    *limited, free = (await scene.together(*making))[:3]
    window_s = duration * scene.dialect.delivery.rate_limit_unit.in_seconds
    await scene.broadcast("first")
    await asyncio.sleep(window_s * BURST_AT)
    await asyncio.gather(*(scene.broadcast(f"burst {number}") for number in range(BURST)))
    await scene.await_arrival(free, *scene.events)
    if scene.dialect.delivery.excess.allowed == (Excess.DROPPED,):
        await asyncio.sleep(window_s)
        await scene.quiet()
    else:
        windows = math.ceil((BURST + 1) / LIMIT)
        waited_s = windows * window_s + scene.bench.budgets.delivery_s
        await asyncio.gather(*(scene.await_arrival(one, *scene.events, timeout_s=waited_s) for one in limited))
    return await scene.case(limit=LIMIT, window_s=window_s)


def rate_duration(scene: Scene) -> int:
    """A rate_limit_duration that can be waited for; raises Obstacle if the dialect's unit is too long."""
    unit: TimeUnit = scene.dialect.delivery.rate_limit_unit
    duration = min(math.ceil(DURATION_S / unit.in_seconds), scene.dialect.requests.rate_limit_duration_maximum)
    if duration * unit.in_seconds > PATIENCE_S[scene.bench.profile]:
        raise Obstacle(
            f"the dialect counts rate_limit_duration in {unit}, and one of them is too long to be waited for;"
            " try the deep profile"
        )
    return duration
