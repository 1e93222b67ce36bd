"""What the page gets of the sessions: changes, verdicts, explanations, and kept deliveries."""

import asyncio
import hmac
from collections.abc import Awaitable, Callable

from hookproof.receiver.clock import Instant
from hookproof.receiver.dashboard.change_feed import ChangeFeed, ChangeKind
from hookproof.receiver.dashboard.delivery_rows import SessionDeliveries, SignatureVerdict
from hookproof.receiver.inbox.arrival import Arrival, Sender
from hookproof.receiver.inbox.store import InboxLimits, Observers
from hookproof.receiver.session import Sessions
from hookproof.receiver.signatures.token_secrets import TokenSecrets

NOW = Instant(1735689600.25, 10.5)
SECRET = "a-secret-of-orders"
BODY = b'{"a": 1, "b": 2}'


def arrival(
    token: str = "orders",  # noqa: S107
    body: bytes = BODY,
    *,
    signed: bytes = BODY,
    secret: str = SECRET,
) -> Arrival:
    signature = hmac.new(secret.encode(), signed, "sha256").hexdigest()
    return Arrival(
        token=token,
        method="POST",
        path=f"/{token}",
        headers=((b"X-Webhook-Signature", signature.encode()),),
        body=body,
        arrived_at=NOW.wall,
        arrived_monotonic=NOW.monotonic,
        sender=Sender(40000),
    )


def with_sessions(
    work: Callable[[Sessions, ChangeFeed, SessionDeliveries], Awaitable[None]], *, memory: int = 100
) -> None:
    """Run some work with sessions that keep this many deliveries in memory, and more on disk."""

    async def run() -> None:
        feed = ChangeFeed(most_changes=1000, new_epoch=lambda: "e")
        observers = Observers(observers=(feed,))
        limits = InboxLimits(deliveries=memory, memory_bytes=10**7, disk_bytes=10**7)
        sessions = Sessions(
            limits=limits,
            max_sessions=2,
            idle_s=60,
            clock=lambda: 0.0,
            new_name=lambda: "name",
            observers=observers,
        )
        try:
            await work(sessions, feed, SessionDeliveries(sessions))
        finally:
            sessions.end_all()

    asyncio.run(run())


def changes(feed: ChangeFeed) -> list[tuple[ChangeKind, str, int]]:
    return [
        (change.kind, change.token, change.sequence)
        for change in feed.read(feed.beginning(), most=1000).changes
    ]


def test_every_change_is_noted_in_order() -> None:
    async def work(sessions: Sessions, feed: ChangeFeed, deliveries: SessionDeliveries) -> None:
        inbox = sessions.default.inbox
        first, second = arrival(), arrival()
        inbox.record(first)
        inbox.complete(first, status=200, at=11.0)
        inbox.record(second)
        inbox.close(second, at=11.0)
        inbox.drop("orders", NOW)
        sessions.default.secrets.put("orders", TokenSecrets(secrets=(SECRET,)))
        sessions.reset(sessions.default)
        assert changes(feed) == [
            (ChangeKind.ARRIVED, "orders", 1),
            (ChangeKind.UPDATED, "orders", 1),
            (ChangeKind.ARRIVED, "orders", 2),
            (ChangeKind.UPDATED, "orders", 2),
            (ChangeKind.ARRIVED, "orders", 3),
            (ChangeKind.VERDICTS_CHANGED, "orders", 0),
            (ChangeKind.FORGOTTEN, "orders", 0),
        ]

    with_sessions(work)


def test_a_delivery_is_found_in_memory_on_disk_and_in_its_own_session_alone() -> None:
    async def work(sessions: Sessions, feed: ChangeFeed, deliveries: SessionDeliveries) -> None:
        other = sessions.open()
        sessions.issue(other, "theirs")
        for number in range(200):
            sessions.session_for("orders").inbox.record(arrival(body=b"%d" % number))
        sessions.session_for("theirs").inbox.record(arrival("theirs", b"x"))
        sessions.default.inbox.drop("orders", NOW)
        for sequence in (1, 2, 100, 199, 200):
            delivery = deliveries.find("orders", sequence)
            assert delivery is not None
            assert (delivery.sequence, delivery.body) == (sequence, b"%d" % (sequence - 1))
        theirs = deliveries.find("theirs", 1)
        assert theirs is not None
        assert theirs.body == b"x"
        for token, sequence in [("orders", 201), ("orders", 202), ("theirs", 2), ("none", 1)]:
            assert deliveries.find(token, sequence) is None

    with_sessions(work, memory=10)


def test_a_delivery_is_judged_and_explained_by_the_secrets_of_its_token() -> None:
    async def work(sessions: Sessions, feed: ChangeFeed, deliveries: SessionDeliveries) -> None:
        compact = arrival(signed=b'{"a":1,"b":2}')
        others = arrival(secret="a-secret-of-invoices")
        for signed in (arrival(), compact, others):
            sessions.default.inbox.record(signed)
        right, wrong, mixed_up = (signed.delivery() for signed in (arrival(), compact, others))
        assert deliveries.status(right).verdict is SignatureVerdict.UNCHECKED
        assert deliveries.explain(right) is None
        sessions.default.secrets.put("orders", TokenSecrets(secrets=(SECRET,)))
        sessions.default.secrets.put("invoices", TokenSecrets(secrets=("a-secret-of-invoices",)))
        assert deliveries.status(right).verdict is SignatureVerdict.VERIFIED
        assert deliveries.status(wrong).verdict is SignatureVerdict.UNVERIFIED
        assert deliveries.status(wrong).reason == "no signature matches"
        assert (
            deliveries.explain(wrong) == "signed the compact form of the body, sent it with spaces"
        )
        assert deliveries.explain(mixed_up) == "signed with a secret of the token invoices"

    with_sessions(work)
