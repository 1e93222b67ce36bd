"""Scenarios that are about to broadcast send one event together."""

import asyncio
from collections.abc import Sequence

import pytest

from hookproof.conformance.experiments.shared_broadcasts import SharedBroadcasts
from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.target.circuit_breaker import RunOver
from tests.conformance.canned_evidence import exchange


class Sender:
    """Notes the markers of each broadcast, and answers them, or raises."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.sent: list[list[str]] = []
        self.began = asyncio.Event()
        self._error = error

    async def __call__(self, markers: Sequence[str]) -> Exchange:
        self.sent.append(sorted(markers))
        self.began.set()
        if self._error is not None:
            raise self._error
        return exchange("shared", status=200 + len(self.sent))


async def test_what_waits_for_a_broadcast_gets_the_same_one() -> None:
    sender = Sender()
    shared = SharedBroadcasts(sender)
    answers = await asyncio.gather(*(shared.join(name, f"marker of {name}") for name in "abc"))
    assert sender.sent == [["marker of a", "marker of b", "marker of c"]]
    assert {answer.status for answer in answers} == {201}
    later = await shared.join("a", "another")
    assert sender.sent[1:] == [["another"]]
    assert later.status == 202
    await shared.close()


async def test_two_events_of_one_scenario_stay_two() -> None:
    sender = Sender()
    shared = SharedBroadcasts(sender)
    first, second, other = await asyncio.gather(
        shared.join("a", "first"), shared.join("a", "second"), shared.join("b", "other")
    )
    assert sender.sent == [["first", "other"], ["second"]]
    assert (first.status, second.status, other.status) == (201, 202, 201)
    await shared.close()


@pytest.mark.parametrize("error", [ValueError("no"), RunOver()])
async def test_an_error_is_one_of_each_that_waits(error: BaseException) -> None:
    shared = SharedBroadcasts(Sender(error))
    raised = await asyncio.gather(
        *(shared.join(name, name) for name in "ab"), return_exceptions=True
    )
    assert raised == [error, error]
    await shared.close()


async def test_who_no_longer_waits_takes_nobody_with_it() -> None:
    sender = Sender()
    shared = SharedBroadcasts(sender)
    gone = asyncio.create_task(shared.join("a", "a"))

    async def leave() -> None:
        gone.cancel()

    stays, _ = await asyncio.gather(shared.join("b", "b"), leave())
    assert stays.status == 201
    with pytest.raises(asyncio.CancelledError):
        await gone
    await shared.close()
