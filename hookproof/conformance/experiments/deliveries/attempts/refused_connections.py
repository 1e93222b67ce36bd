"""A port that is closed at first: is a delivery whose connection was refused attempted again?

Nobody sees an attempt that was refused. An endpoint that fails once shows when the attempts at an
event were made, the first and the next one, and a later event that the port is open.
"""

import asyncio
from typing import Final

from hookproof.conformance.experiments.deliveries.retry_waiting import wait_for_another
from hookproof.conformance.experiments.deliveries.security.certificates import (
    at_listener,
    faulty_listeners,
)
from hookproof.conformance.experiments.scenario import Scenario
from hookproof.conformance.model.evidence import PreconditionFailed
from hookproof.conformance.model.retry_schedule import wait_before
from hookproof.conformance.model.tolerances import LATE_S
from hookproof.conformance.observations.delivery.attempts.refused_connections import (
    BESIDE,
    CLOSED,
    EVENT,
    OPENED,
    RefusedConnection,
)
from hookproof.receiver.replies.script import Reply

# How long an attempt at the closed port may take longer than that beside it, in seconds.
MOMENT_S: Final = 1.0


async def refused_connection(scenario: Scenario) -> RefusedConnection:
    """One event while the port is closed, and one as soon as it is open."""
    latest_s = wait_for_another(scenario.context)
    if latest_s is None:
        raise PreconditionFailed(
            "the dialect says that no second attempt follows, does not decide when, or it is too"
            " long to wait"
        )
    again_s = wait_before(scenario.dialect.retry, 2).shortest_s
    await faulty_listeners(scenario)
    receiver = scenario.context.receiver
    reserved = await receiver.reserve_port()
    closed = await at_listener(scenario, CLOSED, reserved.url)
    # The last to be created: it misses what only new endpoints miss, and nothing is judged then.
    beside = await scenario.destination(BESIDE, replies=[Reply(status=500), Reply()])
    event = await scenario.broadcast(EVENT)
    await scenario.await_arrival(beside, event)
    # The dialect's own time: a second attempt is not due before.
    await asyncio.sleep(min(MOMENT_S, again_s / 2))
    await receiver.open_port(reserved.port)
    await scenario.await_arrival(closed, await scenario.broadcast(OPENED))
    patience_s = latest_s + scenario.context.distant(LATE_S)
    await asyncio.gather(
        scenario.await_arrival(closed, event, timeout_s=patience_s),
        scenario.await_arrival(beside, event, count=2, timeout_s=patience_s),
    )
    return await scenario.observe(RefusedConnection, again_s=again_s)
