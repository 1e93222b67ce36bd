"""One broadcast for all scenarios that wait for one.

In a project that several experiments work in, each broadcast is delivered to the endpoints of all.
So scenarios that are about to send one with nothing but a marker send one together: it has the
marker of each, and so is an event of each. Two events of one scenario stay two; they are sent at
the same moment.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Final

from hookproof.conformance.model.evidence import Exchange
from hookproof.conformance.target.circuit_breaker import RunOver

# How long a broadcast waits for others that can be sent with it, and how long after those of the
# same project the next ones are sent.
JOINED_WITHIN_S: Final = 0.1
APART_S: Final = 0.5

# The markers of one broadcast by scenario, with what waits for its answer.
_Joint = dict[str, tuple[str, asyncio.Future[Exchange]]]


class SharedBroadcasts:
    """Those of one project; `send` broadcasts an event with these markers.

    Belongs to one event loop.
    """

    def __init__(self, send: Callable[[Sequence[str]], Awaitable[Exchange]]) -> None:
        self._send = send
        self._waiting: list[_Joint] = []
        self._sending: set[asyncio.Task[None]] = set()
        self._next_at = 0.0

    async def join(self, scenario: str, marker: str) -> Exchange:
        """The broadcast that has this marker of a scenario, maybe among others."""
        if not self._waiting:
            self._start(self._send_soon())
        joint = next((each for each in self._waiting if scenario not in each), None)
        if joint is None:
            self._waiting.append(joint := {})
        answered: asyncio.Future[Exchange] = asyncio.get_running_loop().create_future()
        joint[scenario] = marker, answered
        return await answered

    async def _send_soon(self) -> None:
        now = asyncio.get_running_loop().time()
        send_at = max(now + JOINED_WITHIN_S, self._next_at)
        self._next_at = send_at + APART_S
        await asyncio.sleep(send_at - now)  # what is ready by then goes along
        waiting, self._waiting = self._waiting, []
        for joint in waiting:
            self._start(self._send_one(joint))

    async def _send_one(self, joint: _Joint) -> None:
        try:
            answer = await self._send([marker for marker, _ in joint.values()])
        except (Exception, RunOver) as error:  # noqa: BLE001 it is an error of each that waits
            for _, answered in joint.values():
                if not answered.done():
                    answered.set_exception(error)
        else:
            for _, answered in joint.values():
                if not answered.done():
                    answered.set_result(answer)

    def _start(self, sending: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(sending)
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def close(self) -> None:
        """End what is under way; nobody may wait for it any more."""
        for task in self._sending:
            task.cancel()
        await asyncio.gather(*self._sending, return_exceptions=True)
