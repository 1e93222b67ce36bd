"""The dispatcher: which delivery goes next, so that no endpoint delays another one.

Each endpoint with work has a lane; lanes with something due take turns, one attempt a turn.
Attempts are tasks, pending deliveries are not: they stay in the store until their turn. Turns come
in rounds, and a round is also what writes: first what became of the attempts since the last one,
then, before anything is sent, the starts that rate limits count.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Final

from hookproof.mockserver.delivery.attempt.sender import Answer
from hookproof.mockserver.delivery.scheduling.api_priority import Courtesy
from hookproof.mockserver.delivery.scheduling.concurrency_limit import Bounds, Gate
from hookproof.mockserver.delivery.scheduling.endpoint_queue import Lane, counted_s
from hookproof.mockserver.delivery.scheduling.idle_queues import Resting
from hookproof.mockserver.delivery.scheduling.outcomes import Outcomes
from hookproof.mockserver.delivery.scheduling.rate_limit import SlidingWindow
from hookproof.mockserver.delivery.scheduling.ready_queue import Line
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

TURNS: Final = 256  # at a stretch, before other work of the event loop comes up
STORE_PAUSE_S: Final = 1.0

# Makes one attempt; calls its last argument as the request goes out.
Carry = Callable[[PendingDelivery, EndpointSettings, Callable[[], None]], Awaitable[Answer]]


@dataclass(slots=True, kw_only=True)
class Attempt:
    """One attempt, from its start until what became of it is written down.

    `key` tells it from every other one, `started_at` is in unix seconds.
    """

    key: tuple[int, int]
    lane: Lane
    delivery: PendingDelivery
    endpoint: EndpointSettings
    limiter: SlidingWindow | None
    started_at: float


class Dispatcher:
    """Takes pending deliveries to `carry` and hands what became of them to `outcomes`."""

    def __init__(
        self,
        store: DeliveryStore,
        carry: Carry,
        outcomes: Outcomes,
        *,
        excess: Excess,
        clock: Clock,
        monotonic: Clock,
        log: logging.Logger,
        bounds: Bounds,
        courtesy: Courtesy,
        lane: type[Lane] = Lane,
    ) -> None:
        self._store = store
        self._carry = carry
        self._outcomes = outcomes
        self._excess = excess
        self._clock = clock
        self._monotonic = monotonic
        self._log = log
        self._bounds = bounds
        self._courtesy = courtesy
        self._new_lane = lane
        self._gate = Gate(bounds)
        self._lanes: dict[str, Lane] = {}
        self._line = Line()
        self._resting = Resting(self._forget)
        self._starting: list[Attempt] = []
        self._ended: list[tuple[Lane, Record]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._next_round: asyncio.Handle | None = None
        self._ageing: asyncio.TimerHandle | None = None
        self._running = False

    def start(self) -> None:
        """Begin with what the store holds; called in the event loop."""
        self._loop = asyncio.get_running_loop()
        # Without a start of an earlier process no lane need look for any.
        self._began = self._clock() if self._store.holds_starts() else -inf
        self._running = True
        for uid in self._store.waiting_endpoints():
            self._look_again(self._lane(uid))

    def wake(self, endpoint_uids: Iterable[str]) -> None:
        """These endpoints have new deliveries in the store."""
        for uid in endpoint_uids:
            fresh = uid not in self._lanes or self._lanes[uid].idle
            self._look_again(self._lane(uid), fresh=fresh)

    async def stop(self, grace_s: float) -> None:
        """Start nothing more, let what is under way finish for `grace_s`, and end the rest, which
        stays pending.
        """
        self._running = False
        for call in (self._next_round, self._ageing):
            if call is not None:
                call.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace_s)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._write_down()
        for lane in self._lanes.values():
            lane.rest()
        self._lanes.clear()
        self._resting.clear()
        self._line.clear()

    def _lane(self, uid: str) -> Lane:
        lane = self._lanes.get(uid)
        if lane is None:
            lane = self._lanes[uid] = self._new_lane(uid)
        return lane

    def _look_again(self, lane: Lane, *, fresh: bool = False) -> None:
        """Let a lane look into the store at its next turn."""
        lane.more = True
        self._line_up(lane, fresh=fresh)

    def _line_up(self, lane: Lane, *, fresh: bool = False) -> None:
        """Let a lane have a turn."""
        self._line.join(lane, fresh=fresh)
        self._go_on()

    def _go_on(self) -> None:
        """See to it that a round comes."""
        if self._running and self._next_round is None:
            self._next_round = self._loop.call_soon(self._round)

    def _round(self) -> None:
        """Write down what ended, and give turns to the lanes for as long as attempts may start."""
        self._next_round = None
        self._write_down()
        if self._give_turns(self._courtesy.attempts(self._monotonic())):
            self._go_on()
        self._launch()

    def _give_turns(self, attempts: float) -> bool:
        """Let lanes begin up to so many attempts; whether any lane is left that need not wait for
        more than a round.
        """
        for _ in range(TURNS):
            if not self._line or not self._running or not self._room():
                return False
            if len(self._starting) >= attempts:
                break
            lane = self._line.next()
            try:
                self._turn(lane)
            except Exception:  # noqa: BLE001  whatever ails the store, the other lanes go on
                self._pause(lane)
        return True

    def _room(self) -> bool:
        """Whether an attempt may start; if only time can tell, the question is asked again then."""
        wait = self._gate.wait_s(self._monotonic())
        if 0 < wait < inf and self._ageing is None:
            self._ageing = self._loop.call_later(wait, self._aged)
        return wait <= 0

    def _aged(self) -> None:
        self._ageing = None
        self._go_on()

    def _turn(self, lane: Lane) -> None:
        """Let a lane start one attempt, or go to sleep until it can."""
        if lane.attempts >= (1 if self._gate.crowded else lane.width):
            return
        delivery = lane.head(self._store, self._batch())
        if delivery is None:
            self._leave(lane)
            return
        wait = delivery.due_at - self._clock()
        endpoint = self._store.endpoint(lane.endpoint_uid) if wait <= 0 else None
        if wait > 0:
            lane.put_back()
            lane.sleep(wait, self._look_again)
        elif endpoint is None or not endpoint.receives:
            self._end_unsent(lane, self._outcomes.discarded(delivery))
        else:
            self._start_when_allowed(lane, delivery, endpoint)

    def _start_when_allowed(
        self, lane: Lane, delivery: PendingDelivery, endpoint: EndpointSettings
    ) -> None:
        """Section 8: attempts above the rate limit wait their turn, or are dropped as the dialect
        says.
        """
        now = self._monotonic()
        limiter = lane.limit(endpoint, self._store, self._clock, now, self._began)
        wait = limiter.wait_s(now) if limiter is not None else 0.0
        if wait <= 0:
            self._start(lane, delivery, endpoint, now)
        elif self._excess is Excess.DROPPED:
            self._end_unsent(lane, self._outcomes.dropped(delivery))
        elif wait < inf:
            lane.sleep(wait, self._line_up)

    def _start(
        self, lane: Lane, delivery: PendingDelivery, endpoint: EndpointSettings, now: float
    ) -> None:
        """Count an attempt as begun; it goes out at the end of the round."""
        attempt = Attempt(
            key=(delivery.id, delivery.attempts),
            lane=lane,
            delivery=delivery,
            endpoint=endpoint,
            limiter=lane.limiter,
            started_at=self._clock(),
        )
        if attempt.limiter is not None:
            attempt.limiter.start(attempt.key)
        lane.attempts += 1
        self._gate.enter(delivery.id, now)
        self._starting.append(attempt)
        self._done_with_head(lane)

    def _done_with_head(self, lane: Lane) -> None:
        lane.under_way.add(lane.buffer.pop().id)
        if lane.has_more:
            self._line_up(lane)

    def _end_unsent(self, lane: Lane, record: Record) -> None:
        self._done_with_head(lane)
        self._ended.append((lane, record))
        self._go_on()

    def _launch(self) -> None:
        """Send what this round started, once the starts that count against a rate limit are written
        down.
        """
        starting, self._starting = self._starting, []
        limited = [attempt for attempt in starting if attempt.limiter is not None]
        try:
            if limited:
                self._store.record_starts([self._counted(attempt) for attempt in limited])
        except Exception:  # noqa: BLE001  what cannot be counted is not sent, and the other lanes go on
            for attempt in limited:
                self._leave_attempt(attempt, answered=False)
                attempt.lane.under_way.discard(attempt.delivery.id)
                self._pause(attempt.lane)
            starting = [attempt for attempt in starting if attempt.limiter is None]
        for attempt in starting:
            task = self._loop.create_task(self._attempt(attempt))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    @staticmethod
    def _counted(attempt: Attempt) -> Start:
        return Start(
            attempt.delivery, attempt.started_at, attempt.started_at + counted_s(attempt.endpoint)
        )

    async def _attempt(self, attempt: Attempt) -> None:
        delivery = attempt.delivery
        answer = Answer(failure=Failure.INTERNAL, detail="a fault of the engine; its log has more")
        try:
            answer = await self._carry(delivery, attempt.endpoint, partial(self._sent, attempt))
        except Exception:  # noqa: BLE001  a fault of ours costs one attempt, never the others
            self._log.exception("an attempt ended in a fault of the engine")
        finally:
            self._leave_attempt(attempt, answered=answer.status is not None)
        attempt.lane.adapt(answered=answer.status is not None, bound=self._bounds.per_endpoint)
        self._ended.append(
            (attempt.lane, self._outcomes.attempted(delivery, answer, attempt.started_at))
        )
        self._go_on()

    def _sent(self, attempt: Attempt) -> None:
        if attempt.limiter is not None:
            attempt.limiter.written(attempt.key, self._monotonic())
            if attempt.lane.has_more:
                self._line_up(attempt.lane)

    def _leave_attempt(self, attempt: Attempt, *, answered: bool) -> None:
        """An attempt takes no place any more, neither in its lane nor among all."""
        attempt.lane.attempts -= 1
        self._gate.leave(attempt.delivery.id)
        if attempt.limiter is not None:
            attempt.limiter.over(attempt.key, self._monotonic(), answered=answered)

    def _write_down(self) -> None:
        """Store what became of deliveries, all at once; whatever is not stored stays pending and
        goes out again.
        """
        ended, self._ended = self._ended, []
        if not ended:
            return
        together = self._written([record for _, record in ended])
        for lane, record in ended:
            lane.under_way.discard(record.delivery.id)
            # Written one by one, a record that cannot be stored keeps no other one from it.
            if together or (len(ended) > 1 and self._written([record])):
                lane.more = lane.more or record.state is DeliveryState.PENDING
                if lane.has_more or lane.queued:
                    self._line_up(lane)
                else:
                    self._leave(lane)
            else:
                lane.put_back()
                lane.sleep(STORE_PAUSE_S, self._look_again)

    def _written(self, records: Sequence[Record]) -> bool:
        try:
            self._outcomes.write(records)
        except Exception:  # noqa: BLE001  whatever ails the store, the engine goes on
            self._log.exception("the store failed to keep what became of %s", _named(records))
            return False
        try:
            self._outcomes.conclude(records)
        except Exception:  # noqa: BLE001  the next exhausted delivery asks again
            self._log.exception("the store failed to deactivate an endpoint")
        return True

    def _pause(self, lane: Lane) -> None:
        """Called while handling a fault of the store: try this lane again later."""
        self._log.exception("the store failed; the lane of endpoint %s pauses", lane.endpoint_uid)
        lane.put_back()
        lane.sleep(STORE_PAUSE_S, self._look_again)

    def _leave(self, lane: Lane) -> None:
        """Forget a lane that has nothing to do and nothing to remember."""
        if lane.under_way:
            return
        if lane.limiter is None or lane.limiter.empty(self._monotonic()):
            lane.rest()
            del self._lanes[lane.endpoint_uid]
        else:
            self._resting.add(lane, lane.limiter.window_s)

    def _forget(self, lane: Lane) -> None:
        """A lane has rested: leave it, unless it has got something to do or was left meanwhile."""
        if lane.idle and not lane.queued and self._lanes.get(lane.endpoint_uid) is lane:
            self._leave(lane)

    def _batch(self) -> int:
        """How many deliveries a lane reads at once: the fewer, the more lanes there are.

        At least two, so that one read tells that a single delivery is the last.
        """
        return max(2, min(self._bounds.per_endpoint, self._bounds.buffered // len(self._lanes)))


def _named(records: Sequence[Record]) -> str:
    return (
        f"{len(records)} deliveries"
        if len(records) > 1
        else f"the delivery {records[0].delivery.id}"
    )
