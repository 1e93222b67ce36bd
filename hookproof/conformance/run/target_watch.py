"""Watches whether the target still answers, so that an outage is not held against it.

A target may die, restart or be cut off by a proxy in the middle of a run. What an experiment saw
then says nothing about the target's conformance, nor does what it sees afterwards of resources that
it created before: a service may forget them when it restarts. So an outage ends each experiment
that is under way, with what it had observed before.

A single request without an answer is no outage: closing the connection is an answer to a hostile
request, and a 503 may be the target's own. It is one if two harmless requests sent right after it
come to nothing too.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from hookproof.conformance.model.evidence import Evidence, Exchange
from hookproof.conformance.target.circuit_breaker import Breaker, RunOver, from_the_target
from hookproof.conformance.target.client import ApiClient
from hookproof.conformance.target.definition import Project
from hookproof.conformance.target.preflight import BUSY_S, LISTS

# How often the target is asked while nothing else is; an outage between two answers is not noticed.
HEARTBEAT_S: Final = 0.5
# At most one request in so many is for watching, where target.yaml says how fast they may come.
WATCHED_PART: Final = 10
# How long a target may take to come back. A longer outage ends the run. One that took long to
# answer before it fell silent is busy rather than gone.
PATIENCE_S: Final = 5.0
BUSY_PATIENCE_S: Final = 60.0
PAUSE_S: Final = 0.1


@dataclass(slots=True, kw_only=True)
class Outage:
    """A time without an answer, in seconds of the run; `until_s` is None if none came any more."""

    from_s: float
    until_s: float | None = None
    symptom: str

    @property
    def words(self) -> str:
        if self.until_s is None:
            return f"the target stopped answering after {self.from_s:.1f} s: {self.symptom}"
        return (
            f"the target stopped answering after {self.from_s:.1f} s and was back after"
            f" {self.until_s:.1f} s: {self.symptom}"
        )


class TargetWatch:
    """Asks the target whether it answers: regularly, and after each request that came to nothing.

    `give_up` is called with the reason if the target does not come back. Belongs to one event loop.
    """

    def __init__(
        self,
        api: ApiClient,
        project: Project,
        breaker: Breaker,
        give_up: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.outages: list[Outage] = []
        self._api = api
        self._project = project
        self._breaker = breaker
        self._give_up = give_up
        self._clock = clock
        self._sleep = sleep
        self._heartbeat_s = max(HEARTBEAT_S, WATCHED_PART * api.pacing.interval_s)
        self._began = self._clock()
        self._asking = asyncio.Lock()
        self._there = asyncio.Event()
        self._there.set()
        self._answer_took_s = 0.0
        self._symptom = ""
        self._patience_s = PATIENCE_S

    async def keep_watching(self) -> None:
        """Watch until cancelled, or until the end of the run."""
        with suppress(RunOver):
            while True:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._breaker.suspected.wait(), self._heartbeat_s)
                silent_s = 0.0 if self._breaker.suspected.is_set() else self._heartbeat_s
                await self._answers_since(self._clock() - silent_s)

    async def answering(self) -> None:
        """Wait for the end of an outage, if there is one."""
        await self._there.wait()

    async def confirm(self, evidence: Evidence) -> None:
        """Return when it is known whether the target was there until this evidence was complete.

        `outages` has a new element if it was not.
        """
        now = self._clock()
        if all(from_the_target(exchange.status) for exchange in evidence.exchanges):
            now -= 2 * (self._heartbeat_s + self._answer_took_s)
        await self._answers_since(now)

    async def _answers_since(self, moment: float) -> None:
        """Ask the target, unless it has answered what was sent after this moment."""
        if self._breaker.answered_at >= moment:
            return
        async with self._asking:
            if self._breaker.answered_at < moment and not await self._answers():
                self._there.clear()
                try:
                    await self._outlast()
                finally:
                    self._there.set()

    async def _answers(self) -> bool:
        for operation_id in LISTS:
            exchange = await self._api.call(operation_id, role="watch", project=self._project)
            if from_the_target(exchange.status):
                self._answer_took_s = exchange.duration_s
                self._breaker.suspected.clear()
                return True
            self._symptom = _symptom(exchange)
            is_silent = exchange.status is None and exchange.duration_s > BUSY_S
            is_busy = is_silent and self._breaker.took_s > BUSY_S
            self._patience_s = BUSY_PATIENCE_S if is_busy else PATIENCE_S
        return False

    async def _outlast(self) -> None:
        last_answer = max(self._breaker.answered_at, self._began)
        outage = Outage(from_s=last_answer - self._began, symptom=self._symptom)
        self.outages.append(outage)
        began = self._clock()
        while self._clock() < began + self._patience_s:
            await self._sleep(PAUSE_S)
            if await self._answers():
                outage.until_s = self._clock() - self._began
                return
        self._give_up(outage.words)


def _symptom(exchange: Exchange) -> str:
    return exchange.problem or f"every request is answered {exchange.status}"
