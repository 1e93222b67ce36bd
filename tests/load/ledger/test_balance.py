"""Accepted broadcasts are delivered, explained or lost, and nothing else."""

import pytest

from hookproof.load.ledger.balance import Explanations, balance_endpoint
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
