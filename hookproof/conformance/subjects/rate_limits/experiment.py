"""More broadcasts than rate_limit allows, to endpoints with and without one: what arrives when
(sections 2.3 and 8)?

A server that counts in fixed windows sends more than the limit around an edge between two of them,
which the hygiene requirement is about. Nobody knows where its edges are: its windows may begin with
an endpoint's first event, or at whole multiples of their length on its clock. So events come in
batches, about a third of a window apart. Wherever the edge is, an endpoint gets something shortly
before it and more than the rest of its limit shortly behind it: that with a limit of one before the
second batch, and those with a higher limit from then on.
"""

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.deliveries.expirations import expiration_lasting
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import run_scenarios
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.observations.destinations import Destination
from hookproof.conformance.observations.sentinel import SENTINEL
from hookproof.conformance.subjects.rate_limits.evidence import (
    ANSWERING,
    FAILING,
    LATER,
    LIMIT_OF_ONE,
    ROLLED,
    UNLIMITED,
    WITHOUT_DURATION,
    ZERO_LIMIT,
    RateLimitBurst,
)
from hookproof.receiver.replies.script import Reply
from hookproof.spec.dialect.groups.requests import most
from hookproof.spec.dialect.model import Dialect
from hookproof.spec.dialect.vocabulary import Excess, TimeUnit, ZeroLimit

LIMIT: Final = 6

# Together with the event before it more than twice the limit, so that a burst that arrives at once
# is above it even where a window ends in the middle of it.
BURST: Final = 12

DURATION_S: Final = 2.0

FIRST: Final = "first"


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastBatch:
    """Events that are broadcast at once; `at` is when, in windows after the first event."""

    at: float
    events: tuple[str, ...]


BURSTING: Final = BroadcastBatch(
    at=0.74, events=tuple(f"burst {number}" for number in range(BURST))
)
BATCHES: Final = (
    BroadcastBatch(at=0, events=(FIRST,)),
    BroadcastBatch(at=0.37, events=("second",)),
    BURSTING,
)

# What is above the limit meets the next edge by itself where it waits. Where it is dropped,
# something has to come behind that edge, which may be as late as the end of a window that the first
# event began when it was sent, a little after its broadcast.
AFTER_DROPS: Final = BroadcastBatch(
    at=1.1, events=tuple(f"{LATER}{number}" for number in range(LIMIT))
)

# The longest rate_limit_duration that is waited out, by profile.
PATIENCE_S: Final = {Profile.QUICK: 10.0, Profile.STANDARD: 10.0, Profile.DEEP: 60.0}


@experiment(
    "rate_limit", observes=(RateLimitBurst,), sharing=Sharing.FIRST, endpoints=8, broadcasts=15
)
async def rate_limit(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """A burst to endpoints with limits of their own, and to one without."""
    async for observation in run_scenarios(context, {"burst": burst}):
        yield observation


async def burst(scenario: Scenario) -> RateLimitBurst:
    """The batches; wait until what was held back has arrived; then a sentinel."""
    scenario.context.require_capability("rate_limit")
    duration = rate_duration(scenario)
    limited, unlimited = await create_destinations(scenario, duration)
    window_s = duration * scenario.dialect.delivery.rate_limit_unit.in_seconds
    for batch in due_batches(scenario.dialect):
        await await_due(scenario, batch, window_s)
        if batch is BURSTING:
            await change_endpoints(scenario)
        await asyncio.gather(*(scenario.broadcast(name) for name in batch.events))
    # What others send from now on is behind the burst, and counts like the rest of it.
    scenario.context.let_others_broadcast()
    await scenario.await_arrival(unlimited, *scenario.events)
    await await_rest(scenario, limited, window_s)
    # It shows that deliveries still go out when something of the burst is missing.
    if sentinel := await scenario.try_broadcast(SENTINEL):
        await scenario.await_arrival(unlimited, sentinel)
    return await scenario.observe(RateLimitBurst, with_foreign=True, limit=LIMIT, window_s=window_s)


def due_batches(dialect: Dialect) -> tuple[BroadcastBatch, ...]:
    """What is broadcast under this dialect, in order."""
    return (*BATCHES, AFTER_DROPS) if dialect.delivery.excess.allows(Excess.DROPPED) else BATCHES


async def await_due(scenario: Scenario, batch: BroadcastBatch, window_s: float) -> None:
    """Wait until it is time for the events of a batch."""
    if scenario.events:
        first = next(sent for sent in scenario.trial.exchanges if sent.role == FIRST)
        due = first.sent_at + batch.at * window_s
        await asyncio.sleep(due - scenario.context.clock())  # paces the load


async def change_endpoints(scenario: Scenario) -> None:
    """Roll an endpoint with a limit and create another endpoint: no count begins again for that."""
    for destination in scenario.destinations:
        if destination.name == ROLLED and destination.uid is not None:
            with contextlib.suppress(PreconditionFailed):
                await scenario.roll(
                    "roll in the same window", destination, expiration_lasting(scenario, 0)
                )
    await scenario.trial.call(
        "createEndpoint", role="created in the same window", body=scenario.bodies.quiet_endpoint()
    )


async def create_destinations(
    scenario: Scenario, duration: int
) -> tuple[list[Destination], Destination]:
    """Create all destinations; return those that are waited for, and the one without a limit.

    The others are tried: where one is refused, these show what they show without it.
    """
    limit: dict[str, Any] = {"rate_limit": LIMIT, "rate_limit_duration": duration}
    creations = [
        *(scenario.destination(name, **limit) for name in ANSWERING),
        scenario.destination(UNLIMITED),
        scenario.try_destination(FAILING, replies=[Reply(status=500)], **limit),
        scenario.try_destination(ROLLED, **limit),
        scenario.try_destination(LIMIT_OF_ONE, rate_limit=1, rate_limit_duration=duration),
        scenario.try_destination(WITHOUT_DURATION, rate_limit=LIMIT),
    ]
    if scenario.dialect.delivery.zero_rate_limit.allowed == (ZeroLimit.UNLIMITED,):
        creations.append(
            scenario.try_destination(ZERO_LIMIT, rate_limit=0, rate_limit_duration=duration)
        )
    *limited, unlimited = (await scenario.create_all(*creations))[: len(ANSWERING) + 1]
    return limited, unlimited


async def await_rest(scenario: Scenario, limited: list[Destination], window_s: float) -> None:
    """Wait until deliveries above the limit have arrived, or until they certainly do not."""
    if scenario.dialect.delivery.excess.allowed == (Excess.DROPPED,):
        await asyncio.sleep(window_s)  # the dialect's own time
        await scenario.await_silence()
        return
    awaited = [event for event in scenario.events if not event.name.startswith(LATER)]
    windows = math.ceil(len(awaited) / LIMIT)
    waited_s = windows * window_s + scenario.context.budgets.delivery_s
    await asyncio.gather(
        *(
            scenario.await_arrival(destination, *awaited, timeout_s=waited_s)
            for destination in limited
        )
    )


def rate_duration(scenario: Scenario) -> int:
    """A rate_limit_duration that can be waited for.

    Raises PreconditionFailed if the dialect's unit is too long.
    """
    unit: TimeUnit = scenario.dialect.delivery.rate_limit_unit
    duration = min(
        math.ceil(DURATION_S / unit.in_seconds),
        most(scenario.dialect.requests.rate_limit_duration_maximum),
    )
    if duration * unit.in_seconds > PATIENCE_S[scenario.context.profile]:
        raise PreconditionFailed(
            f"the dialect counts rate_limit_duration in {unit}, and one of them is too long to be"
            " waited for; try the deep profile"
        )
    return duration
