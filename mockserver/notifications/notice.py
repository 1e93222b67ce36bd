"""What is told, and to whom."""

from dataclasses import dataclass
from enum import StrEnum

from hookproof.mockserver.delivery.store_port import AttemptOutcome


class NoticeKind(StrEnum):
    """What a notification is about (section 6, item 4)."""

    EXHAUSTED = "exhausted"
    STATE_CHANGE = "state_change"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """An endpoint as a message names it, with the addresses of those who care for it (section 2.3),
    as they were given.

    `name` is None for an endpoint without one. The chat URL lets whoever knows it post, so it is a
    secret.
    """

    uid: str
    project: str
    name: str | None
    slack_webhook_url: str | None
    support_email: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One thing to tell: at `at`, in unix seconds, a delivery was given up, and maybe its endpoint
    disabled with it.

    `outcome` is how the last of the attempts ended. `held_back` counts the notices of this kind
    that the rate limit kept back since `held_since`, this one not among them.
    """

    kind: NoticeKind
    at: float
    contact: Contact
    event_uid: str
    event_type: str
    outcome: AttemptOutcome
    held_back: int = 0
    held_since: float = 0.0
