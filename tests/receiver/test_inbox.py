"""The inbox keeps within its bounds and says what it lost for them; bodies that never end are given up."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from aiohttp import web

from receiver.clock import Clock
from receiver.connection import Request, Server
from receiver.delivery import ReceivedDelivery
from receiver.inbox import Found, Inbox
from receiver.listener import Listener
from receiver.script import Scripts


def delivery(token: str, sequence: int, body: bytes = b"") -> ReceivedDelivery:
    return ReceivedDelivery(
        token=token,
        sequence=sequence,
        method="POST",
        path=f"/{token}",
        headers=(),
        body=body,
        arrived_at=1735689600.25,
        arrived_monotonic=10.5,
        completed_monotonic=None,
        peer_port=40000,
        client_certificate=None,
        status=None,
    )


def with_inbox(work: Callable[[Inbox], Awaitable[Found]], *, deliveries: int = 10, size: int = 1000) -> Found:
    async def run() -> Found:
        return await work(Inbox(most_deliveries=deliveries, most_bytes=size))

    return asyncio.run(run())


def fill(inbox: Inbox, token: str, *bodies: bytes) -> None:
    for body in bodies:
        inbox.record(token, lambda sequence, body=body: delivery(token, sequence, body))


async def everything(inbox: Inbox, token: str, *, after: int = 0, count: int = 0) -> Found:
    return await inbox.wait(token, after=after, count=count, timeout_s=0)


def bodies(found: Found) -> list[bytes]:
    return [kept.body for kept in found.deliveries]


def test_the_oldest_deliveries_are_dropped_when_there_are_too_many_and_counted() -> None:
    async def work(inbox: Inbox) -> Found:
        fill(inbox, "t", b"1", b"2", b"3", b"4", b"5")
        return await everything(inbox, "t", count=5)

    found = with_inbox(work, deliveries=3)
    assert bodies(found) == [b"3", b"4", b"5"]
    assert [kept.sequence for kept in found.deliveries] == [3, 4, 5]
    assert (found.dropped, found.complete) == (2, True)


def test_the_oldest_deliveries_are_dropped_when_they_are_too_large_and_counted() -> None:
    async def work(inbox: Inbox) -> Found:
        fill(inbox, "t", b"x" * 60, b"y" * 40, b"z")
        return await everything(inbox, "t")

    found = with_inbox(work, size=100)
    assert bodies(found) == [b"y" * 40, b"z"]
    assert found.dropped == 1


def test_room_is_made_across_tokens_and_each_is_told_its_own_loss() -> None:
    async def work(inbox: Inbox) -> Found:
        inbox.issue("old")
        fill(inbox, "old", b"1", b"2")
        fill(inbox, "new", b"3", b"4", b"5")
        assert bodies(await everything(inbox, "new")) == [b"3", b"4", b"5"]
        assert (await everything(inbox, "new")).dropped == 0
        return await everything(inbox, "old")

    found = with_inbox(work, deliveries=3)
    assert (found.deliveries, found.dropped) == ((), 2)


def test_what_was_dropped_before_a_query_begins_is_not_missing_from_it() -> None:
    async def work(inbox: Inbox) -> Found:
        fill(inbox, "t", b"1", b"2", b"3")
        return await everything(inbox, "t", after=1)

    found = with_inbox(work, deliveries=2)
    assert (bodies(found), found.dropped) == ([b"2", b"3"], 0)


def test_tokens_that_nobody_issued_take_up_no_room_once_they_are_empty() -> None:
    async def work(inbox: Inbox) -> Found:
        for number in range(100):
            fill(inbox, f"made up {number}", b"")
        assert len(inbox._trays) == 3
        return await everything(inbox, "made up 99")

    assert len(with_inbox(work, deliveries=3).deliveries) == 1


def test_a_dropped_delivery_can_be_answered_still() -> None:
    async def work(inbox: Inbox) -> Found:
        first = inbox.record("t", lambda sequence: delivery("t", sequence))
        fill(inbox, "t", b"2")
        inbox.complete(first, status=200, at=11.0)
        return await everything(inbox, "t")

    assert [kept.status for kept in with_inbox(work, deliveries=1).deliveries] == [None]


def test_a_cleared_inbox_has_all_its_room_again() -> None:
    async def work(inbox: Inbox) -> Found:
        fill(inbox, "t", b"x" * 40, b"y" * 40, b"z" * 20)
        inbox.clear()
        assert (await everything(inbox, "t")) == Found(deliveries=(), complete=True, dropped=0)
        fill(inbox, "t", b"a" * 40, b"b" * 40, b"c" * 20)
        return await everything(inbox, "t")

    found = with_inbox(work, deliveries=3, size=100)
    assert (bodies(found), found.dropped) == ([b"a" * 40, b"b" * 40, b"c" * 20], 0)


def test_the_answer_to_a_forgotten_delivery_is_not_noted_with_another() -> None:
    async def work(inbox: Inbox) -> Found:
        forgotten = inbox.record("t", lambda sequence: delivery("t", sequence, b"forgotten"))
        inbox.clear()
        fill(inbox, "t", b"another")
        inbox.complete(forgotten, status=200, at=11.0)
        return await everything(inbox, "t")

    (kept,) = with_inbox(work).deliveries
    assert (kept.body, kept.status) == (b"another", None)


def test_an_answer_is_noted_with_its_delivery_alone() -> None:
    async def work(inbox: Inbox) -> Found:
        first = inbox.record("t", lambda sequence: delivery("t", sequence))
        fill(inbox, "t", b"2")
        inbox.complete(first, status=503, at=11.0)
        return await everything(inbox, "t")

    found = with_inbox(work)
    assert [(kept.status, kept.completed_monotonic) for kept in found.deliveries] == [(503, 11.0), (None, None)]


def test_a_sender_that_left_is_noted_with_its_delivery_alone() -> None:
    async def work(inbox: Inbox) -> Found:
        first = inbox.record("t", lambda sequence: delivery("t", sequence))
        fill(inbox, "t", b"2")
        inbox.close(first, at=11.0)
        return await everything(inbox, "t")

    found = with_inbox(work)
    assert [(kept.status, kept.closed_monotonic) for kept in found.deliveries] == [(None, 11.0), (None, None)]


def test_waiters_for_different_tokens_and_numbers_are_each_woken_in_time() -> None:
    async def work(inbox: Inbox) -> Found:
        waits = [("a", 1), ("a", 2), ("b", 1), ("b", 3)]
        waiting = [asyncio.create_task(inbox.wait(token, after=0, count=count, timeout_s=30)) for token, count in waits]
        await asyncio.wait(waiting, timeout=0)
        fill(inbox, "a", b"1", b"2")
        fill(inbox, "b", b"1")
        found = await asyncio.gather(*waiting[:3])
        assert all(one.complete for one in found)
        assert not waiting[3].done()
        fill(inbox, "b", b"2", b"3")
        return await waiting[3]

    assert bodies(with_inbox(work)) == [b"1", b"2", b"3"]


def test_a_sender_that_is_gone_when_the_answer_is_written_causes_no_fault(caplog: pytest.LogCaptureFixture) -> None:
    async def gone(request: Request) -> web.StreamResponse:
        raise ConnectionResetError

    async def run() -> bytes:
        runner = web.ServerRunner(Server(gone, Clock()))
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            reader, writer = await asyncio.open_connection(*runner.addresses[0])
            writer.write(b"POST /t HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
            answer = await asyncio.wait_for(reader.read(), 30)
            writer.close()
            await writer.wait_closed()
            return answer
        finally:
            await runner.cleanup()

    assert asyncio.run(run()) == b""
    assert caplog.records == []


def test_a_body_that_never_ends_is_given_up_and_counted_as_dropped() -> None:
    async def run() -> tuple[bytes, Found]:
        inbox = Inbox(most_deliveries=10, most_bytes=1000)
        listener = Listener(inbox=inbox, scripts=Scripts(), clock=Clock(), body_within_s=0.05)
        runner = web.ServerRunner(listener.server())
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            reader, writer = await asyncio.open_connection(*runner.addresses[0])
            # A chunk size that is none: aiohttp's parser stops here without a word to the handler.
            writer.write(b"POST /t HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n")
            assert await reader.readline() == b"HTTP/1.1 100 Continue\r\n"
            writer.write(b"zz\r\n")
            answer = await asyncio.wait_for(reader.read(), 30)
            writer.close()
            await writer.wait_closed()
            return answer, await everything(inbox, "t", count=1)
        finally:
            await runner.cleanup()

    answer, found = asyncio.run(run())
    assert b" 400 Bad Request\r\n" in answer
    assert (found.deliveries, found.dropped, found.complete) == ((), 1, True)
