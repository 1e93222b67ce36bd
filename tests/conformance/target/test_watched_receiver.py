"""What the receiver's client in a run reads again, and what it reads only once."""

import asyncio

import pytest

from hookproof.conformance.target.environment import WatchedReceiver
from hookproof.receiver.client.control_api import ReceiverClient
from hookproof.receiver.inbox.delivery import ReceivedDelivery
from hookproof.target.settings import ReceiverSettings
from tests.conformance.canned_evidence import delivery


def test_deliveries_that_have_ended_are_read_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    arrived = [
        delivery(sequence=1),
        delivery(sequence=2),
        delivery(sequence=3, completed_after=None),
    ]
    asked: list[tuple[int, int]] = []

    async def answer(
        _client: ReceiverClient, _token: str, count: int, _timeout_s: float, *, after: int
    ) -> tuple[ReceivedDelivery, ...]:
        asked.append((count, after))
        return tuple(each for each in arrived if each.sequence > after)

    monkeypatch.setattr(ReceiverClient, "deliveries", answer)
    receiver = WatchedReceiver("http://127.0.0.1:1", ReceiverSettings())
    assert asyncio.run(receiver.deliveries("token", 3)) == tuple(arrived)

    arrived[2] = delivery(sequence=3)
    arrived.append(delivery(sequence=4))
    assert asyncio.run(receiver.deliveries("token", 4)) == tuple(arrived)
    assert asyncio.run(receiver.deliveries("token", 1, after=3)) == (arrived[3],)
    assert asked == [(3, 0), (2, 2), (0, 4)]
