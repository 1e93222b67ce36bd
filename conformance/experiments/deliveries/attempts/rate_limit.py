"""More broadcasts than rate_limit allows, to endpoints with and without one: what arrives when
(sections 2.3 and 8)?

The burst comes late in the window that a first, single event opens: a server that counts in fixed
windows then sends twice the limit around the edge, which the hygiene requirement is about.
"""

import asyncio
import math
from collections.abc import AsyncIterator
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.scenario import Scenario, run_scenarios
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.case import Case
from hookproof.receiver.replies.script import Reply
from hookproof.spec.dialect.vocabulary import Excess, TimeUnit, ZeroLimit

LIMIT: Final = 5
# More than twice the limit, so that no cut of the windows excuses a burst that comes at once.
BURST: Final = 11

DURATION_S: Final = 2.0
# When the burst comes, as a share of the window.
BURST_AT: Final = 0.6

# The longest rate_limit_duration that is waited out, by profile.
PATIENCE_S: Final = {Profile.QUICK: 10.0, Profile.STANDARD: 10.0, Profile.DEEP: 60.0}


@experiment("rate_limit", alone=True)
async def rate_limit(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """A burst to endpoints with limits of their own, and to one without."""
    async for case in run_scenarios(context, {"burst": burst}):
        yield case


async def burst(scenario: Scenario) -> Case:
    """One event, then the burst; wait until what was held back has come."""
    scenario.context.refuse_lacking("rate_limit")
    duration = rate_duration(scenario)
    limit: dict[str, Any] = {"rate_limit": LIMIT, "rate_limit_duration": duration}
    making = [scenario.destination(name, **limit) for name in ("limited", "limited as well")]
    making.append(scenario.destination("without limit"))
    making.append(scenario.destination("limited and failing", replies=[Reply(status=500)], **limit))
    making.append(scenario.destination("limited without duration", rate_limit=LIMIT))
    if scenario.dialect.delivery.zero_rate_limit.allowed == (ZeroLimit.UNLIMITED,):
        making.append(
            scenario.destination("limit of 0", rate_limit=0, rate_limit_duration=duration)
        )
    *limited, free = (await scenario.together(*making))[:3]
    window_s = duration * scenario.dialect.delivery.rate_limit_unit.in_seconds
    await scenario.broadcast("first")
    await asyncio.sleep(window_s * BURST_AT)
    await asyncio.gather(*(scenario.broadcast(f"burst {number}") for number in range(BURST)))
    await scenario.await_arrival(free, *scenario.events)
    if scenario.dialect.delivery.excess.allowed == (Excess.DROPPED,):
        await asyncio.sleep(window_s)
        await scenario.quiet()
    else:
        windows = math.ceil((BURST + 1) / LIMIT)
        waited_s = windows * window_s + scenario.context.budgets.delivery_s
        await asyncio.gather(
            *(scenario.await_arrival(one, *scenario.events, timeout_s=waited_s) for one in limited)
        )
    return await scenario.case(limit=LIMIT, window_s=window_s)


def rate_duration(scenario: Scenario) -> int:
    """A rate_limit_duration that can be waited for; raises Obstacle if the dialect's unit is too
    long.
    """
    unit: TimeUnit = scenario.dialect.delivery.rate_limit_unit
    duration = min(
        math.ceil(DURATION_S / unit.in_seconds),
        scenario.dialect.requests.rate_limit_duration_maximum,
    )
    if duration * unit.in_seconds > PATIENCE_S[scenario.context.profile]:
        raise PreconditionFailed(
            f"the dialect counts rate_limit_duration in {unit}, and one of them is too long to be waited for;"
            " try the deep profile"
        )
    return duration
