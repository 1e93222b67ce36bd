"""The sliding window (section 8): never more arrivals than the limit, and hardly fewer."""

from heapq import heappop, heappush
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookproof.mockserver.delivery.scheduling.rate_limit import LATEST, MARGIN, SlidingWindow


def run_attempt(window: SlidingWindow, number: int, written: float, answer: float) -> None:
    window.start((number, 0))
    window.mark_sent((number, 0), written)
    window.end((number, 0), answer, answered=True)


def test_the_limit_may_be_used_at_once() -> None:
    window = SlidingWindow(2, 1.0)
    window.start((1, 0))
    assert window.wait_s(0.0) == 0
    window.start((2, 0))
    window.end((1, 0), 0.1, answered=False)
    assert window.wait_s(0.1) == 1.0


def test_requests_not_yet_written_count_without_end() -> None:
    window = SlidingWindow(1, 1.0)
    window.start((1, 0))
    assert window.wait_s(50.0) == inf


def test_an_unanswered_request_counts_for_a_window_and_a_share() -> None:
    window = SlidingWindow(1, 1.0)
    window.start((1, 0))
    window.mark_sent((1, 0), 10.0)
    assert round(window.wait_s(10.0), 6) == 1.0 + LATEST
    window.end((1, 0), 10.01, answered=True)
    assert round(window.wait_s(10.01), 6) == 1.0


def test_a_request_whose_answer_takes_as_long_as_usual_was_read_at_once() -> None:
    window = SlidingWindow(2, 1.0)
    for number in range(2):  # the first burst sets the usual response time
        run_attempt(window, number, 0.0, 0.5)
    for number in range(2, 4):
        run_attempt(window, number, 2.0, 2.5)
    assert round(window.wait_s(2.5), 6) == 0.5 + MARGIN


def test_what_an_answer_took_longer_than_usual_may_have_passed_before_the_request_was_read() -> (
    None
):
    window = SlidingWindow(2, 1.0)
    for number in range(2):
        run_attempt(window, number, 0.0, 0.5)
    for number in range(2, 4):
        run_attempt(window, number, 2.0, 2.7)
    assert round(window.wait_s(2.7), 6) == 0.5 + MARGIN


@pytest.mark.parametrize("first", [0.1, 0.5])
def test_the_usual_response_time_is_unknown_before_a_burst_was_answered(first: float) -> None:
    window = SlidingWindow(2, 1.0)
    for number in range(2):
        run_attempt(window, number, 0.0, first)
    assert round(window.wait_s(first), 6) == 1.0


def test_an_endpoint_that_answers_after_more_than_a_window_gets_the_limit() -> None:
    window = SlidingWindow(1, 1.0)
    run_attempt(window, 1, 0.0, 3.0)
    window.start((2, 0))
    window.mark_sent((2, 0), 10.0)
    assert round(window.wait_s(10.0), 6) == 1.0 + MARGIN


def test_a_retry_of_the_same_delivery_counts_as_well() -> None:
    window = SlidingWindow(2, 1.0)
    for attempts in range(2):
        window.start((1, attempts))
        window.end((1, attempts), 0.0, answered=False)
    assert window.wait_s(0.5) == 0.5


def test_attempts_of_an_earlier_process_count() -> None:
    window = SlidingWindow(2, 10.0)
    window.restore([-1.0, -0.5])
    assert window.wait_s(0.0) == 9.0
    assert not window.is_empty(9.25)
    assert window.is_empty(9.5)


def simulate(
    limit: int, attempts: list[tuple[float, float, float]], end: float = inf
) -> list[float]:
    """Start attempts as soon as the window allows and return when their requests arrive.

    Each attempt is the times to connect, to transfer the request and to answer it. `end` is the
    time of the last arrival.
    """
    window, now, arrivals = SlidingWindow(limit, 1.0), 0.0, []
    pending: list[tuple[float, int, str]] = []
    for number, (connect, travel, work) in enumerate(attempts):
        while (wait := window.wait_s(now)) > 0:
            if pending and pending[0][0] <= now + wait:
                now, due, event = heappop(pending)
                if event == "sent":
                    window.mark_sent((due, 0), now)
                else:
                    window.end((due, 0), now, answered=True)
            else:
                now += wait
        if now > end:
            break
        window.start((number, 0))
        arrivals.append(now + connect + travel)
        heappush(pending, (now + connect, number, "sent"))
        heappush(pending, (arrivals[-1] + work, number, "ended"))
    return sorted(arrivals)


def exceeds_limit(arrivals: list[float], limit: int) -> bool:
    return any(
        last - first < 1.0 - 1e-9 for first, last in zip(arrivals, arrivals[limit:], strict=False)
    )


@given(
    limit=st.integers(1, 5),
    attempts=st.lists(
        st.tuples(st.floats(0, 3), st.floats(0, MARGIN), st.floats(0, 4)), min_size=20, max_size=60
    ),
)
def test_no_window_sees_more_than_the_limit_however_long_answers_take(
    limit: int, attempts: list[tuple[float, float, float]]
) -> None:
    """A receiver that reads within the margin, and whose response time varies."""
    assert not exceeds_limit(simulate(limit, attempts), limit)


@given(
    limit=st.integers(2, 5),
    work=st.floats(0, 0.9),
    attempts=st.lists(st.tuples(st.floats(0, 3), st.floats(0, 0.45)), min_size=20, max_size=60),
)
def test_no_window_sees_more_than_the_limit_when_requests_lie_unread(
    limit: int, work: float, attempts: list[tuple[float, float]]
) -> None:
    """A receiver that answers after a fixed time, and reads only one of each burst at once."""
    unread = [
        (connect, late if number % limit else 0.0, work)
        for number, (connect, late) in enumerate(attempts)
    ]
    assert not exceeds_limit(simulate(limit, unread), limit)


@pytest.mark.parametrize("work", [0.001, 0.02, 0.1, 0.5, 0.95, 1.0, 1.5, 7.0])
@pytest.mark.parametrize("limit", [1, 10])
def test_a_constant_response_time_gets_95_percent_of_the_limit(limit: int, work: float) -> None:
    seconds = 40
    arrivals = simulate(limit, [(0.0, 0.001, work)] * (limit * seconds * 2), end=3.0 * seconds)
    settled = [arrival for arrival in arrivals if arrival >= arrivals[0] + 2 * (1 + work)]
    span = [arrival for arrival in settled if arrival < settled[0] + seconds]
    assert len(span) >= 0.95 * limit * seconds
    assert not exceeds_limit(arrivals, limit)
