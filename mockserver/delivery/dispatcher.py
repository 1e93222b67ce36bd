"""The dispatcher: which delivery goes next, so that no endpoint delays another one.

Each endpoint with work has a lane; lanes with something due take turns, one attempt a turn. Attempts are tasks, pending
deliveries are not: they stay in the store until their turn.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from math import inf
from typing import Final

from mockserver.delivery.courier import Answer
from mockserver.delivery.gate import Bounds, Gate
from mockserver.delivery.lane import Lane
from mockserver.delivery.outcomes import Outcomes
from mockserver.delivery.port import Clock, DeliveryState, DeliveryStore, EndpointSettings, Failure, PendingDelivery
from spec.vocabulary import Excess

TURNS: Final = 256  # at a stretch, before other work of the event loop comes up
STORE_PAUSE_S: Final = 1.0

Carry = Callable[[PendingDelivery, EndpointSettings, Callable[[], None]], Awaitable[Answer]]
"""Makes one attempt; calls its last argument as the request goes out."""


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
        self._new_lane = lane
        self._gate = Gate(bounds)
        self._lanes: dict[str, Lane] = {}
        self._queue: deque[Lane] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._next_round: asyncio.Handle | None = None
        self._ageing: asyncio.TimerHandle | None = None
        self._running = False

    def start(self) -> None:
        """Begin with what the store holds; called in the event loop."""
        self._loop = asyncio.get_running_loop()
        self._running = True
        self.wake(self._store.waiting_endpoints())

    def wake(self, endpoint_uids: Iterable[str]) -> None:
        """These endpoints have new deliveries in the store."""
        for uid in endpoint_uids:
            lane = self._lanes.get(uid)
            if lane is None:
                lane = self._lanes[uid] = self._new_lane(uid)
            self._look_again(lane)

    async def stop(self, grace_s: float) -> None:
        """Start nothing more, let what is under way finish for `grace_s`, and end the rest, which stays pending."""
        self._running = False
        for call in (self._next_round, self._ageing):
            if call is not None:
                call.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace_s)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for lane in self._lanes.values():
            lane.rest()
        self._lanes.clear()
        self._queue.clear()

    def _look_again(self, lane: Lane) -> None:
        """Let a lane look into the store at its next turn."""
        lane.more = True
        self._line_up(lane)

    def _line_up(self, lane: Lane) -> None:
        """Let a lane have a turn."""
        if not lane.queued:
            lane.queued = True
            self._queue.append(lane)
        if self._running and self._next_round is None:
            self._next_round = self._loop.call_soon(self._round)

    def _round(self) -> None:
        """Give turns to the lanes for as long as attempts may start."""
        self._next_round = None
        for _ in range(TURNS):
            if not self._queue or not self._running or not self._room():
                return
            lane = self._queue.popleft()
            lane.queued = False
            try:
                self._turn(lane)
            except Exception:  # noqa: BLE001  whatever ails the store, the other lanes go on
                self._pause(lane)
        self._next_round = self._loop.call_soon(self._round)

    def _room(self) -> bool:
        """Whether an attempt may start; if only time can tell, the question is asked again then."""
        wait = self._gate.wait_s(self._monotonic())
        if 0 < wait < inf and self._ageing is None:
            self._ageing = self._loop.call_later(wait, self._aged)
        return wait <= 0

    def _aged(self) -> None:
        self._ageing = None
        self._round()

    def _turn(self, lane: Lane) -> None:
        """Let a lane start one attempt, or go to sleep until it can."""
        if len(lane.under_way) >= (1 if self._gate.crowded else lane.width):
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
            self._outcomes.discarded(delivery)
            self._done_with_head(lane)
        else:
            self._start_when_allowed(lane, delivery, endpoint)

    def _start_when_allowed(self, lane: Lane, delivery: PendingDelivery, endpoint: EndpointSettings) -> None:
        """Section 8: attempts above the rate limit wait their turn, or are dropped as the dialect says."""
        now = self._monotonic()
        limiter = lane.limit(endpoint, self._store, self._clock, now)
        wait = limiter.wait_s(now) if limiter is not None else 0.0
        if wait <= 0:
            self._start(lane, delivery, endpoint, now)
        elif self._excess is Excess.DROPPED:
            self._outcomes.dropped(delivery)
            self._done_with_head(lane)
        elif wait < inf:
            lane.sleep(wait, self._line_up)

    def _start(self, lane: Lane, delivery: PendingDelivery, endpoint: EndpointSettings, now: float) -> None:
        if lane.limiter is not None:
            self._store.record_start(delivery, self._clock())
            lane.limiter.start((delivery.id, delivery.attempts))
        lane.under_way.add(delivery.id)
        self._gate.enter(delivery.id, now)
        task = self._loop.create_task(self._attempt(lane, delivery, endpoint))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._done_with_head(lane)

    def _done_with_head(self, lane: Lane) -> None:
        lane.buffer.popleft()
        self._line_up(lane)

    async def _attempt(self, lane: Lane, delivery: PendingDelivery, endpoint: EndpointSettings) -> None:
        started_at = self._clock()
        try:
            answer = await self._carry(delivery, endpoint, partial(self._sent, lane, delivery))
        except Exception:  # noqa: BLE001  a fault of ours costs one attempt, never the others
            self._log.exception("an attempt ended in a fault of the engine")
            answer = Answer(failure=Failure.INTERNAL, detail="a fault of the engine; its log has more")
        finally:
            self._gate.leave(delivery.id)
            lane.under_way.discard(delivery.id)
            if lane.limiter is not None:
                lane.limiter.over((delivery.id, delivery.attempts), self._monotonic())
        self._settle(lane, delivery, answer, started_at)

    def _sent(self, lane: Lane, delivery: PendingDelivery) -> None:
        if lane.limiter is not None:
            lane.limiter.written((delivery.id, delivery.attempts), self._monotonic())
            self._line_up(lane)

    def _settle(self, lane: Lane, delivery: PendingDelivery, answer: Answer, started_at: float) -> None:
        """Write down how an attempt ended, and let the lane go on."""
        lane.adapt(answered=answer.status is not None, bound=self._bounds.per_endpoint)
        try:
            state = self._outcomes.attempted(delivery, answer, started_at)
        except Exception:  # noqa: BLE001  whatever ails the store, the other lanes go on
            self._pause(lane)
            return
        lane.more = lane.more or state is DeliveryState.PENDING
        self._line_up(lane)

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
            lane.sleep(lane.limiter.window_s, self._line_up)

    def _batch(self) -> int:
        """How many deliveries a lane reads at once: the fewer, the more lanes there are.

        At least two, so that one read tells that a single delivery is the last.
        """
        return max(2, min(self._bounds.per_endpoint, self._bounds.buffered // len(self._lanes)))
