"""What does not fit in memory goes to disk; what does not fit there is dropped and counted."""

import pytest

from hookproof.receiver.inbox.store import Inbox, QueryResult
from tests.receiver.inbox.inbox_fixtures import arrival, bodies, fill, query_all, with_inbox


def test_what_does_not_fit_in_memory_goes_to_disk_and_is_found_there() -> None:
    async def work(inbox: Inbox) -> QueryResult:
        for number in range(2000):
            fill(inbox, f"t{number % 3}", b"%d" % number)
        assert len(inbox._in_memory) <= 50
        assert sum(len(log.in_memory) for log in inbox._logs.values()) == len(inbox._in_memory)
        return await query_all(inbox, "t1", count=2)

    result = with_inbox(work, deliveries=50, disk=10**6)
    assert bodies(result) == [b"%d" % number for number in range(1, 2000, 3)]
    assert [kept.sequence for kept in result.deliveries] == list(range(1, 668))
    assert (result.dropped, result.complete, result.more) == (0, True, False)


def test_what_does_not_fit_on_disk_is_dropped_and_counted() -> None:
    async def work(inbox: Inbox) -> QueryResult:
        for number in range(2000):
            fill(inbox, "t", b"%d" % number)
        return await query_all(inbox, "t")

    result = with_inbox(work, deliveries=50, disk=100_000)
    assert result.dropped > 0
    assert len(result.deliveries) > 50
    assert [kept.sequence for kept in result.deliveries] == list(range(result.dropped + 1, 2001))


def test_an_answer_is_noted_with_a_delivery_that_went_to_disk_meanwhile() -> None:
    async def work(inbox: Inbox) -> QueryResult:
        first, second = arrival("t", b"1"), arrival("t", b"2")
        inbox.record(first)
        inbox.record(second)
        fill(inbox, "t", *[b"later"] * 20)
        assert first.place is not None
        inbox.complete(first, status=503, at=11.0)
        inbox.close(second, at=12.0)
        return await query_all(inbox, "t")

    first, second, third, *_ = with_inbox(work, deliveries=3, disk=10**6).deliveries
    assert (first.body, first.status, first.completed_monotonic) == (b"1", 503, 11.0)
    assert (second.body, second.status, second.closed_monotonic) == (b"2", None, 12.0)
    assert third.status is None


def test_a_cleared_inbox_forgets_what_is_on_disk_and_late_answers_to_it() -> None:
    async def work(inbox: Inbox) -> QueryResult:
        first = arrival("t", b"1")
        inbox.record(first)
        fill(inbox, "t", *[b"later"] * 20)
        inbox.clear()
        fill(inbox, "t", *[b"new"] * 20)
        inbox.complete(first, status=503, at=11.0)
        return await query_all(inbox, "t")

    result = with_inbox(work, deliveries=3, disk=10**6)
    assert {(kept.body, kept.status) for kept in result.deliveries} == {(b"new", None)}
    assert len(result.deliveries) == 20


def test_a_disk_that_fails_costs_the_deliveries_on_it_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def work(inbox: Inbox) -> QueryResult:
        fill(inbox, "t", *[b"1"] * 20)
        assert inbox._overflow is not None
        inbox._overflow.close()
        fill(inbox, "t", *[b"2"] * 20)
        return await query_all(inbox, "t")

    result = with_inbox(work, deliveries=3, disk=10**6)
    assert result.dropped == 17 + 1  # all that was on disk, and what was on its way there
    assert [kept.sequence for kept in result.deliveries] == list(range(19, 41))
    assert "deliveries that no longer fit in memory are dropped" in caplog.text
