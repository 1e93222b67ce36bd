"""Secrets are rolled while broadcasts go on: which secret signs when (section 4.3)?

A window that is not waited out, a short one that is watched from the roll until it is over, a long
and a short one together, and none at all. What arrives before a roll shows whether the endpoint's
deliveries are validly signed at all.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from typing import Final

from hookproof.conformance.experiments.context import ExperimentContext
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.experiments.scenario_run import run_scenarios
from hookproof.conformance.model.evidence import Evidence, PreconditionFailed
from hookproof.conformance.model.experiment_registry import Sharing, experiment
from hookproof.conformance.model.profile import Profile
from hookproof.conformance.model.tolerances import EXPIRY_S
from hookproof.conformance.observations.delivery.security.secret_roll import RollsUnderTraffic
from hookproof.conformance.observations.destinations import Destination
from hookproof.receiver.inbox.delivery import ReceivedDelivery

# How long an old secret stays valid; the longer windows are tried if the first was over before
# anything had arrived.
WINDOWS_S: Final = (3.0, 9.0, 18.0)

# A window that is still open when the run is over.
LONG_S: Final = 600.0

# The longest window that is waited out, by profile.
PATIENCE_S: Final = {Profile.QUICK: 20.0, Profile.STANDARD: 20.0, Profile.DEEP: 90.0}

# How long to wait between two broadcasts of a window that is watched.
STEP_S: Final = 0.4


@experiment("roll", observes=(RollsUnderTraffic,), sharing=Sharing.CONFIRMED)
async def roll(context: ExperimentContext) -> AsyncIterator[Evidence]:
    """Roll secrets in both formats, with windows of several lengths."""
    scenarios = {
        "overlap": overlap,
        "expiry": expiry,
        "two rolls": two_rolls,
        "at once": at_once,
        "simple format": simple_format,
    }
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
    """A long window, then a short one: the first secret outlives the second."""
    expiration = waitable_expiration(scenario, WINDOWS_S[0])
    rolling = await scenario.destination("rolling", advanced_signatures=True)
    await broadcast_everywhere(scenario, [rolling], "before")
    rolling = await scenario.roll("first roll", rolling, expiration_lasting(scenario, LONG_S))
    rolling = await scenario.roll("second roll", rolling, expiration)
    await broadcast_until_over(scenario, rolling, "event", expiration)
    return await scenario.observe(RollsUnderTraffic)


async def at_once(scenario: Scenario) -> RollsUnderTraffic:
    """No window at all, in both formats."""
    destinations = [
        await scenario.destination("advanced", advanced_signatures=True),
        await scenario.destination("simple", advanced_signatures=False),
    ]
    await broadcast_everywhere(scenario, destinations, "before")
    rolled = [
        await scenario.roll(f"roll {destination.name}", destination, 0)
        for destination in destinations
    ]
    # The target's own time: by then the old secrets have certainly expired.
    await asyncio.sleep(EXPIRY_S + STEP_S)
    await broadcast_everywhere(scenario, rolled, "after")
    return await scenario.observe(RollsUnderTraffic)


async def broadcast_until_over(
    scenario: Scenario, rolling: Destination, stem: str, expiration: int
) -> tuple[ReceivedDelivery, ...]:
    """Events in steps until `expiration` is certainly over, and one more; what arrived of them.

    Raises PreconditionFailed if nothing did.
    """
    end = scenario.context.loop.time() + length_s(scenario, expiration) + EXPIRY_S + STEP_S
    number = 0
    while scenario.context.loop.time() < end:
        number += 1
        await scenario.broadcast(f"{stem} {number}")
        await asyncio.sleep(STEP_S)  # paces the load
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


async def broadcast_everywhere(
    scenario: Scenario, destinations: Sequence[Destination], name: str
) -> None:
    """Broadcast an event and wait for it at all these destinations."""
    event = await scenario.broadcast(name)
    await scenario.await_everywhere(destinations, event)


def length_s(scenario: Scenario, expiration: int) -> float:
    """How long an expiration lasts in the dialect's unit, in seconds."""
    return expiration * scenario.dialect.rolling.expiration_unit.in_seconds


def expiration_lasting(scenario: Scenario, seconds: float) -> int:
    """The smallest expiration that lasts as long, within the dialect's bounds."""
    wanted = math.ceil(seconds / scenario.dialect.rolling.expiration_unit.in_seconds)
    return min(wanted, scenario.dialect.requests.expiration_maximum)


def waitable_expiration(scenario: Scenario, seconds: float) -> int:
    """The smallest expiration that lasts as long, within the dialect's bounds.

    Raises PreconditionFailed if the dialect's unit is too long to be waited for.
    """
    expiration = expiration_lasting(scenario, seconds)
    if length_s(scenario, expiration) > PATIENCE_S[scenario.context.profile]:
        unit = scenario.dialect.rolling.expiration_unit
        raise PreconditionFailed(
            f"the dialect counts expiration in {unit}, and {expiration} of them are too long to be"
            " waited for; try the deep profile or a shorter unit"
        )
    return expiration
