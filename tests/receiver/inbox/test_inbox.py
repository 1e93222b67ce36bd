"""The inbox keeps within its limits and reports what it dropped for them."""

import asyncio
from collections.abc import Collection

import pytest

from hookproof.receiver.clock import Clock
from hookproof.receiver.http.address import Address
from hookproof.receiver.http.request_handler import RequestHandler
from hookproof.receiver.http.server import listen
from hookproof.receiver.inbox.arrival import OVERHEAD_BYTES, DeliveryFilter
from hookproof.receiver.inbox.observer import Observers
from hookproof.receiver.inbox.store import Inbox, InboxLimits, QueryResult
from tests.receiver.inbox.inbox_fixtures import (
    NOW,
    arrival,
    bodies,
    fill,
    make_sessions,
    new_inbox,
    query_all,
    wait_for_waiter,
)

ANY_PORT = Address(host="127.0.0.1", port=0)


async def test_the_oldest_deliveries_are_dropped_when_there_are_too_many_and_counted() -> None:
    with new_inbox(deliveries=3) as inbox:
        fill(inbox, "t", b"1", b"2", b"3", b"4", b"5")
        result = await query_all(inbox, "t", count=5)
    assert bodies(result) == [b"3", b"4", b"5"]
    assert [kept.sequence for kept in result.deliveries] == [3, 4, 5]
    assert (result.dropped, result.complete) == (2, True)


async def test_the_oldest_deliveries_are_dropped_when_they_are_too_large_and_counted() -> None:
    with new_inbox(memory=100 + 2 * OVERHEAD_BYTES) as inbox:
        fill(inbox, "t", b"x" * 60, b"y" * 40, b"z")
        result = await query_all(inbox, "t")
    assert bodies(result) == [b"y" * 40, b"z"]
    assert result.dropped == 1


async def test_room_is_made_across_tokens_and_each_reports_its_own_loss() -> None:
    with new_inbox(deliveries=3) as inbox:
        inbox.issue("old")
        fill(inbox, "old", b"1", b"2")
        fill(inbox, "new", b"3", b"4", b"5")
        assert bodies(await query_all(inbox, "new")) == [b"3", b"4", b"5"]
        assert (await query_all(inbox, "new")).dropped == 0
        result = await query_all(inbox, "old")
    assert (result.deliveries, result.dropped) == ((), 2)


async def test_what_was_dropped_before_a_query_begins_is_not_missing_from_it() -> None:
    with new_inbox(deliveries=2) as inbox:
        fill(inbox, "t", b"1", b"2", b"3")
        result = await query_all(inbox, "t", after=1)
    assert (bodies(result), result.dropped) == ([b"2", b"3"], 0)


async def test_tokens_that_nobody_issued_take_no_memory_once_they_are_empty() -> None:
    with new_inbox(deliveries=3) as inbox:
        for number in range(100):
            fill(inbox, f"unknown {number}", b"")
        assert len(inbox._logs) == 3
        result = await query_all(inbox, "unknown 99")
    assert len(result.deliveries) == 1


async def test_a_dropped_delivery_can_still_be_answered() -> None:
    with new_inbox(deliveries=1) as inbox:
        first = arrival("t")
        inbox.record(first)
        fill(inbox, "t", b"2")
        inbox.complete(first, status=200, at=11.0)
        result = await query_all(inbox, "t")
    assert [kept.status for kept in result.deliveries] == [None]


async def test_a_cleared_inbox_has_all_its_space_again() -> None:
    with new_inbox(deliveries=3, memory=100 + 3 * OVERHEAD_BYTES) as inbox:
        fill(inbox, "t", b"x" * 40, b"y" * 40, b"z" * 20)
        inbox.clear()
        assert (await query_all(inbox, "t")) == QueryResult(deliveries=(), complete=True, dropped=0)
        fill(inbox, "t", b"a" * 40, b"b" * 40, b"c" * 20)
        result = await query_all(inbox, "t")
    assert (bodies(result), result.dropped) == ([b"a" * 40, b"b" * 40, b"c" * 20], 0)


async def test_the_answer_to_a_forgotten_delivery_is_not_noted_with_another() -> None:
    with new_inbox() as inbox:
        forgotten = arrival("t", b"forgotten")
        inbox.record(forgotten)
        inbox.clear()
        fill(inbox, "t", b"another")
        inbox.complete(forgotten, status=200, at=11.0)
        result = await query_all(inbox, "t")
    (kept,) = result.deliveries
    assert (kept.body, kept.status) == (b"another", None)


async def test_an_answer_is_noted_with_its_delivery_alone() -> None:
    with new_inbox() as inbox:
        first = arrival("t")
        inbox.record(first)
        fill(inbox, "t", b"2")
        inbox.complete(first, status=503, at=11.0)
        result = await query_all(inbox, "t")
    assert [(kept.status, kept.completed_monotonic) for kept in result.deliveries] == [
        (503, 11.0),
        (None, None),
    ]


async def test_a_sender_that_left_is_noted_with_its_delivery_alone() -> None:
    with new_inbox() as inbox:
        first = arrival("t")
        inbox.record(first)
        fill(inbox, "t", b"2")
        inbox.close(first, at=11.0)
        result = await query_all(inbox, "t")
    assert [(kept.status, kept.closed_monotonic) for kept in result.deliveries] == [
        (None, 11.0),
        (None, None),
    ]


async def test_a_limit_leaves_the_later_ones_out_and_says_so() -> None:
    with new_inbox(deliveries=5, disk=10**6) as inbox:
        fill(inbox, "t", *[b"%d" % number for number in range(9)])
        whole = await inbox.wait("t", after=0, count=0, timeout_s=0, limit=9)
        assert (len(whole.deliveries), whole.more) == (9, False)
        result = await inbox.wait("t", after=3, count=0, timeout_s=0, limit=2)
    assert (bodies(result), result.more) == ([b"3", b"4"], True)


@pytest.mark.parametrize("in_memory", [1, 9])
async def test_a_page_ends_with_the_delivery_that_fills_it(in_memory: int) -> None:
    async def work(inbox: Inbox) -> list[tuple[int, bool]]:
        fill(inbox, "t", *[b"x" * 2 * 2**20 for _ in range(5)])
        pages, after, more = [], 0, True
        while more:
            page = await inbox.wait("t", after=after, count=0, timeout_s=0, most_bytes=5 * 2**20)
            after, more = page.deliveries[-1].sequence, page.more
            pages.append((len(page.deliveries), more))
        return pages

    seen: list[list[tuple[int, bool]]] = []

    with new_inbox(deliveries=in_memory, memory=10**9, disk=10**9) as inbox:
        seen.append(await work(inbox))
        await query_all(inbox, "t")
    assert seen == [[(3, True), (2, False)]]


@pytest.mark.parametrize(
    ("method", "header", "expected"),
    [
        ("post", None, [b"1", b"3"]),
        (None, "x-id", [b"2", b"3"]),
        (None, "X-ID: a", [b"2"]),
        (None, "x-id:", []),
        ("POST", "X-Id:b", [b"3"]),
    ],
)
async def test_a_filter_matches_by_method_and_header(
    method: str | None, header: str | None, expected: list[bytes]
) -> None:
    with new_inbox() as inbox:
        inbox.record(arrival("t", b"1"))
        inbox.record(arrival("t", b"2", "PUT", **{"X-Id": "a"}))
        inbox.record(arrival("t", b"3", **{"x-ID": "b"}))
        result = await inbox.wait(
            "t", after=0, count=0, timeout_s=0, delivery_filter=DeliveryFilter.parse(method, header)
        )
    assert bodies(result) == expected


async def test_waiting_with_a_filter_counts_only_matches() -> None:
    with new_inbox() as inbox:
        delivery_filter = DeliveryFilter.parse("PUT", None)
        waiting = asyncio.create_task(
            inbox.wait("t", after=0, count=2, timeout_s=30, delivery_filter=delivery_filter)
        )
        for method in ("PUT", "POST", "POST"):
            inbox.record(arrival("t", method=method))
        await wait_for_waiter(inbox, "t")
        assert not waiting.done()
        inbox.record(arrival("t", b"last", "PUT"))
        result = await waiting
    assert [kept.sequence for kept in result.deliveries] == [1, 4]
    assert result.complete


async def test_waiting_with_a_filter_goes_on_when_the_inbox_is_cleared() -> None:
    with new_inbox() as inbox:
        fill(inbox, "t", b"1", b"2", b"3")
        delivery_filter = DeliveryFilter.parse("PUT", None)
        waiting = asyncio.create_task(
            inbox.wait("t", after=0, count=1, timeout_s=30, delivery_filter=delivery_filter)
        )
        await wait_for_waiter(inbox, "t")
        inbox.clear()
        inbox.record(arrival("t", b"after", "PUT"))
        result = await waiting
    assert bodies(result) == [b"after"]
    assert result.complete


class RecordingObserver:
    def __init__(self) -> None:
        self.lines: list[object] = []

    def arrived(self, token: str, sequence: int) -> None:
        self.lines.append(("arrived", token, sequence))

    def updated(self, token: str, sequence: int) -> None:
        self.lines.append(("updated", token, sequence))

    def verdicts_changed(self, token: str) -> None:
        self.lines.append(("verdicts changed", token))

    def forgotten(self, tokens: Collection[str]) -> None:
        self.lines.append(("forgotten", *tokens))


def test_an_observer_is_notified_of_what_arrives_what_becomes_of_it_and_what_is_forgotten() -> None:
    observer, done = RecordingObserver(), list[tuple[int, int | None]]()
    observers = Observers(
        observers=(observer,),
        on_done=lambda delivery: done.append((delivery.sequence, delivery.status)),
    )
    inbox = Inbox(InboxLimits(deliveries=2, memory_bytes=10**6, disk_bytes=0), observers)
    first, second = arrival("t", b"1"), arrival("t", b"2")
    inbox.record(first)
    inbox.record(second)
    inbox.complete(first, status=200, at=11.0)
    inbox.close(second, at=12.0)
    inbox.drop("u", NOW)
    fill(inbox, "v", b"1", b"2")
    inbox.clear()
    assert observer.lines == [
        ("arrived", "t", 1),
        ("arrived", "t", 2),
        ("updated", "t", 1),
        ("updated", "t", 2),
        ("arrived", "u", 1),
        ("arrived", "v", 1),
        ("forgotten", "t"),
        ("arrived", "v", 2),
        ("forgotten", "u", "v"),
    ]
    assert done == [(1, 200), (2, None)]


@pytest.mark.parametrize("disk", [0, 10**6])
async def test_a_single_delivery_is_found_if_it_is_kept(disk: int) -> None:
    with new_inbox(deliveries=3, disk=disk) as inbox:
        fill(inbox, "t", b"1", b"2", b"3", b"4", b"5")
        assert inbox.find("t", 6) is None
        assert inbox.find("other", 1) is None
        deliveries = [inbox.find("t", sequence) for sequence in range(1, 6)]
        kept = [delivery.body if delivery else None for delivery in deliveries]
        oldest = [b"1", b"2"] if disk else [None, None]
        assert kept == [*oldest, b"3", b"4", b"5"]
        await query_all(inbox, "t")


async def test_gaps_are_counted_wherever_they_are() -> None:
    with new_inbox(deliveries=3) as inbox:
        fill(inbox, "t", b"1")
        inbox.drop("t", NOW)
        fill(inbox, "t", b"3")
        inbox.drop("t", NOW)
        assert (await query_all(inbox, "t")).dropped == 2
        assert (await query_all(inbox, "t", after=2)).dropped == 1
        fill(inbox, "t", b"5", b"6")
        assert inbox.counts("t") == (6, 3)
        result = await query_all(inbox, "t")
    assert (bodies(result), result.dropped) == ([b"3", b"5", b"6"], 3)


async def test_waiters_for_different_tokens_and_numbers_are_each_woken_in_time() -> None:
    with new_inbox() as inbox:
        waits = [("a", 1), ("a", 2), ("b", 1), ("b", 3)]
        waiting = [
            asyncio.create_task(inbox.wait(token, after=0, count=count, timeout_s=30))
            for token, count in waits
        ]
        await asyncio.wait(waiting, timeout=0)  # all of them begin to wait
        fill(inbox, "a", b"1", b"2")
        fill(inbox, "b", b"1")
        results = await asyncio.gather(*waiting[:3])
        assert all(result.complete for result in results)
        assert not waiting[3].done()
        fill(inbox, "b", b"2", b"3")
        assert bodies(await waiting[3]) == [b"1", b"2", b"3"]


async def test_a_body_that_never_ends_is_abandoned_and_counted_as_dropped() -> None:
    sessions = make_sessions(InboxLimits(deliveries=10, memory_bytes=1000, disk_bytes=0))
    handler = RequestHandler(sessions=sessions, clock=Clock())
    async with listen(handler, ANY_PORT, None, clock=Clock(), body_within_s=0.05) as address:
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(
            b"POST /t HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n"
        )
        assert await reader.readline() == b"HTTP/1.1 100 Continue\r\n"
        writer.write(b"1234")
        answer = await asyncio.wait_for(reader.read(), 30)
        writer.close()
        await writer.wait_closed()
        result = await query_all(sessions.default.inbox, "t", count=1)
    assert b" 400 Bad Request\r\n" in answer
    assert b"did not arrive completely within 0.05 s" in answer
    assert (result.deliveries, result.dropped, result.complete) == ((), 1, True)
