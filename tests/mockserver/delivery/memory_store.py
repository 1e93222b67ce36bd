"""A delivery store in memory that keeps everything the engine wrote."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from hookproof.mockserver.delivery.store_port import (
    AttemptOutcome,
    DeliveryState,
    EndpointSettings,
    PendingDelivery,
    Record,
    SigningSecret,
    Start,
)

SECRET = "whsec_c2VjcmV0IG9mIHRoZSBlbmRwb2ludCBpbiBhIHRlc3Q="


def settings(uid: str, url: str, **changes: object) -> EndpointSettings:
    """Return the settings of an active endpoint, with the given members changed."""
    members: dict[str, object] = {
        "uid": uid,
        "url": url,
        "content_type": "application/json",
        "advanced_signatures": False,
        "http_timeout_s": 60.0,
        "rate_limit": None,
        "rate_window_s": 1.0,
        "secrets": (SigningSecret(value=SECRET, expires_at=None),),
        "authentication": None,
        "client_certificate": None,
        "receives": True,
        **changes,
    }
    return EndpointSettings(**members)  # type: ignore[arg-type]


class MemoryStore:
    """Implements DeliveryStore; `accept` stores a delivery and calls `on_accept`."""

    def __init__(self) -> None:
        self.endpoints: dict[str, EndpointSettings] = {}
        self.waiting: dict[str, dict[int, PendingDelivery]] = {}
        self.outcomes: dict[int, list[AttemptOutcome]] = {}
        self.states: dict[int, DeliveryState] = {}
        self.starts: dict[str, list[float]] = {}
        self.exhausted: dict[str, int] = {}
        self.deactivated: list[str] = []
        self.on_accept: Callable[[Iterable[str]], None] = lambda _: None
        self._serial = 0
        self._changed = asyncio.Event()

    def accept(
        self,
        endpoint_uid: str,
        body: bytes = b'{"n": 1}',
        *,
        event_type: str = "a.b",
        custom_headers: Mapping[str, str] | None = None,
        due_at: float = 0.0,
        event_uid: str | None = None,
    ) -> int:
        """Store one delivery and return its id."""
        self._serial += 1
        self.waiting.setdefault(endpoint_uid, {})[self._serial] = PendingDelivery(
            id=self._serial,
            event_uid=event_uid or f"event-{self._serial}",
            event_type=event_type,
            endpoint_uid=endpoint_uid,
            body=body,
            custom_headers=custom_headers or {},
            attempts=0,
            due_at=due_at,
        )
        self.states[self._serial] = DeliveryState.PENDING
        self.on_accept([endpoint_uid])
        return self._serial

    async def until_final(self, *ids: int, timeout_s: float = 60.0) -> None:
        """Wait until these deliveries, or all without ids, are no longer pending."""
        await self.until(
            lambda: all(self.states[i] is not DeliveryState.PENDING for i in ids or self.states),
            timeout_s,
        )

    async def until(self, condition: Callable[[], bool], timeout_s: float = 60.0) -> None:
        """Wait until a condition on the recorded outcomes holds."""
        async with asyncio.timeout(timeout_s):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    def waiting_endpoints(self) -> Sequence[str]:
        return [uid for uid, deliveries in self.waiting.items() if deliveries]

    def pending(self, endpoint_uid: str, limit: int) -> Sequence[PendingDelivery]:
        deliveries = sorted(
            self.waiting.get(endpoint_uid, {}).values(),
            key=lambda delivery: (delivery.due_at, delivery.id),
        )
        return deliveries[:limit]

    def endpoint(self, uid: str) -> EndpointSettings | None:
        return self.endpoints.get(uid)

    def holds_starts(self) -> bool:
        return any(self.starts.values())

    def recent_starts(self, endpoint_uid: str, since: float) -> Sequence[float]:
        return [start for start in self.starts.get(endpoint_uid, ()) if start >= since]

    def record_starts(self, starts: Sequence[Start]) -> None:
        for start in starts:
            self.starts.setdefault(start.delivery.endpoint_uid, []).append(start.at)

    def record(self, records: Sequence[Record]) -> None:
        for record in records:
            self._record(record)
        self._changed.set()

    def _record(self, record: Record) -> None:
        delivery, outcome, state, due_at = record
        assert (due_at is not None) == (state is DeliveryState.PENDING)
        self.outcomes.setdefault(delivery.id, []).append(outcome)
        self.states[delivery.id] = state
        uid = delivery.endpoint_uid
        if due_at is None:
            del self.waiting[uid][delivery.id]
        else:
            attempts = delivery.attempts + (outcome.number is not None)
            self.waiting[uid][delivery.id] = replace(delivery, attempts=attempts, due_at=due_at)
        if state is DeliveryState.EXHAUSTED:
            self.exhausted[uid] = self.exhausted.get(uid, 0) + 1
        elif state is DeliveryState.DELIVERED:
            self.exhausted[uid] = 0

    def exhausted_in_a_row(self, endpoint_uid: str) -> int:
        return self.exhausted.get(endpoint_uid, 0)

    def deactivate(self, endpoint_uid: str) -> bool:
        if not self.endpoints[endpoint_uid].receives:
            return False
        self.deactivated.append(endpoint_uid)
        self.endpoints[endpoint_uid] = replace(self.endpoints[endpoint_uid], receives=False)
        return True
