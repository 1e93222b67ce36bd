"""What became of notifications, for people and tests to look at; it keeps no address and no text of
a message.
"""

from collections import Counter, deque
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final, NamedTuple

from hookproof.mockserver.notifications.notice import Notice

_KEPT_ENTRIES: Final = 5000


class NotificationState(StrEnum):
    """How a notification ended."""

    SENT = "sent"
    FAILED = "failed"
    DROPPED = "dropped"


class NotificationEntry(NamedTuple):
    """One notification over one channel; `at` is in unix seconds, `held_back` counts what was kept
    back before it.
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
    """The latest notifications, and counts of all by channel and state; `held_back` counts what the
    rate limit kept.
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
        """Write down how a notification ended."""
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

    def entries(self, wanted: dict[str, str]) -> list[dict[str, Any]]:
        """The kept notifications whose fields have the wanted texts, oldest first."""
        return [
            entry._asdict()
            for entry in self._entries
            if all(str(getattr(entry, name)) == text for name, text in wanted.items())
        ]

    def clear(self) -> None:
        """Forget the entries; counts go on."""
        self._entries.clear()
