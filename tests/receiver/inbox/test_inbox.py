"""The inbox keeps within memory and disk, reports what it dropped, and finds every burst."""

import asyncio
from array import array
from collections.abc import Collection
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookproof.receiver.clock import Clock
from hookproof.receiver.http.address import Address
from hookproof.receiver.http.request_handler import RequestHandler
from hookproof.receiver.http.server import listen
from hookproof.receiver.inbox.arrival import OVERHEAD_BYTES, DeliveryFilter
from hookproof.receiver.inbox.rate import rate_of
from hookproof.receiver.inbox.store import Inbox, InboxLimits, Observers, QueryResult
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


async def test_what_does_not_fit_in_memory_goes_to_disk_and_is_found_there() -> None:
    with new_inbox(deliveries=50, disk=10**6) as inbox:
        for number in range(2000):
            fill(inbox, f"t{number % 3}", b"%d" % number)
        assert len(inbox._in_memory) <= 50
        assert sum(len(log.in_memory) for log in inbox._logs.values()) == len(inbox._in_memory)
        result = await query_all(inbox, "t1", count=2)
    assert bodies(result) == [b"%d" % number for number in range(1, 2000, 3)]
    assert [kept.sequence for kept in result.deliveries] == list(range(1, 668))
    assert (result.dropped, result.complete, result.more) == (0, True, False)


async def test_what_does_not_fit_on_disk_is_dropped_and_counted() -> None:
    with new_inbox(deliveries=50, disk=100_000) as inbox:
        for number in range(1200):
            fill(inbox, "t", b"%d" % number)
        result = await query_all(inbox, "t")
    assert result.dropped > 0
    # The oldest are dropped in batches of 64: the disk stays nearly full.
    assert len(result.deliveries) > 900
    assert [kept.sequence for kept in result.deliveries] == list(range(result.dropped + 1, 1201))


async def test_an_answer_is_noted_with_a_delivery_that_went_to_disk_meanwhile() -> None:
    with new_inbox(deliveries=3, disk=10**6) as inbox:
        answered, left = arrival("t", b"1"), arrival("t", b"2")
        inbox.record(answered)
        inbox.record(left)
        fill(inbox, "t", *[b"later"] * 20)
        assert answered.place is not None
        inbox.complete(answered, status=503, at=11.0)
        inbox.close(left, at=12.0)
        first, second, third, *_ = (await query_all(inbox, "t")).deliveries
    assert (first.body, first.status, first.completed_monotonic) == (b"1", 503, 11.0)
    assert (second.body, second.status, second.closed_monotonic) == (b"2", None, 12.0)
    assert third.status is None


async def test_a_cleared_inbox_forgets_what_is_on_disk_and_late_answers_to_it() -> None:
    with new_inbox(deliveries=3, disk=10**6) as inbox:
        first = arrival("t", b"1")
        inbox.record(first)
        fill(inbox, "t", *[b"later"] * 20)
        inbox.clear()
        fill(inbox, "t", *[b"new"] * 20)
        inbox.complete(first, status=503, at=11.0)
        result = await query_all(inbox, "t")
    assert {(kept.body, kept.status) for kept in result.deliveries} == {(b"new", None)}
    assert len(result.deliveries) == 20


async def test_a_disk_that_fails_costs_the_deliveries_on_it_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with new_inbox(deliveries=3, disk=10**6) as inbox:
        fill(inbox, "t", *[b"1"] * 20)
        assert inbox._overflow is not None
        inbox._overflow.close()
        fill(inbox, "t", *[b"2"] * 20)
        result = await query_all(inbox, "t")
    assert result.dropped == 17 + 1  # all that was on disk, and what was on its way there
    assert [kept.sequence for kept in result.deliveries] == list(range(19, 41))
    assert "deliveries that no longer fit in memory are dropped" in caplog.text


def highest_by_trying_all(times: list[float], window_s: float) -> int:
    return max((sum(0 <= time - begin < window_s for time in times) for begin in times), default=0)


@given(st.lists(st.integers(0, 60)), st.integers(1, 30))
def test_the_highest_count_is_that_of_trying_every_window(times: list[int], window_s: int) -> None:
    exact = [float(time) for time in times]
    assert rate_of(array("d", exact), window_s).highest == highest_by_trying_all(exact, window_s)


@given(st.lists(st.floats(0, 100), min_size=1))
def test_first_last_and_total_are_reported_whatever_the_order(times: list[float]) -> None:
    rate = rate_of(array("d", times), 1.0, wall_ahead_s=1000.0, earlier=3)
    assert (rate.first_at, rate.last_at) == (min(times) + 1000.0, max(times) + 1000.0)
    assert (rate.total, rate.examined) == (len(times) + 3, len(times))
    assert sum(count for _, count in rate.per_second) == len(times)
    assert all(earlier < later for (earlier, _), (later, _) in pairwise(rate.per_second))


def test_a_burst_across_the_edge_of_a_second_is_seen_and_dated() -> None:
    rate = rate_of(array("d", [0.0, 10.9, 10.95, 11.0, 11.05, 11.9]), 1.0, wall_ahead_s=5.0)
    assert (rate.highest, rate.highest_at) == (4, pytest.approx(15.9))
    assert rate.per_second == ((5, 1), (15, 2), (16, 3))


def test_a_request_at_the_end_of_the_window_belongs_to_the_next() -> None:
    assert rate_of(array("d", [0.0, 1.0]), 1.0).highest == 1
    assert rate_of(array("d", [0.0, 0.5]), 1.0).highest == 2


def test_without_requests_there_is_no_time_to_report() -> None:
    rate = rate_of(array("d"), 1.0)
    assert (rate.highest, rate.highest_at, rate.first_at, rate.last_at, rate.per_second) == (
        0,
        None,
        None,
        None,
        (),
    )
