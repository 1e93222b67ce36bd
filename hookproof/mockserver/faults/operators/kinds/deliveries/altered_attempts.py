"""An attempt sender in which some attempts are altered."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from hookproof.mockserver.delivery.attempt.headers import Headers
from hookproof.mockserver.delivery.attempt.sender import AttemptResult, AttemptSender
from hookproof.mockserver.delivery.store_port import EndpointSettings, PendingDelivery
from hookproof.mockserver.faults.operators.delivery_places import Affects

# Alters a delivery; the second one is that of the event before at the same endpoint.
ChangeDelivery = Callable[[PendingDelivery, PendingDelivery], PendingDelivery]
# Alters the headers of an attempt; the second ones are those of the attempt before.
ChangeHeaders = Callable[[EndpointSettings, Headers, Headers], Headers]
# Alters the time that an attempt signs; the second one is that of the attempt before.
ChangeTime = Callable[[float, float], float]
# Alters the settings of an endpoint; the others are endpoints of its project by their uids.
ChangeSettings = Callable[[EndpointSettings, Mapping[str, EndpointSettings]], EndpointSettings]


def _as_it_is(own: Any, *_others: Any) -> Any:
    return own


def _with_own_headers(_endpoint: EndpointSettings, own: Headers, _earlier: Headers) -> Headers:
    return own


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What of an attempt is altered, in the order in which it is made."""

    delivery: ChangeDelivery = _as_it_is
    settings: ChangeSettings = _as_it_is
    body: Callable[[bytes], bytes] = _as_it_is
    time: ChangeTime = _as_it_is
    headers: ChangeHeaders = _with_own_headers


@dataclass(slots=True, kw_only=True)
class _SentTo:
    """What the attempts at one endpoint would have sent, had they not been altered."""

    latest: PendingDelivery
    before: PendingDelivery
    headers: Headers = ()
    time: float = 0.0


@dataclass(slots=True)
class _Memory:
    """What earlier attempts would have sent: at each endpoint, and of each delivery."""

    endpoints: dict[str, _SentTo] = field(default_factory=dict)
    deliveries: dict[int, tuple[Headers, float]] = field(default_factory=dict)
    settings: dict[str, dict[str, EndpointSettings]] = field(default_factory=dict)

    def begin(
        self, delivery: PendingDelivery, endpoint: EndpointSettings
    ) -> tuple[PendingDelivery, Mapping[str, EndpointSettings]]:
        """Return the delivery of the event before, and the endpoints seen in the project."""
        fresh = _SentTo(latest=delivery, before=delivery)
        sent = self.endpoints.setdefault(delivery.endpoint_uid, fresh)
        if sent.latest.event_uid != delivery.event_uid:
            sent.before, sent.latest = sent.latest, delivery
        seen = self.settings.setdefault(endpoint.project, {})
        seen[endpoint.uid] = endpoint
        return sent.before, seen

    def swap(
        self, delivery: PendingDelivery, headers: Headers, now: float
    ) -> tuple[Headers, float]:
        """Remember an attempt; return the headers and the time of the one before.

        That is the attempt before of the same delivery, or else the latest at its endpoint, or else
        this one.
        """
        sent = self.endpoints[delivery.endpoint_uid]
        latest = (sent.headers, sent.time) if sent.headers else (headers, now)
        earlier = self.deliveries.get(delivery.id, latest)
        self.deliveries[delivery.id] = sent.headers, sent.time = headers, now
        return earlier


def altered_attempts(affects: Affects, changes: Changes) -> type:
    """The attempt sender that changes the attempts that are affected."""
    memory = _Memory()

    class AlteredAttempts(AttemptSender):
        async def send(
            self, delivery: PendingDelivery, endpoint: EndpointSettings, *further: Any
        ) -> AttemptResult:
            before, seen = memory.begin(delivery, endpoint)
            if affects(delivery, endpoint):
                delivery = changes.delivery(delivery, before)
                endpoint = changes.settings(endpoint, seen)
            return await super().send(delivery, endpoint, *further)

        def _body(self, delivery: PendingDelivery, endpoint: EndpointSettings) -> bytes:
            body = super()._body(delivery, endpoint)
            return changes.body(body) if affects(delivery, endpoint) else body

        def _headers(
            self, delivery: PendingDelivery, endpoint: EndpointSettings, *further: Any
        ) -> Headers:
            now = self._clock()
            with self._taking_for_now(now):  # what is remembered is what is signed
                headers = super()._headers(delivery, endpoint, *further)
            earlier, time = memory.swap(delivery, headers, now)
            if not affects(delivery, endpoint):
                return headers
            if (other := changes.time(now, time)) != now:
                with self._taking_for_now(other):
                    headers = super()._headers(delivery, endpoint, *further)
            return changes.headers(endpoint, headers, earlier)

        @contextmanager
        def _taking_for_now(self, time: float) -> Iterator[None]:
            clock, self._clock = self._clock, lambda: time
            try:
                yield
            finally:
                self._clock = clock

    return AlteredAttempts
