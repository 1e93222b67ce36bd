"""The sliding window (section 8): in no window more arrivals than the limit, and hardly fewer than it allows."""

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from mockserver.delivery.rate_limit import SLACK, SlidingWindow


def test_the_limit_is_free_at_once_and_then_closed() -> None:
    window = SlidingWindow(2, 1.0)
    window.start((1, 0))
    assert window.wait_s(0.0) == 0
    window.start((2, 0))
    window.over((1, 0), 0.1)
    assert window.wait_s(0.1) == 1.0


def test_places_of_requests_not_yet_written_open_at_no_known_time() -> None:
    window = SlidingWindow(1, 1.0)
    window.start((1, 0))
    assert window.wait_s(50.0) == inf


def test_an_unanswered_request_holds_its_place_for_a_window_and_a_little() -> None:
    window = SlidingWindow(1, 1.0)
    window.start((1, 0))
    window.written((1, 0), 10.0)
    assert round(window.wait_s(10.0), 6) == 1.0 + SLACK
    window.over((1, 0), 10.01)
    assert round(window.wait_s(10.01), 6) == 1.0


def test_a_retry_of_the_same_delivery_takes_a_place_of_its_own() -> None:
    window = SlidingWindow(2, 1.0)
    for attempts in range(2):
        window.start((1, attempts))
        window.over((1, attempts), 0.0)
    assert window.wait_s(0.5) == 0.5


def test_starts_of_an_earlier_process_count() -> None:
    window = SlidingWindow(2, 10.0)
    window.restore([-1.0, -0.5], now=0.0)
    assert window.wait_s(0.0) > 9.0 - 1e-9
    assert not window.empty(1.0)
    assert window.empty(10.0)


@given(
    limit=st.integers(1, 5),
    latencies=st.lists(st.tuples(st.floats(0, 3), st.floats(0, 1), st.floats(0, 3)), min_size=20, max_size=60),
)
def test_no_window_sees_more_arrivals_than_the_limit(limit: int, latencies: list[tuple[float, float, float]]) -> None:
    """Each attempt connects for a while, then its bytes travel for up to SLACK, then the answer takes its time."""
    window, now, arrivals = SlidingWindow(limit, 1.0), 0.0, []
    pending: list[tuple[float, int, str]] = []
    for number, (connect, travel, answer) in enumerate(latencies):
        while (wait := window.wait_s(now)) > 0:
            pending.sort()
            if pending and pending[0][0] <= now + wait:
                now, due, what = pending.pop(0)
                getattr(window, what)((due, 0), now)
            else:
                now += wait
        window.start((number, 0))
        written = now + connect
        arrivals.append(written + travel * SLACK)
        pending += [(written, number, "written"), (arrivals[-1] + answer, number, "over")]
    arrivals.sort()
    assert all(later - earlier > 1.0 - 1e-9 for earlier, later in zip(arrivals, arrivals[limit:], strict=False))
