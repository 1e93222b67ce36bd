"""How late a receiver says that it was, since its arrivals are noticed late then."""

import asyncio
from collections.abc import Mapping
from typing import Any

from hookproof.process.lateness import STEP_S
from hookproof.receiver.client.control_api import ReceiverClient
from tests.receiver.receiver_thread import receiver_thread

BLOCKED_S = 0.5


def test_a_receiver_whose_loop_was_blocked_says_how_late_it_was() -> None:
    async def run(control: str) -> None:
        async with ReceiverClient(control) as client:
            token = (await client.new_token()).token
            assert client.late_s(token) == 0.0  # nobody has asked
            receiver.block(BLOCKED_S)
            assert await client.deliveries(token, 0, 0.0) == ()
            assert client.late_s(token) >= BLOCKED_S - STEP_S
            later = (await client.new_token()).token
            await client.deliveries(later, 0, 0.0)
            await client.deliveries(token, 0, 0.0)
            assert client.late_s(later) <= client.late_s(token)

    with receiver_thread() as receiver:
        asyncio.run(run(receiver.control))


class OlderReceiver(ReceiverClient):
    """A receiver that does not say how late it was."""

    async def call(self, *_arguments: Any, **_content: Any) -> Mapping[str, Any]:
        return {"deliveries": [], "complete": True, "dropped": 0, "more": False}


def test_a_receiver_that_does_not_say_it_counts_as_punctual() -> None:
    client = OlderReceiver("http://receiver.invalid")
    asyncio.run(client.deliveries("token", 0, 0.0))
    assert client.late_s("token") == 0.0
