"""Secrets are rolled while broadcasts go on: which secret signs when (section 4.3)?

A window that is not waited out, a short one that is watched from the roll until it is over, a long
and a short one together, and none at all. What arrives before a roll shows whether the endpoint's
deliveries are validly signed at all.

Of several rolls each has a window of its own, long enough that a tenth of it is more than the time
around its end in which nothing is judged, and so much longer or shorter than those before that a
roll which gives its end to what they replaced shows. Broadcasts follow each roll, and stand shortly
before and after each end.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.deliveries.expirations import (
    LONG_S,
    broadcast_everywhere,
    expiration_lasting,
    length_s,
    waitable_expiration,
)
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import ScenarioFunction, run_scenarios
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.tolerances import EXPIRY_S
from hookproof.conformance.observations.destinations import Destination
from hookproof.conformance.subjects.rolls.evidence import RollsUnderTraffic
from hookproof.receiver.inbox.delivery import ReceivedDelivery

# The windows in the order of the rolls, in seconds.
SEVERAL_WINDOWS_S: Final = (14.0, 17.0, 15.0, 16.0)
# The longest window that is waited out. Where the dialect's unit is longer, only what follows each
# roll at once is seen.
LONGEST_S: Final = 20.0
# How far from the time in which nothing is judged an event is sent: its arrival takes a moment.
SEVERAL_STEP_S: Final = 0.15


async def several_rolls(scenario: Scenario) -> RollsUnderTraffic:
    """Four rolls in each format, before an endpoint that keeps its secret."""
    rolling = [
        await scenario.destination("advanced", advanced_signatures=True),
        await scenario.destination("simple", advanced_signatures=False),
    ]
    await scenario.destination("created after")
    await broadcast_everywhere(scenario, rolling, "before")
    for number, window_s in enumerate(SEVERAL_WINDOWS_S, start=1):
        expiration = expiration_lasting(scenario, window_s)
        rolling = [
            await scenario.roll(f"roll {number} of {destination.name}", destination, expiration)
            for destination in rolling
        ]
        await broadcast_everywhere(scenario, rolling, f"after roll {number}")
    for number, at in enumerate(times_around_ends(scenario, rolling[0]), start=1):
        await asyncio.sleep(max(0.0, at - scenario.context.clock()))  # paces the load
        await scenario.broadcast(f"event {number}")
    await scenario.await_everywhere(rolling, *scenario.events)
    return await scenario.observe(RollsUnderTraffic)


def times_around_ends(scenario: Scenario, rolled: Destination) -> list[float]:
    """When events are sent that show until when each replaced secret signs, in Unix seconds."""
    exchanges = {exchange.role: exchange for exchange in scenario.trial.exchanges}
    times = []
    for roll in rolled.rolls:
        lasts_s = length_s(scenario, roll.expiration)
        if lasts_s <= LONGEST_S:
            answer = exchanges[roll.role]
            before = answer.sent_at + lasts_s - EXPIRY_S - SEVERAL_STEP_S
            after = answer.sent_at + answer.duration_s + lasts_s + EXPIRY_S + SEVERAL_STEP_S
            times += [before, after]
    return sorted(times)


# How long an old secret stays valid; the longer windows are tried if the first was over before
# anything had arrived.
WINDOWS_S: Final = (3.0, 9.0, 18.0)


# How long to wait between two broadcasts of a window that is watched.
STEP_S: Final = 0.4
# How far behind the time in which nothing is judged the last one is: its arrival takes a moment.
BEYOND_S: Final = 0.15


@experiment(
    "roll", observes=(RollsUnderTraffic,), sharing=Sharing.CONFIRMED, endpoints=9, broadcasts=57
)
async def roll(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Roll secrets in both formats, with windows of several lengths."""
    scenarios: dict[str, ScenarioFunction] = {
        "overlap": overlap,
        "expiry": expiry,
        "two rolls": two_rolls,
        "at once": at_once,
        "simple format": simple_format,
    }
    if context.profile >= Profile.STANDARD:
        scenarios["several rolls"] = several_rolls
    async for observation in run_scenarios(context, scenarios):
        yield observation


async def overlap(scenario: Scenario) -> RollsUnderTraffic:
    """An event before the roll, and two after it while both secrets are valid."""
    rolling = await scenario.destination("rolling", advanced_signatures=True)
    await broadcast_everywhere(scenario, [rolling], "before")
    rolling = await scenario.roll("roll", rolling, expiration_lasting(scenario, LONG_S))
    await broadcast_everywhere(scenario, [rolling], "after")
    await broadcast_everywhere(scenario, [rolling], "again")
    return await scenario.observe(RollsUnderTraffic)


async def expiry(scenario: Scenario) -> RollsUnderTraffic:
    """Events one after the other from the roll until the old secret has expired."""
    return await roll_and_watch(scenario, advanced=True)


async def simple_format(scenario: Scenario) -> RollsUnderTraffic:
    """The same with simple signatures."""
    return await roll_and_watch(scenario, advanced=False)


async def roll_and_watch(scenario: Scenario, *, advanced: bool) -> RollsUnderTraffic:
    """Roll and broadcast until the window is over; again with a longer one if nothing arrived
    within it.
    """
    for window_s in WINDOWS_S:
        expiration = waitable_expiration(scenario, window_s)
        rolling = await scenario.destination(f"rolling {expiration}", advanced_signatures=advanced)
        await broadcast_everywhere(scenario, [rolling], f"before {expiration}")
        valid_until = scenario.context.clock() + length_s(scenario, expiration) - EXPIRY_S
        rolling = await scenario.roll(f"roll {expiration}", rolling, expiration)
        arrived = await broadcast_until_over(scenario, rolling, f"{expiration}", expiration)
        if arrived[0].arrived_at < valid_until:
            break
    return await scenario.observe(RollsUnderTraffic)


async def two_rolls(scenario: Scenario) -> RollsUnderTraffic:
    """A long window, then a short one, or none where the unit is too long: the first secret
    outlives the second.
    """
    expiration = waitable_expiration(scenario, WINDOWS_S[0], none_if_too_long=True)
    rolling = await scenario.destination("rolling", advanced_signatures=True)
    await broadcast_everywhere(scenario, [rolling], "before")
    rolling = await scenario.roll("first roll", rolling, expiration_lasting(scenario, LONG_S))
    rolling = await scenario.roll("second roll", rolling, expiration)
    await broadcast_until_over(scenario, rolling, "event", expiration)
    return await scenario.observe(RollsUnderTraffic)


async def at_once(scenario: Scenario) -> RollsUnderTraffic:
    """No window at all, or the shortest that there is, in both formats."""
    shortest = waitable_expiration(scenario, 0)
    destinations = [
        await scenario.destination("advanced", advanced_signatures=True),
        await scenario.destination("simple", advanced_signatures=False),
    ]
    await broadcast_everywhere(scenario, destinations, "before")
    rolled = [
        await scenario.roll(f"roll {destination.name}", destination, shortest)
        for destination in destinations
    ]
    # The target's own time: by then the old secrets have certainly expired.
    await asyncio.sleep(length_s(scenario, shortest) + EXPIRY_S + STEP_S)
    await broadcast_everywhere(scenario, rolled, "after")
    return await scenario.observe(RollsUnderTraffic)


async def broadcast_until_over(
    scenario: Scenario, rolling: Destination, stem: str, expiration: int
) -> tuple[ReceivedDelivery, ...]:
    """Events in steps until `expiration` is certainly over, and one more; what arrived of them.

    Raises PreconditionFailed if nothing did.
    """
    loop, number = scenario.context.loop, 0
    end = loop.time() + length_s(scenario, expiration) + EXPIRY_S + BEYOND_S
    while loop.time() < end:
        number += 1
        await scenario.broadcast(f"{stem} {number}")
        await asyncio.sleep(min(STEP_S, max(0.0, end - loop.time())))  # paces the load
    await scenario.broadcast(f"{stem} {number + 1}")
    arrived = await scenario.await_arrival(
        rolling, *(event for event in scenario.events if event.name.startswith(f"{stem} "))
    )
    if not arrived:
        raise PreconditionFailed(
            "nothing arrived at the endpoint whose secret was rolled; its signatures show when"
            " something does"
        )
    return arrived
