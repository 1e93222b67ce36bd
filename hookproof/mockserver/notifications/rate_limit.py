"""The rate limit of notifications: one notice of each kind in a window, the rest with the next.

Sans-IO: the caller passes times in monotonic seconds.
"""

from collections import OrderedDict
from dataclasses import dataclass, replace

from hookproof.mockserver.notifications.notice import Notice, NoticeKind

Key = tuple[str, NoticeKind]


@dataclass(slots=True, kw_only=True)
class NotificationWindow:
    """The time after a notice in which no other of its kind is sent, and what it holds back."""

    ends: float
    held_back: int = 0
    first_at: float = 0.0
    latest: Notice | None = None

    def hold(self, notice: Notice) -> None:
        """Hold back a notice; only the latest one is kept, the others are counted."""
        if self.latest is None:
            self.first_at = notice.at
        self.held_back += 1
        self.latest = notice


class NotificationRateLimit:
    """Admits one notice of each kind for each endpoint and window.

    At most `max_windows` windows are open; beyond them nothing is admitted or held back.
    """

    def __init__(self, window_s: float, max_windows: int) -> None:
        self._window_s = window_s
        self._max_windows = max_windows
        # All windows are equally long, so that the first one is the next to end.
        self._windows: OrderedDict[Key, NotificationWindow] = OrderedDict()

    @property
    def next_end(self) -> float | None:
        """The time at which the next window ends, if any is open."""
        return next((window.ends for window in self._windows.values()), None)

    def admit(self, notice: Notice, now: float) -> bool:
        """Open a window and return True if a notice may be sent now; otherwise hold it back."""
        window = self._windows.get(window_key(notice))
        if window is not None:
            window.hold(notice)
            return False
        if len(self._windows) >= self._max_windows:
            return False
        self._windows[window_key(notice)] = NotificationWindow(ends=now + self._window_s)
        return True

    def close_ended(self, now: float) -> list[Notice]:
        """Close the windows that have ended; return what to send now, each in a new window."""
        due = []
        while (end := self.next_end) is not None and end <= now:
            key, window = self._windows.popitem(last=False)
            if window.latest is not None:
                self._windows[key] = NotificationWindow(ends=now + self._window_s)
                due.append(
                    replace(
                        window.latest, held_back=window.held_back - 1, held_since=window.first_at
                    )
                )
        return due

    def clear(self) -> int:
        """Close all windows; return how many notices were held back and will never be sent."""
        held_back = sum(window.held_back for window in self._windows.values())
        self._windows.clear()
        return held_back


def window_key(notice: Notice) -> Key:
    return notice.contact.uid, notice.kind
