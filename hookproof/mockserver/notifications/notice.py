"""The subject of a notification, and its recipients."""

from dataclasses import dataclass
from enum import StrEnum

from hookproof.mockserver.delivery.store_port import AttemptOutcome


class NoticeKind(StrEnum):
    """What a notification is about (section 6, item 4)."""

    EXHAUSTED = "exhausted"
    STATE_CHANGE = "state_change"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """An endpoint as a message names it, and its contacts' addresses (section 2.3).

    Anyone who knows the chat URL can post, so it is a secret.
    """

    uid: str
    project: str
    name: str | None
    slack_webhook_url: str | None
    support_email: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """At `at`, in unix seconds, a delivery was given up, and its endpoint possibly disabled.

    `outcome` is that of the last attempt. `held_back` counts the notices of this kind that the rate
    limit held back since `held_since`, not counting this one.
    """

    kind: NoticeKind
    at: float
    contact: Contact
    event_uid: str
    event_type: str
    outcome: AttemptOutcome
    held_back: int = 0
    held_since: float = 0.0
