"""The feed keeps a bounded number of changes and counts exactly what each reader missed."""

import asyncio
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookproof.receiver.dashboard.change_feed import MOST_FORGOTTEN, ChangeFeed, ChangeKind, Cursor
from hookproof.receiver.dashboard.event_stream import changed_deliveries


def feed(most: int = 100) -> ChangeFeed:
    epochs = count(1)
    return ChangeFeed(most_changes=most, new_epoch=lambda: f"{next(epochs):x}")


def sequences(source: ChangeFeed, cursor: Cursor, most: int = 1000) -> list[int]:
    return [change.sequence for change in source.read(cursor, most=most).changes]


def test_a_page_continues_from_its_cursor() -> None:
    source = feed()
    source.arrived("t", 1)
    source.arrived("t", 2)
    first = source.read(source.beginning(), most=1)
    assert [change.sequence for change in first.changes] == [1]
    assert sequences(source, first.cursor) == [2]


def test_a_page_that_is_too_slow_gets_how_many_deliveries_it_missed() -> None:
    source = feed(most=3)
    for sequence in range(1, 11):
        source.arrived("t", sequence)
    batch = source.read(source.beginning(), most=1000)
    assert [change.sequence for change in batch.changes] == [8, 9, 10]
    assert batch.skipped == 7


def test_answers_are_not_counted_as_missed_deliveries() -> None:
    source = feed(most=3)
    for sequence in range(1, 6):
        source.arrived("t", sequence)
        source.updated("t", sequence)
    batch = source.read(source.beginning(), most=1000)
    assert [(change.kind, change.sequence) for change in batch.changes] == [
        (ChangeKind.UPDATED, 4),
        (ChangeKind.ARRIVED, 5),
        (ChangeKind.UPDATED, 5),
    ]
    assert batch.skipped == 4


@given(
    most=st.integers(1, 12),
    steps=st.lists(
        st.one_of(st.sampled_from(["arrive", "update"]), st.integers(1, 5)), max_size=60
    ),
)
def test_what_is_shown_and_what_is_skipped_add_up_however_a_page_reads(
    most: int, steps: list[str | int]
) -> None:
    source, arrived, counted = feed(most), 0, 0
    cursor = source.beginning()
    for step in [*steps, 1000]:
        if step == "arrive":
            arrived += 1
            source.arrived("t", arrived)
        elif step == "update":
            source.updated("t", arrived)
        else:
            assert isinstance(step, int)
            batch = source.read(cursor, most=step)
            cursor = batch.cursor
            counted += batch.skipped + sum(
                change.kind is ChangeKind.ARRIVED for change in batch.changes
            )
    assert counted == arrived


def test_the_ring_never_grows() -> None:
    source = feed(most=50)
    for sequence in range(10_000):
        source.arrived("t", sequence)
    assert len(source._ring) == 50


def test_a_cursor_survives_being_written_and_read() -> None:
    source = feed()
    source.arrived("t", 1)
    cursor = source.read(source.beginning(), most=1).cursor
    assert Cursor.parse(str(cursor)) == cursor


@pytest.mark.parametrize(
    "text", ["", "x", "1-2", "1-2-3-4", "1--2-3", "g-1-2", "1-" + "9" * 40 + "-1", "1-²-3"]
)
def test_another_text_is_not_a_cursor(text: str) -> None:
    assert Cursor.parse(text) is None


def test_a_cursor_of_another_receiver_or_from_the_future_is_not_known() -> None:
    source = feed()
    source.arrived("t", 1)
    assert source.knows(Cursor(epoch="1", position=1, arrivals=1))
    assert not source.knows(Cursor(epoch="2", position=0, arrivals=0))
    assert not source.knows(Cursor(epoch="1", position=2, arrivals=1))
    assert not source.knows(Cursor(epoch="1", position=1, arrivals=2))


def test_what_a_token_forgot_is_left_out_and_what_came_after_it_stands() -> None:
    source = feed()
    source.arrived("t", 1)
    source.arrived("other", 1)
    source.forgotten(["t"])
    source.arrived("t", 1)
    source.updated("t", 1)
    assert changed_deliveries(source.read(source.beginning(), most=100).changes) == {
        ("other", 1): True,
        ("t", 1): True,
    }


def test_many_forgotten_tokens_make_every_page_start_again() -> None:
    source = feed()
    cursor = source.beginning()
    source.forgotten([str(number) for number in range(MOST_FORGOTTEN + 1)])
    assert not source.knows(cursor)


async def test_waiting_ends_with_the_next_change_and_with_the_feed() -> None:
    source = feed()
    for end in (
        lambda: source.arrived("t", 1),
        lambda: source.verdicts_changed("t"),
        source.close,
    ):
        cursor = source.read(source.beginning(), most=100).cursor
        waiting = asyncio.create_task(source.wait(cursor, timeout_s=30))
        await asyncio.wait([waiting], timeout=0)  # the task begins to wait
        assert not waiting.done()
        end()
        assert await waiting


async def test_waiting_ends_without_news_when_time_is_up() -> None:
    source = feed()
    result = await source.wait(source.beginning(), timeout_s=0)
    assert result is False
