"""The wait for deliveries goes on while they arrive, and says why it ended."""

from collections.abc import Callable

import pytest

from hookproof.load.ledger.draining import Drain, DrainEnd, DrainWatch

STEP_S = 0.1
EXPECTED = 1000


def drained(
    arrived_by: Callable[[float], int],
    *,
    copies_by: Callable[[float], int] = lambda _second: 0,
    drain_s: float = 15.0,
    at_most_s: float = 75.0,
    pause_s: float = 0.0,
    some_never_come: bool = False,
) -> Drain:
    """Wait for a canned service: how many deliveries, and further copies, have arrived by when."""
    watch = DrainWatch(drain_s=drain_s, drain_at_most_s=at_most_s, pause_s=pause_s, now=0.0)
    step = 0
    while True:
        now = step * STEP_S
        end = watch.look(
            now,
            arrived=arrived_by(now) + copies_by(now),
            progressed=arrived_by(now),
            complete=arrived_by(now) >= EXPECTED,
            some_never_come=some_never_come,
        )
        if end is not None:
            return watch.over(end, now)
        step += 1


def test_a_service_that_has_delivered_everything_is_watched_for_duplicates_only() -> None:
    drain = drained(lambda second: EXPECTED if second >= 3 else 0)
    assert drain.end is DrainEnd.COMPLETE
    assert drain.waited_s == pytest.approx(4.5, abs=0.2)
    assert not drain.missing_may_come


def test_a_slow_service_is_waited_for_beyond_the_drain() -> None:
    drain = drained(lambda second: int(25 * second))
    assert drain.end is DrainEnd.COMPLETE
    assert drain.waited_s == pytest.approx(41.5, abs=0.3)


def test_a_service_that_is_too_slow_has_deliveries_pending_at_a_rate() -> None:
    drain = drained(lambda second: int(10 * second))
    assert drain.end is DrainEnd.STILL_ARRIVING
    assert drain.missing_may_come
    assert drain.waited_s == pytest.approx(75, abs=0.2)
    assert drain.arriving_rps == pytest.approx(10, rel=0.1)


def test_what_has_not_come_when_all_is_silent_is_lost_at_the_end_of_the_drain() -> None:
    drain = drained(lambda second: min(EXPECTED - 7, int(1000 * second)))
    assert (drain.end, drain.missing_may_come) == (DrainEnd.SILENT, False)
    assert drain.waited_s == pytest.approx(15, abs=0.2)


def test_a_service_that_falls_silent_after_the_drain_ends_the_wait_soon_after() -> None:
    drain = drained(lambda second: min(300, int(10 * second)))
    assert drain.end is DrainEnd.SILENT
    assert drain.waited_s == pytest.approx(38, abs=0.3)


def test_copies_alone_do_not_keep_the_wait_going() -> None:
    drain = drained(
        lambda second: min(900, int(1000 * second)), copies_by=lambda second: int(50 * second)
    )
    assert drain.end is DrainEnd.SILENT
    assert drain.waited_s == pytest.approx(15, abs=0.2)


def test_copies_without_end_do_not_keep_a_complete_run_waiting() -> None:
    drain = drained(lambda _second: EXPECTED, copies_by=lambda second: int(50 * second))
    assert drain.end is DrainEnd.COMPLETE
    assert drain.waited_s == pytest.approx(15, abs=0.2)


def test_a_service_that_delivers_in_batches_is_silent_between_them() -> None:
    drain = drained(lambda second: 200 * int(second / 13))
    assert drain.end is DrainEnd.COMPLETE
    assert drain.waited_s == pytest.approx(66.5, abs=0.3)


def test_the_pause_of_a_rate_limit_is_no_silence() -> None:
    def after_two_windows(second: float) -> int:
        return EXPECTED if second >= 29 else 0

    assert drained(after_two_windows, pause_s=15.0).end is DrainEnd.COMPLETE
    assert drained(after_two_windows).end is DrainEnd.SILENT


def test_where_some_never_come_silence_ends_the_drain_early() -> None:
    drain = drained(lambda _second: 500, some_never_come=True)
    assert drain.end is DrainEnd.SILENT
    assert drain.waited_s == pytest.approx(8, abs=0.2)


def test_a_run_that_does_not_wait_at_all_cannot_call_anything_lost() -> None:
    assert drained(lambda _second: 500, drain_s=0.0, at_most_s=0.0).missing_may_come
