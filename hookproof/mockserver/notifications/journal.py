"""The notification journal, for people and tests; it holds no addresses and no message texts."""

from collections import Counter, deque
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final, NamedTuple

from hookproof.mockserver.notifications.notice import Notice

_KEPT_ENTRIES: Final = 5000


class NotificationState(StrEnum):
    SENT = "sent"
    FAILED = "failed"
    DROPPED = "dropped"


class NotificationEntry(NamedTuple):
    """One notification on one channel.

    `at` is in unix seconds; `held_back` counts the notices held back before it.
    """

    sequence: int
    at: float
    project: str
    endpoint: str
    event: str
    about: str
    channel: str
    state: str
    attempts: int
    held_back: int
    detail: str


NOTIFICATION_FIELDS: Final = NotificationEntry._fields


class NotificationJournal:
    """The latest notifications, and counts of all by channel and state.

    `held_back` counts the notices that the rate limit held back.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._entries: deque[NotificationEntry] = deque(maxlen=_KEPT_ENTRIES)
        self._sequence = 0
        self.counts: Counter[tuple[str, str]] = Counter()
        self.held_back = 0

    def record(
        self, notice: Notice, channel: str, state: NotificationState, *, attempts: int, detail: str
    ) -> None:
        self._sequence += 1
        self.counts[channel, state.value] += 1
        self._entries.append(
            NotificationEntry(
                sequence=self._sequence,
                at=self._now(),
                project=notice.contact.project,
                endpoint=notice.contact.uid,
                event=notice.event_uid,
                about=notice.kind.value,
                channel=channel,
                state=state.value,
                attempts=attempts,
                held_back=notice.held_back,
                detail=detail,
            )
        )

    def entries(self, filters: dict[str, str]) -> list[dict[str, Any]]:
        """Return the latest notifications that match the filters, oldest first."""
        return [
            entry._asdict()
            for entry in self._entries
            if all(str(getattr(entry, name)) == text for name, text in filters.items())
        ]

    def clear(self) -> None:
        """Delete the entries; the counts continue."""
        self._entries.clear()
