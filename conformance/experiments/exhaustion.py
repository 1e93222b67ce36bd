"""Deliveries that fail until they are given up: how many attempts, who is told, what becomes of the endpoint?

Sections 1, 3 and 6. The last event is the one after which the dialect disables the endpoint, if it ever does.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from conformance.dispatch import Destination, Event
from conformance.evidence import Case
from conformance.experiments.bench import Bench, Obstacle, experiment
from conformance.experiments.scene import Scene, played
from conformance.experiments.waiting import MARGIN_S, waits
from conformance.notification import tells_of
from conformance.schedule import wait_before
from conformance.tolerance import LATE_S
from receiver.script import Reply
from spec.dialect import Dialect, Undecided

MOST_EVENTS: Final = 10
"""The most exhausted deliveries that are made to see an endpoint disabled."""


@experiment("exhaustion", alone=True)
async def exhaustion(bench: Bench) -> AsyncIterator[Case]:
    """Broadcast to an endpoint that always fails, until it is disabled or once."""
    async for case in played(bench, {"always failing": always_failing}):
        yield case


async def always_failing(scene: Scene) -> Case:
    """All events but the last, a look at the endpoint, the last event, and another look."""
    retry = scene.dialect.retry
    if not retry.attempts.decided:
        raise Obstacle("the dialect does not decide how often a delivery is attempted")
    schedule_s = sum(waits(scene, retry.attempts.value))
    after = retry.deactivate_after.value if retry.deactivate_after.decided else 0
    if after > MOST_EVENTS:
        raise Obstacle(
            f"an endpoint is disabled only after {after} exhausted deliveries; at most {MOST_EVENTS} are made"
        )
    chat = await scene.bench.receiver.new_token()
    failing = await scene.destination("failing", replies=[Reply(status=500)], slack_webhook_url=chat.url)
    earlier = [await scene.broadcast(f"event {number}") for number in range(1, max(after, 1))]
    await await_exhaustion(scene, failing, earlier, schedule_s)
    await look(scene, failing, "before")
    last = await scene.broadcast("event")
    await await_exhaustion(scene, failing, [last], schedule_s)
    await asyncio.sleep(wait_before(retry, retry.attempts.value + 1).longest_s)
    await scene.quiet()
    await look(scene, failing, "after")
    exhausted = len(earlier) + 1
    # A service may take its time to tell; a message that is not to come is not waited for any longer.
    messages = awaited_messages(scene.dialect, exhausted)
    await scene.trial.arrivals(chat.token, count=messages, timeout_s=scene.bench.budgets.delivery_s * messages)
    return await scene.case(chat=chat.token, exhausted=exhausted)


def awaited_messages(dialect: Dialect, exhausted: int) -> int:
    """How many messages to the chat channel are worth waiting for: one or none."""
    try:
        return int(tells_of(dialect, exhausted))
    except Undecided:  # nothing will be judged
        return 0


async def await_exhaustion(scene: Scene, destination: Destination, sent: list[Event], schedule_s: float) -> None:
    """Wait until the last attempt at each event is over."""
    attempts = scene.dialect.retry.attempts.value
    patience_s = scene.bench.budgets.delivery_s + schedule_s + LATE_S
    await scene.await_arrival(destination, *sent, count=attempts, timeout_s=patience_s)
    await asyncio.sleep(MARGIN_S)


async def look(scene: Scene, destination: Destination, role: str) -> None:
    """Fetch the endpoint, whose state shows in its status (section 3)."""
    await scene.trial.call("getEndpoint", role=role, path={"endpointID": destination.uid})
