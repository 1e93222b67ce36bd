"""Ends the load that learning has caused, so that a run right after it meets a target at rest.

Each event that failed is attempted again, at every endpoint that is left. Where all are accepted at
last, no more than one attempt of each is still to come.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from hookproof.conformance.learning.deliveries.gathering import (
    FAILING,
    LIMITED,
    PATIENT,
    VISITED,
    longest_next_wait_s,
    spread_s,
)
from hookproof.conformance.learning.deliveries.listener import DeliverySession
from hookproof.conformance.model.evidence import PreconditionFailed
from hookproof.conformance.model.tolerances import BACKLOG_S
from hookproof.receiver.client.control_api import ReceiverClient, ReceiverFailed
from hookproof.receiver.inbox.delivery import ReceivedDelivery

# How long it is waited for at most, and how long after one look the next one comes, in seconds.
MOST_S: Final = 10.0
STEP_S: Final = 0.2

Sleep = Callable[[float], Awaitable[None]]


async def come_to_rest(delivery: DeliverySession) -> None:
    """Accept whatever comes, and wait for what is still to come."""
    if not delivery.session.target.receiver.can_be_trusted:
        return
    with suppress(ReceiverFailed, PreconditionFailed):  # what was learned is worth more
        await delivery.read_all()
        await wait_for_rest(delivery.receiver, _longest_wait_s(delivery))


async def wait_for_rest(
    receiver: ReceiverClient, longest_wait_s: float, sleep: Sleep = asyncio.sleep
) -> None:
    """Let the receiver accept everything, and return when nothing has come for a moment and each
    attempt that failed before may have been followed by another.
    """
    aborted = await receiver.accept_all()
    last_s_ago, waited_s = await receiver.last_arrival_s_ago(), 0.0
    failed_s_ago = 0.0 if aborted else last_s_ago or 0.0
    while last_s_ago is not None and waited_s < MOST_S:
        if failed_s_ago + waited_s >= longest_wait_s and last_s_ago >= BACKLOG_S:
            return
        await sleep(STEP_S)
        waited_s += STEP_S
        last_s_ago = await receiver.last_arrival_s_ago()


def _longest_wait_s(delivery: DeliverySession) -> float:
    """How long a next attempt may be waited for, of those that failed."""
    attempts: dict[tuple[str, bytes], list[ReceivedDelivery]] = {}
    for name, listener in delivery.listeners.items():
        if name.startswith(FAILING) or name in (VISITED, PATIENT, LIMITED):
            for each in listener.arrived:
                if each.body:  # not a visit
                    attempts.setdefault((name, each.body), []).append(each)
    is_known = delivery.session.answers.is_seen("retry.attempts")
    under_way_s = max(delivery.way_s, spread_s(delivery))
    return longest_next_wait_s(attempts.values(), may_grow=not is_known) + under_way_s
