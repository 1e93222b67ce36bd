"""Sends an event in one of the ways, one delivery after the other, each signed when it is sent."""

import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass

from hookproof.receiver.sending.attempt import Attempt, Event, NotApplicable, Signer
from hookproof.receiver.sending.exchange import Answer, Consumer
from hookproof.receiver.sending.signing import CannotSign, SignedDelivery
from hookproof.receiver.sending.tables import Way, ways


@dataclass(frozen=True, slots=True, kw_only=True)
class SentDelivery:
    """A delivery of a way, counted from 1, what came back, and whether that is right."""

    way: str
    number: int
    attempt: Attempt
    delivery: SignedDelivery
    answer: Answer

    @property
    def row(self) -> Way:
        return ways()[self.way]

    @property
    def status(self) -> int | None:
        """The status of the answer; None if there was none."""
        return self.answer.status

    @property
    def is_right(self) -> bool:
        if self.attempt.sent == "aborted":
            return not self.answer.unreachable
        return self.status is not None and self.row.is_right(self.status)

    @property
    def sentence(self) -> str:
        of = len(self.row.deliveries)
        which = f", {self.number} of {of}" if of > 1 else ""
        judged = "as it should be"
        if not self.is_right:
            judged = f"should be {self.row.wanted}: {self.row.why}"
        size = len(self.delivery.body)
        return f"{self.way}{which}: sent {size} bytes, {self.answer.words}; {judged}"


def events_of(event: Event, new_id: Callable[[], str]) -> Mapping[int, Event]:
    """The events of all ways: the given one, and another one with the same content."""
    return {1: event, 2: Event(id=new_id(), headers=event.headers, body=event.body)}


def prepared_way(
    signer: Signer, way: str, events: Mapping[int, Event]
) -> list[tuple[Attempt, SignedDelivery]]:
    """The deliveries of a way, signed now; raises CannotSign for a way that is not possible."""
    try:
        return [
            (attempt, signer.prepared(attempt, events[attempt.event], time.time()))
            for attempt in ways()[way].deliveries
        ]
    except (NotApplicable, CannotSign) as reason:
        raise CannotSign(f"{way} cannot be sent: {reason}") from None


async def send_way(
    consumer: Consumer, signer: Signer, way: str, events: Mapping[int, Event]
) -> AsyncIterator[SentDelivery]:
    """Send what `prepared_way` has accepted."""
    for number, attempt in enumerate(ways()[way].deliveries, 1):
        delivery = signer.prepared(attempt, events[attempt.event], time.time())
        answer = await consumer.deliver(delivery, attempt.sent)
        yield SentDelivery(
            way=way, number=number, attempt=attempt, delivery=delivery, answer=answer
        )
