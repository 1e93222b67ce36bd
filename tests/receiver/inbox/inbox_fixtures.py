"""An inbox for each test, and arrivals to put into it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from hookproof.receiver.clock import Instant
from hookproof.receiver.inbox.arrival import Arrival, Sender
from hookproof.receiver.inbox.store import Inbox, InboxLimits, QueryResult
from hookproof.receiver.session import Sessions

NOW = Instant(1735689600.25, 10.5)


def arrival(token: str, body: bytes = b"", method: str = "POST", **headers: str) -> Arrival:
    return Arrival(
        token=token,
        method=method,
        path=f"/{token}",
        headers=tuple((name.encode(), value.encode()) for name, value in headers.items()),
        body=body,
        arrived_at=NOW.wall,
        arrived_monotonic=NOW.monotonic,
        sender=Sender(40000),
    )


@contextmanager
def new_inbox(*, deliveries: int = 10, memory: int = 10**6, disk: int = 0) -> Iterator[Inbox]:
    """An inbox of these limits."""
    limits = InboxLimits(deliveries=deliveries, memory_bytes=memory, disk_bytes=disk)
    inbox = Inbox(limits)
    try:
        yield inbox
    finally:
        inbox.end()


def fill(inbox: Inbox, token: str, *bodies: bytes) -> None:
    for body in bodies:
        inbox.record(arrival(token, body))


async def query_all(inbox: Inbox, token: str, *, after: int = 0, count: int = 0) -> QueryResult:
    return await inbox.wait(token, after=after, count=count, timeout_s=0)


async def wait_for_waiter(inbox: Inbox, token: str) -> None:
    """Return when somebody waits for a future request of the token."""
    async with asyncio.timeout(30):
        # A waiter has no event to wait for; each sleep lets one turn of the loop pass.
        while token not in inbox._waiters._waiting:  # noqa: ASYNC110
            await asyncio.sleep(0)


def make_sessions(limits: InboxLimits) -> Sessions:
    return Sessions(
        limits=limits, max_sessions=2, idle_s=60, clock=lambda: 0.0, new_name=lambda: "name"
    )


def bodies(result: QueryResult) -> list[bytes]:
    return [delivery.body for delivery in result.deliveries]
