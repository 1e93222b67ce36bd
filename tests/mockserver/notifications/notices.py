"""Notices for tests."""

from typing import Any

from hookproof.mockserver.delivery.store_port import AttemptOutcome, Failure
from hookproof.mockserver.notifications.notice import Contact, Notice, NoticeKind

# 2027-01-15 08:00:00 UTC
AT = 1_800_000_000.0


def outcome(
    status: int | None = 500, failure: Failure | None = None, number: int = 5
) -> AttemptOutcome:
    return AttemptOutcome(
        number=number,
        started_at=AT - 1,
        finished_at=AT,
        status=status,
        failure=failure,
        detail="https://a.invalid/s3cret",
    )


def notice(
    uid: str = "E1", kind: NoticeKind = NoticeKind.EXHAUSTED, at: float = AT, **changes: Any
) -> Notice:
    contact = Contact(
        uid=uid,
        project="p1",
        name=changes.pop("name", "orders"),
        slack_webhook_url="https://chat.invalid/s3cret",
        support_email="dev@receiver.invalid",
    )
    members: dict[str, Any] = {
        "event_uid": "V1",
        "event_type": "order.paid",
        "outcome": outcome(),
        **changes,
    }
    return Notice(kind=kind, at=at, contact=contact, **members)
