"""The engine gives way to the API, and never stands still for it."""

import asyncio
from collections.abc import Sequence
from itertools import count
from math import inf

from mockserver.delivery.courtesy import IN_PROGRESS, LINGERS_S, STEP, Courtesy
from mockserver.delivery.port import Start
from tests.mockserver.delivery.endpoints import Authority, always_ok, serving
from tests.mockserver.delivery.engines import engine
from tests.mockserver.delivery.memory_store import MemoryStore, settings


def test_without_requests_any_number_of_attempts_may_start() -> None:
    assert Courtesy(lambda: 0).attempts(5.0) == inf


def test_requests_of_the_time_before_do_not_count() -> None:
    assert Courtesy(lambda: 500).attempts(5.0) == inf


def test_there_is_one_attempt_for_four_requests_and_at_least_one() -> None:
    answered = iter([0, 100, 103, 104])
    courtesy = Courtesy(lambda: next(answered))
    assert [courtesy.attempts(5.0) for _ in range(3)] == [25, 1, 1]


def test_while_requests_may_be_in_progress_the_engine_takes_the_smallest_steps() -> None:
    answered = iter([0, 64, *[64] * IN_PROGRESS, 128, 128])
    courtesy = Courtesy(lambda: next(answered))
    assert [courtesy.attempts(5.0) for _ in range(IN_PROGRESS)] == [16, *[1] * (IN_PROGRESS - 1)]
    assert courtesy.attempts(5.0) == STEP
    assert [courtesy.attempts(5.0) for _ in range(2)] == [16, 1]


def test_when_no_request_is_expected_any_more_any_number_of_attempts_may_start() -> None:
    answered = iter([0, 64, 64])
    courtesy = Courtesy(lambda: next(answered))
    assert courtesy.attempts(5.0) == 16
    assert courtesy.attempts(5.0 + LINGERS_S) == inf


def test_every_delivery_goes_out_while_requests_never_end_and_each_round_starts_few(authority: Authority) -> None:
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
