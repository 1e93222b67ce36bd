"""Secrets that are rolled several times: which of them sign, and until when (section 4.3)?

Each roll has a window of its own, long enough that a tenth of it is more than the time around its
end in which nothing is judged, and so much longer or shorter than those before that a roll which
gives its end to what they replaced shows. Broadcasts follow each roll, and stand shortly before and
after each end.
"""

import asyncio
from typing import Final

from hookproof.conformance.experiments.deliveries.security.expirations import (
    broadcast_everywhere,
    expiration_lasting,
    length_s,
)
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.model.tolerances import EXPIRY_S
from hookproof.conformance.observations.delivery.security.secret_roll import RollsUnderTraffic
from hookproof.conformance.observations.destinations import Destination

# The windows in the order of the rolls, in seconds.
WINDOWS_S: Final = (14.0, 17.0, 15.0, 16.0)
# The longest window that is waited out. Where the dialect's unit is longer, only what follows each
# roll at once is seen.
LONGEST_S: Final = 20.0
# How far from the time in which nothing is judged an event is sent: its arrival takes a moment.
STEP_S: Final = 0.15


async def several_rolls(scenario: Scenario) -> RollsUnderTraffic:
    """Four rolls in each format, before an endpoint that keeps its secret."""
    rolling = [
        await scenario.destination("advanced", advanced_signatures=True),
        await scenario.destination("simple", advanced_signatures=False),
    ]
    await scenario.destination("created after")
    await broadcast_everywhere(scenario, rolling, "before")
    for number, window_s in enumerate(WINDOWS_S, start=1):
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
            before = answer.sent_at + lasts_s - EXPIRY_S - STEP_S
            after = answer.sent_at + answer.duration_s + lasts_s + EXPIRY_S + STEP_S
            times += [before, after]
    return sorted(times)
