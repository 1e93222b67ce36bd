"""Sends a consumer what the requirements say, each between right deliveries, and judges it.

What fails is tried again, and fails only if it does so both times: anything else may have been a
disturbance.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hookproof.receiver.consumer.effect import Effect, EffectUnknown
from hookproof.receiver.consumer.finding import Finding, Requirement, Verdict
from hookproof.receiver.consumer.judgement import NOT_NOW, Trial, is_taken, judge
from hookproof.receiver.sending.attempt import (
    Attempt,
    Event,
    NotApplicable,
    NotGiven,
    Signer,
)
from hookproof.receiver.sending.exchange import Answer, Consumer
from hookproof.receiver.sending.signing import CannotSign

RIGHT: Final = Attempt()
TAKES_RIGHT: Final = "takes-right"
# How often a delivery is sent that a consumer does not take for now, and for how long it is left
# alone before the next, in seconds, unless it says.
TRIES: Final = 3
PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 10.0
# The least pause between two looks at the number that tells the effect, and the pause in terms of
# the time that a look takes: a command may be a heavy one.
LOOK_S: Final = 0.02
LOOKS: Final = 3
# A number that is not quiet after so many times the time to wait for an effect never is.
NEVER_QUIET: Final = 4
NO_EFFECT: Final = "no number tells what came of it: give --effect or --effect-command"


class Unreachable(Exception):
    """No connection to the consumer can be made; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectMeter:
    """Reads how many effects there were; one event changes the number by `unit`.

    The number counts once it was the same for `quiet_s`, and an effect is waited for `within_s`;
    it is read every `look_s`.
    """

    read: Effect
    within_s: float
    quiet_s: float
    look_s: float
    unit: int = 1

    async def changed(self, start: int) -> None:
        """Wait until the number is another one than this, or the time for that is over."""
        ends_at = time.monotonic() + self.within_s
        while await self._next() == start and time.monotonic() < ends_at:
            pass

    async def settled(self, start: int = 0, expected: float | None = None) -> int:
        """The number, when it is quiet and there were as many effects since `start` as are
        expected, or the time for them is over. Raises EffectUnknown.
        """
        began = changed_at = time.monotonic()
        value = await self.read()
        while True:
            latest = await self._next()
            now = time.monotonic()
            if latest != value:
                value, changed_at = latest, now
            reached = expected is None or (value - start) / self.unit >= expected
            if now - changed_at >= self.quiet_s and (reached or now - began >= self.within_s):
                return value
            if now - began >= NEVER_QUIET * (self.within_s + self.quiet_s):
                raise EffectUnknown("the number changes all the time")

    async def _next(self) -> int:
        await asyncio.sleep(self.look_s)
        return await self.read()


@dataclass(slots=True, kw_only=True)
class Examination:
    """Examines one consumer. `own_event`: the user says that the consumer takes this event."""

    consumer: Consumer
    signer: Signer
    new_event: Callable[[], Event]
    own_event: bool
    effect: Effect | None
    within_s: float = 5.0
    quiet_s: float = 0.2
    pause_s: float = PAUSE_S
    _meter: EffectMeter | None = None
    _no_effect: str = NO_EFFECT
    _lost: str = ""

    async def findings(self, chosen: Mapping[str, Requirement]) -> AsyncIterator[Finding]:
        """One finding for each requirement; raises Unreachable, and EffectUnknown at the start."""
        first = await self._right()
        if first.unreachable:
            raise Unreachable(first.problem)
        if not is_taken(first):
            self._lost = f"no right delivery is taken: {first.words}"
        elif self.effect is not None:
            await self._calibrate(self.effect)
        for name, requirement in chosen.items():
            if self._lost and name == TAKES_RIGHT and not is_taken(first):
                verdict, proof = self._not_taken(first)
            else:
                verdict, proof = await self._examined(requirement)
            yield Finding(id=name, requirement=requirement, verdict=verdict, proof=proof)

    def _not_taken(self, first: Answer) -> tuple[Verdict, str]:
        if self.own_event and first.status not in NOT_NOW:
            return Verdict.FAIL, f"{first.words}; 2xx is right"
        return Verdict.NOT_EXERCISED, (
            f"{first.words}; does it have this secret? If it takes only events that it knows, give "
            "one with --body"
        )

    async def _examined(self, requirement: Requirement) -> tuple[Verdict, str]:
        event = self.new_event()
        try:
            for attempt in requirement.deliveries:
                self.signer.prepared(attempt, event, time.time())
        except NotGiven as missing:
            return Verdict.NOT_EXERCISED, str(missing)
        except (NotApplicable, CannotSign) as reason:
            return Verdict.NOT_APPLICABLE, str(reason)
        if requirement.needs_effect and self._meter is None:
            return Verdict.NOT_EXERCISED, self._no_effect
        if self._lost:
            return Verdict.NOT_EXERCISED, self._lost
        verdict, proof = judge(requirement, await self._trial(requirement))
        if verdict is Verdict.FAIL and not self._lost:
            again, proof_again = judge(requirement, await self._trial(requirement))
            if again is not Verdict.FAIL:
                proof = f"{proof_again} (and before that: {proof})"
            verdict = again
        return verdict, proof

    async def _trial(self, requirement: Requirement) -> Trial:
        """The deliveries of a requirement, a right one after them, and their effects."""
        events = {attempt.event: self.new_event() for attempt in requirement.deliveries}
        meter = self._meter
        try:
            start = await meter.read() if meter else 0
        except EffectUnknown:
            meter = None
        sending = [
            self._deliver(attempt, events[attempt.event]) for attempt in requirement.deliveries
        ]
        answers = (
            await asyncio.gather(*sending)
            if requirement.together
            else [await each for each in sending]
        )
        sent = list(zip(requirement.deliveries, answers, strict=True))
        control, taken = await self._control()
        effects = None
        if meter is not None:
            try:
                end = await meter.settled(start, _expected(requirement, sent) + taken)
                effects = (end - start) / meter.unit - taken
            except EffectUnknown:
                effects = None
        return Trial(sent, control, effects)

    async def _control(self) -> tuple[Answer, int]:
        """The answer to a right delivery, and how many were taken: it is tried again if it was not,
        to see whether the consumer has only been away for a moment.
        """
        first = await self._right()
        if is_taken(first):
            return first, 1
        for _ in range(TRIES):
            await asyncio.sleep(self.pause_s)
            if is_taken(await self._right()):
                return first, 1
        self._lost = f"no right delivery is taken any more: {first.words}"
        return first, 0

    async def _calibrate(self, effect: Effect) -> None:
        """Learn by two right deliveries how the number changes, and how soon."""
        began = time.monotonic()
        await effect()
        look_s = max(LOOK_S, LOOKS * (time.monotonic() - began))
        meter = EffectMeter(
            read=effect,
            within_s=self.within_s,
            quiet_s=max(self.quiet_s, 2 * look_s),
            look_s=look_s,
        )
        units = []
        for _ in range(2):
            start = await meter.settled()
            began = time.monotonic()
            if not is_taken(await self._right()):
                self._no_effect = "a right delivery was not taken when its effect was looked for"
                return
            await meter.changed(start)
            delay_s = time.monotonic() - began
            meter = replace(meter, quiet_s=max(meter.quiet_s, min(3 * delay_s, self.within_s)))
            units.append(await meter.settled() - start)
            if units == [0]:
                self._no_effect = (
                    "a right delivery does not change the number that tells the effect"
                )
                return
        if units[0] != units[1]:
            changes = " and then ".join(map(str, units))
            self._no_effect = f"two right deliveries changed the number by {changes}"
        else:
            self._meter = replace(meter, unit=units[0])

    async def _right(self) -> Answer:
        return await self._deliver(RIGHT, self.new_event())

    async def _deliver(self, attempt: Attempt, event: Event) -> Answer:
        """The answer to a delivery; one that is not taken for now is sent again, signed anew."""
        for tried in range(1, TRIES + 1):
            delivery = self.signer.prepared(attempt, event, time.time())
            answer = await self.consumer.deliver(delivery, attempt.sent)
            if answer.status not in NOT_NOW or tried == TRIES:
                break
            await asyncio.sleep(min(answer.retry_after_s or self.pause_s, LONGEST_PAUSE_S))
        return answer


def _expected(requirement: Requirement, sent: Sequence[tuple[Attempt, Answer]]) -> int:
    """How many effects to wait for."""
    if requirement.is_refusal or requirement.effect == "any":
        return 0
    return len({attempt.event for attempt, answer in sent if is_taken(answer)})
