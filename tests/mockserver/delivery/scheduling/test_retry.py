"""When the next attempt is due, and which statuses succeed (section 1)."""

import random
from typing import Any

import pytest

from hookproof.mockserver.delivery.scheduling.retry import RetryRules, retry_after_s
from tests.mockserver.delivery.engines import dialect

NOW = 1_800_000_000.0


def rules(**answers: Any) -> RetryRules:
    return RetryRules(dialect(retry=answers).retry, lambda: NOW, random.Random(1))


def test_waits_grow_by_the_factor_up_to_the_longest() -> None:
    retry_rules = rules(attempts=6, initial_s=1, factor=3, maximum_s=10, jitter=0)
    assert [retry_rules.next_due(n, None) for n in range(1, 6)] == [
        NOW + wait for wait in (1, 3, 9, 10, 10)
    ]


def test_the_last_attempt_is_followed_by_none() -> None:
    assert rules(attempts=3).next_due(3, None) is None


def test_jitter_lengthens_a_wait_by_at_most_its_share() -> None:
    retry_rules = rules(attempts=5, initial_s=10, factor=1, jitter=0.5)
    waits = {retry_rules.next_due(1, None) - NOW for _ in range(200)}  # type: ignore[operator]
    assert len(waits) > 100
    assert min(waits) >= 10
    assert max(waits) <= 15


@pytest.mark.parametrize(
    ("retry_after", "wait"),
    [("7", 7), ("0", 1), ("100", 30), ("soon", 1), ("9" * 400, 30), ("-5", 1), ("²", 1), ("", 1)],
)
def test_retry_after_puts_off_within_its_bound_and_never_brings_forward(
    retry_after: str, wait: float
) -> None:
    retry_rules = rules(initial_s=1, jitter=0, retry_after="honoured", retry_after_maximum_s=30)
    assert retry_rules.next_due(1, retry_after) == NOW + wait


def test_retry_after_may_be_a_date() -> None:
    assert retry_after_s("Fri, 15 Jan 2027 08:00:10 GMT", NOW) == 10
    assert retry_after_s("Fri, 15 Jan 2027 07:00:00 GMT", NOW) == 0


def test_retry_after_is_ignored_where_the_dialect_says_so() -> None:
    assert rules(initial_s=1, jitter=0, retry_after="ignored").next_due(1, "7") == NOW + 1


@pytest.mark.parametrize(
    ("success", "delivered"), [("any_2xx", {200, 201, 204, 299}), ("only_200", {200})]
)
def test_the_dialect_says_which_statuses_succeed(success: str, delivered: set[int]) -> None:
    retry_rules = rules(success=success, redirect="failure")
    statuses = (101, 199, 200, 201, 204, 299, 300, 302, 304, 399, 400, 410, 429, 500, 599)
    assert {status for status in statuses if retry_rules.is_success(status)} == delivered


def test_the_dialect_says_whether_a_redirect_succeeds() -> None:
    assert rules(redirect="success").is_success(302)
    assert not rules(redirect="failure").is_success(302)
