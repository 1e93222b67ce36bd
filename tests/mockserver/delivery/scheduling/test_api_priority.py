"""The engine leaves time to the API, and never stops entirely."""

from collections.abc import Sequence
from itertools import count
from math import inf

from hookproof.mockserver.delivery.scheduling.attempt_limits import (
    IN_PROGRESS,
    LINGERS_S,
    STEP,
    ApiPriority,
)
from hookproof.mockserver.delivery.store_port import Start
from tests.mockserver.delivery.endpoints import LoopbackAuthority, always_ok, serving
from tests.mockserver.delivery.engines import engine
from tests.mockserver.delivery.memory_store import MemoryStore, settings


def test_without_requests_any_number_of_attempts_may_start() -> None:
    assert ApiPriority(lambda: 0).allowed_attempts(5.0) == inf


def test_requests_before_the_start_do_not_count() -> None:
    assert ApiPriority(lambda: 500).allowed_attempts(5.0) == inf


def test_there_is_one_attempt_for_four_requests_however_few_come_at_a_time() -> None:
    answered = iter([0, 100, 103, *range(104, 112)])
    priority = ApiPriority(lambda: next(answered))
    assert [priority.allowed_attempts(5.0) for _ in range(10)] == [25, 0, 1, 0, 0, 0, 1, 0, 0, 0]


def test_while_requests_may_be_in_progress_no_attempt_starts() -> None:
    answered = iter([0, 64, *[64] * IN_PROGRESS, 128, 128])
    priority = ApiPriority(lambda: next(answered))
    assert [priority.allowed_attempts(5.0) for _ in range(IN_PROGRESS)] == [
        16,
        *[0] * (IN_PROGRESS - 1),
    ]
    assert priority.allowed_attempts(5.0) == STEP
    assert [priority.allowed_attempts(5.0) for _ in range(2)] == [16, 0]


def test_when_no_request_is_expected_any_more_any_number_of_attempts_may_start() -> None:
    priority = _after_one_burst()
    assert [priority.allowed_attempts(5.0) for _ in range(IN_PROGRESS)] == [
        *[0] * (IN_PROGRESS - 1),
        STEP,
    ]
    assert priority.allowed_attempts(5.0 + LINGERS_S) == inf


def test_a_loop_that_was_too_busy_to_see_a_request_does_not_count_as_a_pause() -> None:
    priority = _after_one_burst()
    busy_s = 10 * LINGERS_S
    rounds = [
        priority.allowed_attempts(5.0 + number * busy_s) for number in range(1, IN_PROGRESS + 1)
    ]
    assert rounds == [*[0] * (IN_PROGRESS - 1), STEP]


def _after_one_burst() -> ApiPriority:
    """Return an ApiPriority that saw 64 answered requests at 5.0 seconds; none follow."""
    answered = iter([0])
    priority = ApiPriority(lambda: next(answered, 64))
    assert priority.allowed_attempts(5.0) == 16
    return priority


async def test_every_delivery_goes_out_while_requests_never_end_and_each_round_starts_few(
    authority: LoopbackAuthority,
) -> None:
    class CountingStore(MemoryStore):
        def record_starts(self, starts: Sequence[Start]) -> None:
            rounds.append(len(starts))
            super().record_starts(starts)

    rounds: list[int] = []

    store, requests = CountingStore(), count(step=20)
    async with serving(always_ok, authority.context()) as endpoint:
        for uid in map(str, range(40)):
            store.endpoints[uid] = settings(uid, endpoint.url, rate_limit=100)
            store.accept(uid)
        async with engine(store, authority.file, answered_requests=lambda: next(requests)):
            await store.until_final()
    assert sum(rounds) == 40
    assert max(rounds) == 5
