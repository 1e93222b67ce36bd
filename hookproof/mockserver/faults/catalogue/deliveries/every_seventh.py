"""Faults of every seventh delivery attempt (sections 1, 4.8 and 6).

A service shows such faults under load. They are regular, so that a load run must count them
exactly. Counted are the first attempts at each endpoint without a rate limit and credentials: only
who sends an endpoint many events sees any. What is altered is counted over all endpoints.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any, Final

import msgspec

from hookproof.mockserver.delivery.attempt.headers import Headers
from hookproof.mockserver.delivery.attempt.sender import AttemptResult, AttemptSender
from hookproof.mockserver.delivery.store_port import EndpointSettings, PendingDelivery
from hookproof.mockserver.faults.registry import fault, variant
from hookproof.mockserver.store.endpoints import EndpointRow
from hookproof.mockserver.store.events import EventTable, NewEvent

FLOOD: Final = ("flood",)
EVERY: Final = 7
LATE_S: Final = 5.0


class EverySeventh(AttemptSender):
    """Passes every seventh attempt to `send_wrongly`."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._first_attempts: Counter[str] = Counter()

    def is_seventh(self, delivery: PendingDelivery, endpoint: EndpointSettings) -> bool:
        """Whether this attempt goes wrong; counts it."""
        if delivery.attempts or endpoint.rate_limit is not None or endpoint.authentication:
            return False
        self._first_attempts[endpoint.uid] += 1
        return not self._first_attempts[endpoint.uid] % EVERY

    async def send(
        self,
        delivery: PendingDelivery,
        endpoint: EndpointSettings,
        on_sent: Callable[[], None] = lambda: None,
    ) -> AttemptResult:
        if self.is_seventh(delivery, endpoint):
            return await self.send_wrongly(delivery, endpoint, on_sent)
        return await super().send(delivery, endpoint, on_sent)

    async def send_wrongly(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, on_sent: Callable[[], None]
    ) -> AttemptResult:
        return await super().send(delivery, endpoint, on_sent)


@fault("delivered", seen="taken from the queue before the worker died", shows_in=FLOOD)
class EverySeventhLost(EverySeventh):
    """Every seventh attempt counts as delivered and is never sent."""

    async def send_wrongly(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, on_sent: Callable[[], None]
    ) -> AttemptResult:
        return AttemptResult(status=HTTPStatus.OK)


@fault("delivered_once", seen="an acknowledgement that came too late for the queue", shows_in=FLOOD)
class EverySeventhDoubled(EverySeventh):
    """Every seventh attempt is sent twice."""

    async def send_wrongly(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, on_sent: Callable[[], None]
    ) -> AttemptResult:
        await super().send_wrongly(delivery, endpoint, on_sent)
        return await super().send_wrongly(delivery, endpoint, on_sent)


@fault("body_is_data", seen="a buffer that two workers share", shows_in=["broadcast"])
class EverySeventhAltered(EverySeventh):
    """Every seventh delivery has a further member in its JSON body, and is signed with it."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._altered: set[int] = set()

    def is_seventh(self, delivery: PendingDelivery, endpoint: EndpointSettings) -> bool:
        """Whether this delivery is altered, in all its attempts."""
        if not delivery.attempts:
            self._first_attempts[""] += 1
            if not self._first_attempts[""] % EVERY:
                self._altered.add(delivery.id)
        return delivery.id in self._altered

    async def send_wrongly(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, on_sent: Callable[[], None]
    ) -> AttemptResult:
        if not endpoint.content_type.endswith("json"):
            return await super().send_wrongly(delivery, endpoint, on_sent)
        data = {**msgspec.json.decode(delivery.body), "seventh": True}
        return await super().send_wrongly(
            msgspec.structs.replace(delivery, body=msgspec.json.encode(data)), endpoint, on_sent
        )


@fault("signed_simple", seen="one worker that was started without its secrets", shows_in=FLOOD)
class EverySeventhUnsigned(EverySeventh):
    """Every seventh attempt with the simple format lacks its signature."""

    async def send(self, *delivery: Any) -> AttemptResult:
        return await AttemptSender.send(self, *delivery)

    def _own_headers(
        self, delivery: PendingDelivery, endpoint: EndpointSettings, body: bytes
    ) -> Headers:
        headers = super()._own_headers(delivery, endpoint, body)
        if endpoint.advanced_signatures or not self.is_seventh(delivery, endpoint):
            return headers
        signature = self._dialect.signatures.scheme(advanced=endpoint.advanced_signatures).header
        return tuple((name, value) for name, value in headers if name != signature)


@variant()
class EverySeventhLate(EventTable):
    """The deliveries of every seventh event are due five seconds after it was accepted."""

    count = 0

    def add(self, event: NewEvent, *, reached: Sequence[EndpointRow], now: float) -> None:
        type(self).count += 1
        super().add(event, reached=reached, now=now if self.count % EVERY else now + LATE_S)
