"""What does not fit in memory goes to disk; what does not fit there is dropped and counted."""

import pytest

from tests.receiver.inbox.inbox_fixtures import (
    arrival,
    bodies,
    fill,
    new_inbox,
    query_all,
)


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
        for number in range(2000):
            fill(inbox, "t", b"%d" % number)
        result = await query_all(inbox, "t")
    assert result.dropped > 0
    assert len(result.deliveries) > 50
    assert [kept.sequence for kept in result.deliveries] == list(range(result.dropped + 1, 2001))


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
