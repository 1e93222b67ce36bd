"""Each broadcast is delivered, explained or lost; rate limits are judged in sliding windows."""

import pytest

from hookproof.load.ledger.balance import (
    Explanations,
    Limit,
    allowance_used,
    balance_endpoint,
    curve,
    most_in_window,
    pace,
)
from hookproof.load.ledger.sending import ACCEPTED, REFUSED, UNANSWERED, UNSENT
from hookproof.load.sidecar.api import ArrivedAt

UNEXPLAINED = Explanations(attempts=2, deactivate_after=0, excess_dropped=False)
A, R, U, N = ACCEPTED, REFUSED, UNANSWERED, UNSENT


def arrived(successes: list[int], failures: list[int] | None = None) -> ArrivedAt:
    failures = failures or [0] * len(successes)
    return ArrivedAt(
        successes=bytes(successes), failures=bytes(failures), arrived=sum(successes), times=()
    )


def test_an_accepted_broadcast_is_delivered_or_lost_by_name() -> None:
    account = balance_endpoint(
        bytes([A, A, A]), arrived([1, 0, 2, 0]), limited=False, explanations=UNEXPLAINED
    )
    assert (account.expected, account.delivered, account.lost, account.explained) == (3, 2, 1, 0)
    assert account.missing == (1,)


def test_what_is_missing_while_others_still_arrive_is_pending_and_not_lost() -> None:
    account = balance_endpoint(
        bytes([A, A, A]),
        arrived([1, 0, 0]),
        limited=False,
        explanations=UNEXPLAINED,
        missing_may_come=True,
    )
    assert (account.delivered, account.pending, account.lost, account.explained) == (1, 2, 0, 0)
    assert account.missing == (1, 2)


def test_what_was_refused_and_arrives_is_unexpected_and_what_was_unanswered_is_not() -> None:
    account = balance_endpoint(
        bytes([R, U, N, A]), arrived([1, 1, 1, 1]), limited=False, explanations=UNEXPLAINED
    )
    assert (account.refused_and_arrived, account.expected, account.delivered, account.lost) == (
        1,
        1,
        1,
        0,
    )


def test_a_delivery_that_used_up_its_attempts_is_explained_and_one_with_attempts_left_is_lost() -> (
    None
):
    account = balance_endpoint(
        bytes([A, A, A]),
        arrived([0, 0, 1], [2, 1, 2]),
        limited=False,
        explanations=UNEXPLAINED,
    )
    assert (account.explained, account.lost, account.delivered) == (1, 1, 1)


def test_an_endpoint_that_was_disabled_for_failing_is_owed_nothing_more() -> None:
    explanations = Explanations(attempts=2, deactivate_after=2, excess_dropped=False)
    account = balance_endpoint(
        bytes([A] * 4),
        arrived([1, 0, 0, 0], [0, 2, 2, 0]),
        limited=False,
        explanations=explanations,
    )
    assert (account.explained, account.lost) == (3, 0)
    account = balance_endpoint(
        bytes([A] * 4),
        arrived([1, 0, 1, 0], [0, 2, 0, 0]),
        limited=False,
        explanations=explanations,
    )
    assert (account.explained, account.lost) == (1, 1)


@pytest.mark.parametrize(("limited", "lost"), [(True, 0), (False, 1)])
def test_a_limit_that_drops_explains_what_is_missing_at_limited_endpoints_alone(
    limited: bool, lost: int
) -> None:
    explanations = Explanations(attempts=2, deactivate_after=0, excess_dropped=True)
    account = balance_endpoint(
        bytes([A, A]), arrived([1, 0]), limited=limited, explanations=explanations
    )
    assert (account.lost, account.explained) == (lost, 1 - lost)


LIMIT = Limit(most=2, window_s=1.0)


def test_the_highest_window_is_found_between_the_edges_of_any_clock() -> None:
    assert most_in_window([0.0, 0.9, 1.0, 1.1], LIMIT) == 3
    assert most_in_window([0.0, 0.5, 1.0, 1.5], LIMIT) == 2


def test_an_endpoint_that_gets_all_that_it_may_has_used_its_allowance() -> None:
    assert allowance_used([0.0, 0.0, 1.0, 1.0, 2.0, 2.0], LIMIT, 0.0) == pytest.approx(1.0)
    assert allowance_used([0.0, 1.0, 2.0], LIMIT, 0.0) == pytest.approx(0.5)
    assert allowance_used([], LIMIT, 0.0) is None


def test_an_endpoint_that_is_served_late_has_a_slower_pace() -> None:
    assert pace([1.0, 2.0], 0.0) == 1.0
    assert pace([3.0, 4.0], 0.0) == 0.5
    assert pace([], 0.0) == 0.0


def test_the_curve_shows_at_each_arrival_how_full_its_window_is() -> None:
    assert curve([10.0, 10.5, 10.6, 11.6], LIMIT, 10.0) == [(0.0, 1), (0.5, 2), (0.6, 3), (1.6, 1)]


def test_a_long_curve_is_thinned_and_keeps_its_peaks() -> None:
    times = [n * 0.6 for n in range(5000)]
    times.append(times[1234])
    points = curve(times, LIMIT, 0.0)
    assert len(points) <= 400
    assert max(count for _, count in points) == 3
