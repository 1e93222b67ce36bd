"""The dispatcher: chooses which delivery is sent next, so that no endpoint delays another.

Each endpoint with work has a queue; queues with something due take turns, one attempt per turn.
Attempts are tasks, pending deliveries are not: they stay in the store until their turn. Turns are
given in rounds, and each round also writes: first the results of the attempts since the last one,
then, before anything is sent, the starts that rate limits count.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Final

from hookproof.mockserver.delivery.attempt.sender import AttemptResult
from hookproof.mockserver.delivery.own_trouble import OwnTrouble
from hookproof.mockserver.delivery.scheduling.attempt_limits import (
    ApiPriority,
    ConcurrencyBounds,
    ConcurrencyLimit,
)
from hookproof.mockserver.delivery.scheduling.endpoint_queue import (
    EndpointQueue,
    IdleQueues,
    ReadyQueue,
    counted_s,
)
from hookproof.mockserver.delivery.scheduling.outcomes import Outcomes, RecordWriter
from hookproof.mockserver.delivery.scheduling.rate_limit import SlidingWindow
from hookproof.mockserver.delivery.store_port import (
    Clock,
    DeliveryState,
    DeliveryStore,
    EndpointSettings,
    Failure,
    PendingDelivery,
    Record,
    Start,
)
from hookproof.spec.dialect.vocabulary import Excess

# The turns of one round, before other work of the event loop runs.
TURNS: Final = 256
STORE_PAUSE_S: Final = 1.0
# How long deliveries wait that could not be sent for want of something of this machine.
OWN_TROUBLE_PAUSE_S: Final = 1.0
OWN_TROUBLE_LOGGED_EVERY_S: Final = 10.0

# Makes one attempt; calls its last argument when the request is written.
SendAttempt = Callable[
    [PendingDelivery, EndpointSettings, Callable[[], None]], Awaitable[AttemptResult]
]


@dataclass(slots=True, kw_only=True)
class StartedAttempt:
    """One attempt, from its start until its result is stored.

    `key` is unique among all attempts, `started_at` is in unix seconds.
    """

    key: tuple[int, int]
    queue: EndpointQueue
    delivery: PendingDelivery
    endpoint: EndpointSettings
    limiter: SlidingWindow | None
    started_at: float


class Dispatcher:
    """Passes pending deliveries to `send`, and their results to `outcomes`.

    `over_limit` says what becomes of deliveries above a rate limit.
    """

    def __init__(
        self,
        store: DeliveryStore,
        send: SendAttempt,
        outcomes: Outcomes,
        *,
        over_limit: Excess,
        clock: Clock,
        monotonic: Clock,
        log: logging.Logger,
        bounds: ConcurrencyBounds,
        api_priority: ApiPriority,
        queue_class: type[EndpointQueue] = EndpointQueue,
    ) -> None:
        self._store = store
        self._send = send
        self._outcomes = outcomes
        self._records = RecordWriter(outcomes, log)
        self._over_limit = over_limit
        self._clock = clock
        self._monotonic = monotonic
        self._log = log
        self._bounds = bounds
        self._api_priority = api_priority
        self._queue_class = queue_class
        self._concurrency = ConcurrencyLimit(bounds)
        self._queues: dict[str, EndpointQueue] = {}
        self._ready = ReadyQueue()
        self._idle = IdleQueues(self._remove_if_idle)
        self._starting: list[StartedAttempt] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._next_round: asyncio.Handle | None = None
        self._concurrency_timer: asyncio.TimerHandle | None = None
        self._running = False
        self._store_timer: asyncio.TimerHandle | None = None
        self._trouble_logged_at = -inf

    def start(self) -> None:
        """Begin with what is pending in the store; called in the event loop."""
        self._loop = asyncio.get_running_loop()
        # Without starts of an earlier process, no queue needs to read any.
        self._began = self._clock() if self._store.holds_starts() else -inf
        self._running = True
        for uid in self._store.waiting_endpoints():
            self._enqueue_to_read(self._queue_of(uid))

    def wake(self, endpoint_uids: Iterable[str]) -> None:
        """Note that these endpoints have new deliveries in the store."""
        for uid in endpoint_uids:
            fresh = uid not in self._queues or self._queues[uid].is_idle
            self._enqueue_to_read(self._queue_of(uid), fresh=fresh)

    async def stop(self, grace_s: float) -> None:
        """Start nothing more and wait `grace_s` seconds for the attempts under way.

        The remaining attempts are cancelled; their deliveries stay pending.
        """
        self._running = False
        for call in (self._next_round, self._concurrency_timer, self._store_timer):
            if call is not None:
                call.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace_s)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._store_records()
        for queue in self._queues.values():
            queue.cancel_call()
        self._queues.clear()
        self._idle.clear()
        self._ready.clear()

    def _queue_of(self, uid: str) -> EndpointQueue:
        queue = self._queues.get(uid)
        if queue is None:
            queue = self._queues[uid] = self._queue_class(uid)
        return queue

    def _enqueue_to_read(self, queue: EndpointQueue, *, fresh: bool = False) -> None:
        """Give a queue a turn in which it reads the store again."""
        queue.may_have_more = True
        self._enqueue(queue, fresh=fresh)

    def _enqueue(self, queue: EndpointQueue, *, fresh: bool = False) -> None:
        if not queue.is_paused:
            self._ready.add(queue, fresh=fresh)
            self._schedule_round()

    def _schedule_round(self) -> None:
        if self._running and self._next_round is None and self._store_timer is None:
            self._next_round = self._loop.call_soon(self._run_round)

    def _run_round(self) -> None:
        """Store the results since the last round and start attempts."""
        self._next_round = None
        self._store_records()
        if self._records.is_blocked:
            # Nothing is sent whose result could not be kept: it would be sent again and again.
            self._store_timer = self._loop.call_later(STORE_PAUSE_S, self._end_store_wait)
        elif self._give_turns(self._api_priority.allowed_attempts(self._monotonic())):
            self._schedule_round()
        self._launch()

    def _give_turns(self, attempts: float) -> bool:
        """Give turns that start up to `attempts` attempts; returns whether another round is due."""
        for _ in range(TURNS):
            if not self._ready or not self._running or not self._has_room():
                return False
            if len(self._starting) >= attempts:
                break
            queue = self._ready.pop()
            try:
                self._take_turn(queue)
            except Exception:  # noqa: BLE001  an error of the store must not stop other queues
                self._pause_after_error(queue)
        return True

    def _has_room(self) -> bool:
        """Whether the common limit allows an attempt; if not, a round follows when it does."""
        wait = self._concurrency.wait_s(self._monotonic())
        if 0 < wait < inf and self._concurrency_timer is None:
            self._concurrency_timer = self._loop.call_later(wait, self._end_concurrency_wait)
        return wait <= 0

    def _end_concurrency_wait(self) -> None:
        self._concurrency_timer = None
        self._schedule_round()

    def _end_store_wait(self) -> None:
        self._store_timer = None
        self._schedule_round()

    def _take_turn(self, queue: EndpointQueue) -> None:
        """Start one attempt of a queue, or set a timer for when that is possible."""
        if queue.is_paused or queue.attempts >= (
            1 if self._concurrency.is_crowded else queue.width
        ):
            return
        delivery = queue.next_delivery(self._store, self._batch_size())
        if delivery is None:
            self._remove_or_keep_idle(queue)
            return
        wait = delivery.due_at - self._clock()
        endpoint = self._store.endpoint(queue.endpoint_uid) if wait <= 0 else None
        if wait > 0:
            queue.discard_buffer()
            queue.call_later(wait, self._enqueue_to_read)
        elif endpoint is None or not endpoint.receives:
            self._end_unsent(queue, self._outcomes.record_discarded(delivery))
        else:
            self._start_within_rate_limit(queue, delivery, endpoint)

    def _start_within_rate_limit(
        self, queue: EndpointQueue, delivery: PendingDelivery, endpoint: EndpointSettings
    ) -> None:
        """Section 8: attempts above the rate limit wait, or are dropped if the dialect says so."""
        now = self._monotonic()
        limiter = queue.update_limiter(endpoint, self._store, self._clock, now, self._began)
        wait = limiter.wait_s(now) if limiter is not None else 0.0
        if wait <= 0:
            self._start(queue, delivery, endpoint, now)
        elif self._over_limit is Excess.DROPPED:
            self._end_unsent(queue, self._outcomes.record_dropped(delivery))
        elif wait < inf:
            queue.call_later(wait, self._enqueue)

    def _start(
        self,
        queue: EndpointQueue,
        delivery: PendingDelivery,
        endpoint: EndpointSettings,
        now: float,
    ) -> None:
        """Count an attempt as started; it is sent at the end of the round."""
        attempt = StartedAttempt(
            key=(delivery.id, delivery.attempts),
            queue=queue,
            delivery=delivery,
            endpoint=endpoint,
            limiter=queue.limiter,
            started_at=self._clock(),
        )
        if attempt.limiter is not None:
            attempt.limiter.start(attempt.key)
        queue.attempts += 1
        self._concurrency.acquire(delivery.id, now)
        self._starting.append(attempt)
        self._take_from_buffer(queue)

    def _take_from_buffer(self, queue: EndpointQueue) -> None:
        queue.under_way.add(queue.buffer.pop().id)
        if queue.has_more:
            self._enqueue(queue)

    def _end_unsent(self, queue: EndpointQueue, record: Record) -> None:
        self._take_from_buffer(queue)
        self._records.add(queue, record)
        self._schedule_round()

    def _launch(self) -> None:
        """Send the attempts of this round, after storing the starts that rate limits count."""
        starting, self._starting = self._starting, []
        limited = [attempt for attempt in starting if attempt.limiter is not None]
        try:
            if limited:
                self._store.record_starts([self._start_record(attempt) for attempt in limited])
        except Exception:  # noqa: BLE001  what cannot be counted is not sent; other queues continue
            for attempt in limited:
                self._end_uncounted(attempt)
                self._pause_after_error(attempt.queue)
            starting = [attempt for attempt in starting if attempt.limiter is None]
        for attempt in starting:
            task = self._loop.create_task(self._run_attempt(attempt))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    @staticmethod
    def _start_record(attempt: StartedAttempt) -> Start:
        return Start(
            attempt.delivery, attempt.started_at, attempt.started_at + counted_s(attempt.endpoint)
        )

    async def _run_attempt(self, attempt: StartedAttempt) -> None:
        delivery = attempt.delivery
        result = AttemptResult(
            failure=Failure.INTERNAL, detail="an internal error of the engine; see its log"
        )
        try:
            result = await self._send(delivery, attempt.endpoint, partial(self._mark_sent, attempt))
        except (OwnTrouble, MemoryError) as trouble:
            self._wait_for_own_trouble(attempt, trouble)
            return
        except Exception:  # noqa: BLE001  an internal error costs one attempt, never other ones
            self._log.exception("an attempt ended with an internal error of the engine")
        self._end_attempt(attempt, answered=result.status is not None)
        attempt.queue.adapt_width(
            answered=result.status is not None, bound=self._bounds.per_endpoint
        )
        self._records.add(
            attempt.queue, self._outcomes.record_attempt(delivery, result, attempt.started_at)
        )
        self._schedule_round()

    def _wait_for_own_trouble(self, attempt: StartedAttempt, trouble: Exception) -> None:
        """Let a delivery wait whose attempt this machine could not make."""
        now = self._monotonic()
        self._end_uncounted(attempt)
        self._pause(attempt.queue, OWN_TROUBLE_PAUSE_S)
        if now - self._trouble_logged_at >= OWN_TROUBLE_LOGGED_EVERY_S:
            self._trouble_logged_at = now
            self._log.error(
                "this machine cannot send at present: %s; deliveries wait, and no attempt counts",
                str(trouble) or "no memory",
            )

    def _mark_sent(self, attempt: StartedAttempt) -> None:
        if attempt.limiter is not None:
            attempt.limiter.mark_sent(attempt.key, self._monotonic())
            if attempt.queue.has_more:
                self._enqueue(attempt.queue)

    def _end_attempt(self, attempt: StartedAttempt, *, answered: bool) -> None:
        attempt.queue.attempts -= 1
        self._concurrency.release(attempt.delivery.id)
        if attempt.limiter is not None:
            attempt.limiter.end(attempt.key, self._monotonic(), answered=answered)

    def _end_uncounted(self, attempt: StartedAttempt) -> None:
        """End an attempt that was not made: its delivery is as it was before."""
        attempt.queue.attempts -= 1
        attempt.queue.under_way.discard(attempt.delivery.id)
        self._concurrency.release(attempt.delivery.id)
        if attempt.limiter is not None:
            attempt.limiter.cancel(attempt.key, self._monotonic())

    def _store_records(self) -> None:
        """Store what became of deliveries.

        A delivery whose record cannot be stored stays pending and is sent again.
        """
        for queue, record, is_stored in self._records.write():
            queue.under_way.discard(record.delivery.id)
            if is_stored:
                self._continue_after(queue, record)
            else:
                self._pause(queue, STORE_PAUSE_S)

    def _continue_after(self, queue: EndpointQueue, record: Record) -> None:
        queue.may_have_more = queue.may_have_more or record.state is DeliveryState.PENDING
        if queue.has_more or queue.in_ready_queue:
            self._enqueue(queue)
        else:
            self._remove_or_keep_idle(queue)

    def _pause_after_error(self, queue: EndpointQueue) -> None:
        """Try a queue again later; called while handling an error of the store."""
        self._log.exception("the store failed; the queue of %s pauses", queue.endpoint_uid)
        self._pause(queue, STORE_PAUSE_S)

    def _pause(self, queue: EndpointQueue, pause_s: float) -> None:
        queue.discard_buffer()
        queue.is_paused = True
        queue.call_later(pause_s, self._end_pause)

    def _end_pause(self, queue: EndpointQueue) -> None:
        queue.is_paused = False
        self._enqueue_to_read(queue)

    def _remove_or_keep_idle(self, queue: EndpointQueue) -> None:
        """Remove a queue without work, or keep it idle while its rate limit counts attempts."""
        if queue.under_way:
            return
        if queue.limiter is None or queue.limiter.is_empty(self._monotonic()):
            queue.cancel_call()
            del self._queues[queue.endpoint_uid]
        else:
            self._idle.add(queue, queue.limiter.window_s)

    def _remove_if_idle(self, queue: EndpointQueue) -> None:
        """Handle the end of an idle time, unless the queue got work or was removed meanwhile."""
        is_current = self._queues.get(queue.endpoint_uid) is queue
        if queue.is_idle and not queue.in_ready_queue and is_current:
            self._remove_or_keep_idle(queue)

    def _batch_size(self) -> int:
        """Return how many deliveries a queue reads at once: the more queues, the fewer.

        At least two, so that one read shows whether a single delivery is the last one.
        """
        return max(2, min(self._bounds.per_endpoint, self._bounds.buffered // len(self._queues)))
