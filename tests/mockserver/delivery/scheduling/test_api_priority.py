"""The engine gives way to the API, and never stands still for it."""

import asyncio
from collections.abc import Sequence
from itertools import count
from math import inf

from hookproof.mockserver.delivery.scheduling.api_priority import (
    IN_PROGRESS,
    LINGERS_S,
    STEP,
    Courtesy,
)
from hookproof.mockserver.delivery.store_port import Start
from tests.mockserver.delivery.endpoints import Authority, always_ok, serving
from tests.mockserver.delivery.engines import engine
from tests.mockserver.delivery.memory_store import MemoryStore, settings


def test_without_requests_any_number_of_attempts_may_start() -> None:
    assert Courtesy(lambda: 0).attempts(5.0) == inf


def test_requests_of_the_time_before_do_not_count() -> None:
    assert Courtesy(lambda: 500).attempts(5.0) == inf


def test_there_is_one_attempt_for_four_requests_however_few_come_at_a_time() -> None:
    answered = iter([0, 100, 103, *range(104, 112)])
    courtesy = Courtesy(lambda: next(answered))
    assert [courtesy.attempts(5.0) for _ in range(10)] == [25, 0, 1, 0, 0, 0, 1, 0, 0, 0]


def test_while_requests_may_be_in_progress_no_attempt_is_given_away() -> None:
    answered = iter([0, 64, *[64] * IN_PROGRESS, 128, 128])
    courtesy = Courtesy(lambda: next(answered))
    assert [courtesy.attempts(5.0) for _ in range(IN_PROGRESS)] == [16, *[0] * (IN_PROGRESS - 1)]
    assert courtesy.attempts(5.0) == STEP
    assert [courtesy.attempts(5.0) for _ in range(2)] == [16, 0]


def test_when_no_request_is_expected_any_more_any_number_of_attempts_may_start() -> None:
    courtesy = _asked_once()
    assert [courtesy.attempts(5.0) for _ in range(IN_PROGRESS)] == [*[0] * (IN_PROGRESS - 1), STEP]
    assert courtesy.attempts(5.0 + LINGERS_S) == inf


def test_a_loop_that_was_too_busy_to_see_a_request_does_not_take_that_for_a_pause() -> None:
    courtesy = _asked_once()
    busy_s = 10 * LINGERS_S
    rounds = [courtesy.attempts(5.0 + number * busy_s) for number in range(1, IN_PROGRESS + 1)]
    assert rounds == [*[0] * (IN_PROGRESS - 1), STEP]


def _asked_once() -> Courtesy:
    """Courtesy at 5.0 seconds, when requests were answered and none will be any more."""
    answered = iter([0])
    courtesy = Courtesy(lambda: next(answered, 64))
    assert courtesy.attempts(5.0) == 16
    return courtesy


def test_every_delivery_goes_out_while_requests_never_end_and_each_round_starts_few(
    authority: Authority,
) -> None:
    class Noting(MemoryStore):
        def record_starts(self, starts: Sequence[Start]) -> None:
            rounds.append(len(starts))
            super().record_starts(starts)

    rounds: list[int] = []

    async def run() -> None:
        store, requests = Noting(), count(step=20)
        async with serving(always_ok, authority.context()) as sink:
            for uid in map(str, range(40)):
                store.endpoints[uid] = settings(uid, sink.url, rate_limit=100)
                store.accept(uid)
            async with engine(store, authority.file, answered=lambda: next(requests)):
                await store.until_final()

    asyncio.run(run())
    assert sum(rounds) == 40
    assert max(rounds) == 5
